import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import os, { type NetworkInterfaceInfo } from "node:os";
import { performance } from "node:perf_hooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { localAddresses } from "../../servers/core/net/local-addresses.ts";
import { type ListenUdpOptions, listenUdp } from "../../servers/core/net/udp-listener.ts";
import type { UdpPlace } from "../../servers/core/net/udp-place.ts";
import { isPortFree, portHolder } from "../../servers/supervisor/port-doctor.ts";
import { holdPort } from "../support/port-holder.ts";
import { lanAddress, socketsAt } from "../support/udp-sockets.ts";
import { until } from "../support/until.ts";

async function listen(options: Partial<ListenUdpOptions> = {}) {
  const releases: (() => Promise<void>)[] = [];
  const release = async () => {
    for (const one of releases.splice(0)) await one();
  };
  onTestFinished(release);
  const listener = await listenUdp({
    ...{ port: 0, openToLan: true, onStop: (one) => void releases.push(one) },
    onMessage: (datagram, from, { sender }) => void sender.send(datagram, from.port, from.address),
    isUsedUp: () => false,
    ...options,
  });
  return { listener, port: listener.port, release };
}

/** Where the answer to a datagram comes from. */
async function answeredFrom(port: number, from: string, to: string): Promise<string> {
  const socket = createSocket(to.includes(":") ? "udp6" : "udp4");
  try {
    socket.bind(0, from);
    await once(socket, "listening");
    socket.send("x", port, to);
    const [, { address }] = (await once(socket, "message")) as [Buffer, RemoteInfo];
    return address;
  } finally {
    socket.close();
  }
}

const infoOf = (address: string, more: Partial<NetworkInterfaceInfo> = {}) =>
  ({ address, family: address.includes(":") ? "IPv6" : "IPv4", internal: address.startsWith("127."), ...more }) as NetworkInterfaceInfo;

/** The interfaces that the system has from now on, and a look at them. */
function interfaces() {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const read = vi.spyOn(os, "networkInterfaces");
  onTestFinished(() => read.mockRestore());
  return {
    are: (...addresses: readonly string[]) => void read.mockReturnValue({ lo: addresses.map((address) => infoOf(address)) }),
    fail: () =>
      void read.mockImplementation(() => {
        throw new Error("EMFILE");
      }),
    /** Looks until it is so: a look while the last one is followed is none. */
    looksUntil: (isSo: () => boolean) =>
      until(() => {
        vi.advanceTimersByTime(2_000);
        return isSo();
      }),
  };
}

const isLinux = process.platform === "linux";

