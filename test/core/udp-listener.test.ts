import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import os from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { listenUdp } from "../../servers/core/net/udp-listener.ts";
import type { UdpPlace } from "../../servers/core/net/udp-place.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { holdPort } from "../support/port-holder.ts";
import { socketsAt } from "../support/udp-sockets.ts";

const hasIpv6 = Object.values(os.networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));
const echo = (datagram: Buffer, from: RemoteInfo, { sender }: UdpPlace) => void sender.send(datagram, from.port, from.address);

async function listen(
  options: {
    port?: number;
    openToLan?: boolean;
    receiveBufferBytes?: number;
    queues?: number;
    onMessage?: (...received: Parameters<typeof echo>) => void;
  } = {},
) {
  const releases: (() => Promise<void>)[] = [];
  const release = async () => {
    for (const one of releases.splice(0)) await one();
  };
  onTestFinished(release);
  const onStop = (one: () => Promise<void>) => void releases.push(one);
  const { port } = await listenUdp({ port: 0, openToLan: false, onMessage: echo, isUsedUp: () => false, ...options, onStop });
  return { port, release };
}

async function answer(port: number, host: string, text: string): Promise<string> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  try {
    socket.send(text, port, host);
    const [datagram, from] = (await once(socket, "message")) as [Buffer, RemoteInfo];
    return `${datagram} from ${from.address}:${from.port}`;
  } finally {
    socket.close();
  }
}

describe("UDP listener", () => {
  it("[BL-155] binds both loopback addresses on one port, and replies from the address that received the datagram", async () => {
    const { port } = await listen();
    expect(await answer(port, "127.0.0.1", "four")).toBe(`four from 127.0.0.1:${port}`);
    if (hasIpv6) expect(await answer(port, "::1", "six")).toBe(`six from ::1:${port}`);
  });

  it("[BL-155] with queues the system spreads clients over several sockets, and the port is still taken for others", async () => {
    const { port, release } = await listen({ queues: 4 });
    const used = new Set<Socket>();
    for (const socket of socketsAt(port, "127.0.0.1")) socket.on("message", () => used.add(socket));
    for (let count = 0; count < 40; count++) expect(await answer(port, "127.0.0.1", "x")).toBe(`x from 127.0.0.1:${port}`);
    if (process.platform === "linux") expect(used.size).toBeGreaterThan(1);
    await expect(listen({ port })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await expect(listen({ port, queues: 4 })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await release();
    expect((await listen({ port, queues: 4 })).port).toBe(port);
  });

  it("[BL-155] releases the port for others", async () => {
    const { port, release } = await listen();
    await release();
    expect((await listen({ port })).port).toBe(port);
  });

  it("[BL-155] fails if the port is taken, on either address", async () => {
    const { port } = await holdPort(0, "127.0.0.1", "udp");
    expect(toFailure(await listen({ port }).catch((error: unknown) => error))).toEqual({
      code: "PORT_IN_USE",
      message: `UDP port ${port} is taken`,
      hint: "Stop the program that holds it, or choose another port.",
      port,
      transport: "udp",
    });
    await expect(listen({ port, openToLan: true })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    const first = await listen();
    await expect(listen({ port: first.port })).rejects.toMatchObject({ code: "PORT_IN_USE" });
  });

  it("[BL-155] if open to the LAN, it can be reached on every address", async () => {
    const { port } = await listen({ openToLan: true });
    const address = Object.values(os.networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === "IPv4")?.address;
    expect(await answer(port, address ?? "127.0.0.1", "hello")).toMatch(/^hello from /);
  });

  it("[BL-155] the system drops what does not fit its bounded buffer, and later datagrams arrive", async () => {
    let received = 0;
    const onMessage = () => {
      received += 1;
    };
    const { port } = await listen({ receiveBufferBytes: 8_192, onMessage });
    const sender = createSocket("udp4");
    onTestFinished(() => new Promise<void>((resolve) => sender.close(() => resolve())));
    sender.connect(port, "127.0.0.1");
    await once(sender, "connect");
    const datagram = Buffer.alloc(1_000);
    const busyUntil = performance.now() + 100;
    for (let sent = 0; sent < 200; sent++) sender.send(datagram);
    while (performance.now() < busyUntil);
    while (received < 201) {
      const before = received;
      sender.send(datagram);
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (received > before) break;
    }
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(200);
  });
});
