import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import os from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { listenTcp } from "../../servers/core/net/tcp-listener.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { holdPort } from "../support/port-holder.ts";

const hasIpv6 = Object.values(os.networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));
const lanAddress = Object.values(os.networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

async function listen(options: { port?: number; openToLan?: boolean }) {
  const releases: (() => Promise<void>)[] = [];
  const servers: Server[] = [];
  onTestFinished(async () => {
    for (const release of releases) await release();
  });
  const port = await listenTcp({
    port: options.port ?? 0,
    openToLan: options.openToLan ?? false,
    createServer() {
      const server = createServer((socket) => socket.end());
      servers.push(server);
      return server;
    },
    onStop: (release) => void releases.push(release),
  });
  const addresses = () =>
    servers
      .flatMap((server) => [server.address()])
      .map((address) => (address && typeof address === "object" ? address.address : undefined));
  return { port, addresses, releases };
}

async function answers(port: number, host: string): Promise<boolean> {
  const socket = connect({ port, host });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe("TCP listener", () => {
  it("[BL-60] binds both loopback addresses, and nothing else", async () => {
    const { port, addresses } = await listen({});
    expect(addresses()).toEqual(hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1", undefined]);
    expect(await answers(port, "127.0.0.1")).toBe(true);
    if (hasIpv6) expect(await answers(port, "::1")).toBe(true);
    if (lanAddress) expect(await answers(port, lanAddress)).toBe(false);
  });

  it("[BL-60] binds every address when open to the LAN", async () => {
    const { port } = await listen({ openToLan: true });
    expect(await answers(port, "127.0.0.1")).toBe(true);
    if (lanAddress) expect(await answers(port, lanAddress)).toBe(true);
  });

  it("[BL-61] picks a port that is free on both addresses", async () => {
    const { port, addresses } = await listen({ port: 0 });
    expect(port).toBeGreaterThan(0);
    expect(addresses()[0]).toBe("127.0.0.1");
  });

  it("[BL-62] reports a taken port, on either address, and leaves nothing open", async () => {
    const hosts = hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"];
    for (const host of hosts) {
      const { port } = await holdPort(0, host);
      const failure = await listen({ port }).then(String, (error) => toFailure(error));
      expect(failure).toMatchObject({ code: "PORT_IN_USE", port });
      if (host === "::1") expect(await answers(port, "127.0.0.1")).toBe(false);
    }
  });
});