describe("UDP open to the LAN", () => {
  it("[BL-587] answers from the address that was asked, whichever the client sends from", async () => {
    const { port } = await listen({ queues: 8 });
    const own = localAddresses().filter(({ isInternal, host }) => isInternal || !host.includes("%"));
    for (const family of ["IPv4", "IPv6"]) {
      const hosts = own.filter((one) => one.family === family).map(({ host }) => host);
      for (const to of hosts)
        for (const from of hosts) expect(`${from} ${to}: ${await answeredFrom(port, from, to)}`).toBe(`${from} ${to}: ${to}`);
    }
  });

  it("[BL-587] answers at an address of a link alone, by its interface", async () => {
    const { port } = await listen();
    for (const { host } of localAddresses()
      .filter((one) => one.host.includes("%"))
      .slice(0, 1))
      expect(await answeredFrom(port, host, host)).toBe(host);
  });

  it("[BL-587] has the addresses of loopback, then those of networks, then those of a link alone, a bounded number", () => {
    const found = localAddresses({
      en0: [infoOf("fe80::7", { scopeid: 4 } as never), infoOf("192.0.2.7"), infoOf("2001:db8::7", { scopeid: 0 } as never)],
      lo: [infoOf("127.0.0.1"), infoOf("::1", { internal: true, scopeid: 0 } as never)],
      wg0: [infoOf("192.0.2.7"), infoOf("fe80::7", { scopeid: 5 } as never)],
    });
    const zones = process.platform === "win32" ? ["4", "5"] : ["en0", "wg0"];
    const linkLocal = zones.map((zone) => `fe80::7%${zone}`);
    expect(found.map(({ host }) => host)).toEqual(["127.0.0.1", "::1", "192.0.2.7", "2001:db8::7", ...linkLocal]);
    expect(found.map(({ scope }) => scope)).toEqual([0, 0, 0, 0, 4, 5]);
    const many = Array.from(
      { length: 500 },
      (_, index) => [`veth${index}`, [infoOf("fe80::7", { scopeid: index } as never)]] as [string, NetworkInterfaceInfo[]],
    );
    expect(localAddresses(Object.fromEntries(many))).toHaveLength(128);
  });

  it.runIf(isLinux)("[BL-587] an address that comes is answered, one that goes is let go, and the others keep their sockets", async () => {
    const system = interfaces();
    system.are("127.0.0.1");
    const places = new Set<UdpPlace>();
    const { listener, port, release } = await listen({
      queues: 2,
      onMessage(datagram, from, place) {
        places.add(place);
        place.sender.send(datagram, from.port, from.address);
      },
    });
    const first = socketsAt(port);
    expect(first.map((socket) => socket.address().address)).toEqual(["127.0.0.1", "127.0.0.1"]);
    system.are("127.0.0.1", "127.0.0.2");
    await system.looksUntil(() => listener.places.length === 2);
    expect(await answeredFrom(port, "127.0.0.1", "127.0.0.2")).toBe("127.0.0.2");
    const [held] = places;
    const reader = createSocket("udp4").bind(0, "127.0.0.1");
    onTestFinished(() => void reader.close());
    await once(reader, "listening");
    system.are("127.0.0.1");
    await system.looksUntil(() => listener.places.length === 1);
    await until(() => socketsAt(port).length === 2);
    expect(held?.sender.send(Buffer.from("gone"), reader.address().port, "127.0.0.1")).toBe("EADDRNOTAVAIL");
    expect(held?.sender.sendPrefixed(1, Buffer.from("gone"), reader.address().port, "127.0.0.1")).toBe("EADDRNOTAVAIL");
    expect(listener.placeFor("127.0.0.9", "127.0.0.2")?.address).toBe("127.0.0.1");
    // Without a descriptor the system tells nothing: all stay.
    system.fail();
    vi.advanceTimersByTime(2_000);
    expect(listener.places).toHaveLength(1);
    system.are("127.0.0.1", "127.0.0.2");
    await system.looksUntil(() => listener.places.length === 2);
    const received = once(reader, "message");
    expect(held?.sender.send(Buffer.from("back"), reader.address().port, "127.0.0.1")).toBeUndefined();
    expect(((await received)[1] as RemoteInfo).address).toBe("127.0.0.2");
    expect(listener.placeFor("127.0.0.9", "127.0.0.2")).toBe(held);
    expect(socketsAt(port, "127.0.0.1")).toEqual(first);
    await release();
    expect(socketsAt(port)).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.runIf(isLinux)("[BL-587] many addresses have fewer queues each, and none that is gone for long is kept", async () => {
    const system = interfaces();
    const hosts = (from: number) => Array.from({ length: 40 }, (_, index) => `127.0.${from}.${index + 2}`);
    system.are(...hosts(1));
    const { listener, port } = await listen({ queues: 8 });
    expect(socketsAt(port)).toHaveLength(41);
    for (let from = 2; from < 6; from++) {
      system.are(...hosts(from));
      await system.looksUntil(() => listener.places.at(-1)?.address === `127.0.${from}.41`);
      expect(socketsAt(port)).toHaveLength(41);
    }
    await system.looksUntil(() => listener.places.length === 41);
  });

  it.runIf(isLinux)(
    "[BL-593] of a turn of the event loop whose time is used up the datagrams that are left are read in the next one",
    async () => {
      const turns: number[] = [];
      const { port } = await listen({
        openToLan: false,
        onMessage: () => void turns.push(performance.nodeTiming.uvMetricsInfo.loopCount),
        isUsedUp: () => turns.length < 5,
      });
      const socket = createSocket("udp4");
      onTestFinished(() => void socket.close());
      // Sent while nothing is read.
      for (let count = 0; count < 10; count++) socket.send(String(count), port, "127.0.0.1");
      await until(() => turns.length === 10);
      expect(new Set(turns.slice(0, 5)).size).toBe(5);
    },
  );

  it.runIf(isLinux)("[BL-587] an address that was there for long is known when it is back, however many others came and went", async () => {
    const system = interfaces();
    system.are("127.0.0.1", "127.0.0.2");
    const { listener } = await listen({});
    const place = listener.placeFor("127.0.0.9", "127.0.0.2");
    for (let from = 1; from < 4; from++) {
      system.are("127.0.0.1", "127.0.0.2", ...Array.from({ length: 40 }, (_, index) => `127.0.${from}.${index + 2}`));
      await system.looksUntil(() => listener.places.some(({ address }) => address === `127.0.${from}.41`));
    }
    system.are("127.0.0.1");
    await system.looksUntil(() => listener.places.length === 1);
    system.are("127.0.0.1", "127.0.0.2");
    await system.looksUntil(() => listener.places.length === 2);
    expect(listener.placeFor("127.0.0.9", "127.0.0.2")).toBe(place);
  });

  it.runIf(isLinux)("[BL-587] an address at which another program has the port is tried again, with one line in the log", async () => {
    const system = interfaces();
    system.are("127.0.0.1");
    const lines: string[] = [];
    const { listener, port } = await listen({ log: { warning: (text: string) => void lines.push(text) } });
    const other = createSocket("udp4").bind(port, "127.0.0.2");
    await once(other, "listening");
    system.are("127.0.0.2", "127.0.0.3");
    for (let looks = 0; looks < 3; looks++) {
      await system.looksUntil(() => listener.places.some(({ address }) => address === "127.0.0.3"));
    }
    expect(await answeredFrom(port, "127.0.0.1", "127.0.0.3")).toBe("127.0.0.3");
    await until(() => lines.length > 0);
    await new Promise<void>((resolve) => other.close(() => resolve()));
    await system.looksUntil(() => listener.places.length === 3);
    expect(lines).toEqual([`UDP port ${port} is taken at 127.0.0.2, an address that this computer has got: nobody is answered there.`]);
  });

  it.runIf(lanAddress !== undefined)("[BL-587] a port that is taken at any address is taken", async () => {
    const { pid, port } = await holdPort(0, lanAddress, "udp");
    expect(await isPortFree(port, true, "udp")).toBe(false);
    expect(await portHolder(port, "udp")).toMatchObject({ pid });
    await expect(listen({ port })).rejects.toMatchObject({ code: "PORT_IN_USE", port, transport: "udp" });
    expect(socketsAt(port)).toEqual([]);
    const { port: own } = await listen();
    for (const openToLan of [true, false]) expect(await isPortFree(own, openToLan, "udp")).toBe(false);
    expect(await portHolder(own, "udp")).toMatchObject({ pid: process.pid });
    await expect(listen({ port: own })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await expect(listen({ port: own, openToLan: false })).rejects.toMatchObject({ code: "PORT_IN_USE" });
  });
});
