import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { magicCookie } from "../../servers/webrtc/stun/stun-message.ts";
import { uint32, writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { ImpairedPath, type ImpairedPathOptions, type Impairment, noImpairment } from "../../servers/webrtc/turn/impairment.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { errorOf, hasIpv6, Peer, requestedFamily, startTurn, TurnClientUnderTest, udpTransport } from "./turn-harness.ts";

async function relaying() {
  const server = await startTurn();
  const client = await TurnClientUnderTest.connect(server);
  const port = await client.relayedPort();
  const peer = await Peer.open();
  await client.permit("127.0.0.1");
  const id = server.opened[0]?.id ?? 0;
  return { server, client, port, peer, id };
}

function openPath(impairment: Partial<Impairment>, options: Partial<ImpairedPathOptions> = {}) {
  let lost = 0;
  const path = new ImpairedPath({
    ...{ mostDelayedBytes: 1 << 20, unsent: new SharedBudget(1 << 20), address: "192.0.2.1" },
    work: new WorkTurns(() => 0).background("192.0.2.1"),
    onLost: (datagrams) => {
      lost += datagrams;
    },
    onFault: (error) => {
      throw error;
    },
    ...options,
  });
  onEnd(() => path.close());
  path.change({ ...noImpairment, ...impairment });
  return { path, lost: () => lost };
}

describe("TURN limits and trouble", () => {
  it("[WEBRTC-50] permissions and channels beyond the limits of an allocation get 508", async () => {
    const server = await startTurn({ limits: { permissions: 3, channels: 2 } });
    const client = await TurnClientUnderTest.connect(server);
    await client.relayed();
    expect(errorOf(await client.permit("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"))).toBe(508);
    expect(server.engine.allocations()[0]?.permissions).toEqual([]);
    expect(errorOf(await client.bindChannel(0x4000, 9))).toBe(0);
    expect(errorOf(await client.bindChannel(0x4001, 10))).toBe(0);
    expect(errorOf(await client.bindChannel(0x4002, 11))).toBe(508);
    expect(errorOf(await client.permit("127.0.0.2", "127.0.0.3"))).toBe(0);
    expect(errorOf(await client.permit("127.0.0.4"))).toBe(508);
  });

  it.each([
    { family: "IPv4", own: "127.0.0.1", host: "127.0.0.1" },
    { family: "IPv4", own: "127.0.0.1", host: "0.0.0.0" },
    ...(hasIpv6 ? [{ family: "IPv6", own: "::1", host: "::" }] : []),
  ])("[WEBRTC-492] a relay at $host that sends to $own, where TURN listens, is no client", async ({ family, own, host }) => {
    const server = await startTurn({ relays: { addresses: { [family]: { host, advertised: own } } } });
    const client = await TurnClientUnderTest.connect(server, "udp", own);
    await client.relayed([requestedFamily(family === "IPv6" ? 2 : 1)]);
    await client.permit(own);
    const allocate = writeStun({
      ...{ messageClass: "request", method: stunMethods.allocate, transaction: Buffer.concat([uint32(magicCookie), Buffer.alloc(12)]) },
      ...{ attributes: [udpTransport], fingerprint: true },
    });
    const before = server.requests.length;
    client.indicate(own, server.port, allocate);
    await until(() => server.engine.statistics().fromRelays === 1);
    expect(server.requests.length).toBe(before);
    expect(client.received()).toEqual([]);
  });

  it("[WEBRTC-492] a port from which a client has allocated becomes no relay while it has the allocation", async () => {
    const ports = { first: 49_152, last: 65_535 };
    const server = await startTurn({ relays: { ports } });
    const [gone, next] = [await TurnClientUnderTest.connect(server), await TurnClientUnderTest.connect(server)];
    await gone.relayed();
    ports.first = ports.last = gone.localPort();
    await gone.close();
    expect(errorOf(await next.allocate())).toBe(508);
    server.engine.close(server.opened[0]?.id ?? 0);
    expect(await next.relayedPort()).toBe(ports.first);
  });

  it("[WEBRTC-51] connections beyond the limits, of one address and in all, are closed at once", async () => {
    for (const streams of [{ connections: 2 }, { connectionsPerAddress: 2 }]) {
      const server = await startTurn({ streams });
      const open = [await TurnClientUnderTest.connect(server, "tcp"), await TurnClientUnderTest.connect(server, "tcp")];
      const refused = await TurnClientUnderTest.connect(server, "tcp");
      await refused.closed();
      expect(server.engine.statistics()).toMatchObject({ connections: 2, connectionsRefused: 1 });
      open[0]?.disconnect();
      await until(() => server.engine.statistics().connections === 1);
      const again = await TurnClientUnderTest.connect(server, "tcp");
      expect((await again.raw(stunMethods.binding, [])).messageClass).toBe("success");
    }
  });

  it("[WEBRTC-51] a connection without an allocation and without a message is closed after a time; one with an allocation stays", async () => {
    const server = await startTurn({ tickMs: 20, streams: { idleMs: 30_000 } });
    const [idle, busy] = [await TurnClientUnderTest.connect(server, "tcp"), await TurnClientUnderTest.connect(server, "tcp")];
    await busy.relayed();
    await server.advance(30_001);
    await idle.closed();
    expect(errorOf(await busy.refresh(600))).toBe(0);
  });

  it("[WEBRTC-470] a flood of requests on a connection is answered in its order, with those of others in between", async () => {
    const server = await startTurn();
    const [flood, other] = [await TurnClientUnderTest.connect(server, "tcp"), await TurnClientUnderTest.connect(server, "tcp")];
    const transactions = Array.from({ length: 5_000 }, (_, index) => Buffer.concat([uint32(magicCookie), Buffer.alloc(8), uint32(index)]));
    const requests = transactions.map((transaction) =>
      writeStun({ messageClass: "request", method: stunMethods.allocate, transaction, attributes: [], fingerprint: true }),
    );
    flood.send(Buffer.concat(requests));
    await until(() => flood.messages.length > 0);
    expect((await other.raw(stunMethods.binding, [])).messageClass).toBe("success");
    await until(() => flood.messages.length === transactions.length);
    expect(flood.messages.map(({ transaction }) => transaction.readUInt32BE(12))).toEqual(transactions.map((_, index) => index));
  });

  it("[WEBRTC-482] a flood of requests over UDP is dropped, of unknown senders together; who has an allocation is answered", async () => {
    const server = await startTurn({ requestsPerSecond: 100 });
    const client = await TurnClientUnderTest.connect(server);
    await client.relayedPort();
    const answeredBefore = server.requests.length;
    const strangers = await Promise.all(Array.from({ length: 5 }, () => TurnClientUnderTest.connect(server)));
    const request = writeStun({
      ...{ messageClass: "request", method: stunMethods.allocate, attributes: [], fingerprint: true },
      transaction: Buffer.concat([uint32(magicCookie), Buffer.alloc(12)]),
    });
    for (const stranger of strangers) for (let count = 0; count < 200; count++) stranger.send(request);
    await until(() =>
      server.logs.some((line) => /^warning Requests of STUN and TURN over UDP are dropped: more than 100 a second come/.test(line)),
    );
    expect(errorOf(await client.refresh(600))).toBe(0);
    expect(server.requests.length - answeredBefore).toBeLessThan(200);
  });

  it("[WEBRTC-539] requests that are refused without end are a few log lines and a count", async () => {
    const server = await startTurn();
    const client = await TurnClientUnderTest.connect(server);
    for (let count = 0; count < 100; count++) expect(errorOf(await client.refresh(600))).toBe(437);
    await server.stop();
    const lines = server.logs.filter((line) => line.startsWith("info refresh of 127.0.0.1:"));
    const counts = server.logs.flatMap((line) => /^info (\d+) more lines? about faulty connections/.exec(line)?.[1] ?? []);
    expect(lines.length + counts.reduce((sum, count) => sum + Number(count), 0)).toBe(100);
    expect(lines.length).toBeLessThan(100);
  });

  it("[WEBRTC-60] one relay is cut and repaired; the others go on", async () => {
    const { server, client, port, peer, id } = await relaying();
    expect(server.engine.impair(id, { isCut: true, loss: 0, delayMs: 0 })).toBe(true);
    client.indicate("127.0.0.1", peer.port, Buffer.from("lost"));
    peer.socket.send("lost", port, "127.0.0.1");
    await until(() => server.engine.allocations()[0]?.lost.impaired === 2);
    expect(errorOf(await client.refresh(600))).toBe(0);
    server.engine.impair(id, { isCut: false, loss: 0, delayMs: 0 });
    client.indicate("127.0.0.1", peer.port, Buffer.from("repaired"));
    expect(await peer.next()).toEqual(["repaired"]);
    expect(server.engine.impair(999, { isCut: true, loss: 0, delayMs: 0 })).toBe(false);
  });

  it("[WEBRTC-60] one relay delays what it carries", async () => {
    const { server, client, port, peer, id } = await relaying();
    server.engine.impair(id, { isCut: false, loss: 0, delayMs: 300 });
    const sentAt = performance.now();
    peer.socket.send("late", port, "127.0.0.1");
    await until(() => client.received().length === 1);
    expect(performance.now() - sentAt).toBeGreaterThan(290);
    // What is delayed when the allocation ends is lost with it, and leaves no timer.
    peer.socket.send("never", port, "127.0.0.1");
    expect(errorOf(await client.refresh(0))).toBe(0);
  });

  it("[WEBRTC-60] loss takes its part, and delay keeps bounded memory", () => {
    let next = 0;
    const values = [0.1, 0.6, 0.3, 0.9];
    const lossy = openPath({ loss: 0.5 }, { random: () => values[next++ % values.length] as number });
    const passed: number[] = [];
    for (const datagram of [1, 2, 3, 4]) lossy.path.pass(10, () => passed.push(datagram));
    expect([passed, lossy.lost()]).toEqual([[2, 4], 2]);
    const slow = openPath({ delayMs: 60_000 }, { mostDelayedBytes: 10_000 });
    for (let count = 0; count < 100; count++) slow.path.pass(500, () => {});
    expect([slow.path.delayedBytes, slow.lost()]).toEqual([10_000, 90]);
    slow.path.close();
    expect([slow.path.delayedBytes, slow.lost()]).toEqual([0, 100]);
  });

  it("[WEBRTC-557] what a relay delays is forwarded in its order when the delay ends, and what comes then is behind it", async () => {
    const { path, lost } = openPath({ delayMs: 60_000 });
    const passed: number[] = [];
    const pass = (datagram: number) => path.pass(10, () => passed.push(datagram));
    for (const datagram of [1, 2]) pass(datagram);
    path.change({ ...noImpairment, delayMs: 60_000, loss: 0.000_1 });
    path.change({ ...noImpairment, delayMs: 50 });
    pass(3);
    await nextTurn();
    expect(passed).toEqual([]);
    path.change(noImpairment);
    pass(4);
    expect([passed, lost(), path.delayedBytes]).toEqual([[1, 2, 3, 4], 0, 0]);
  });

  it("[WEBRTC-557] thousands of datagrams that are due at once are forwarded in turns", async () => {
    let nowMs = 0;
    const { path, lost } = openPath({ delayMs: 60_000 }, { work: new WorkTurns(() => nowMs).background("192.0.2.1") });
    const passed: number[] = [];
    for (let datagram = 0; datagram < 500; datagram++)
      path.pass(10, () => {
        nowMs += 0.125;
        passed.push(datagram);
      });
    path.change(noImpairment);
    path.pass(10, () => passed.push(500));
    for (let before = 0; passed.length <= 500; before = passed.length) {
      expect(passed.length - before).toBeLessThan(100);
      await nextTurn();
    }
    expect(passed).toEqual(Array.from({ length: 501 }, (_, datagram) => datagram));
    expect(lost()).toBe(0);
  });

  it("[WEBRTC-557] a burst that takes several turns is no longer than one that takes one", () => {
    const later: (() => void)[] = [];
    const bursts: (() => void)[] = [];
    const noWait = () => {};
    const work = Object.assign(new WorkTurns(() => 0).background("192.0.2.1"), {
      join(goOn: () => void) {
        let asked = 0;
        return {
          get isOver() {
            return ++asked % 3 === 0;
          },
          later: () => void later.push(goOn),
        };
      },
      wait(_milliseconds: number, act: () => void) {
        bursts.push(act);
        return noWait;
      },
    });
    const { path } = openPath({ delayMs: 60_000 }, { work });
    let passed = 0;
    for (let count = 0; count < 500; count++) path.pass(100, () => passed++);
    path.change(noImpairment);
    const sizes: number[] = [];
    for (let before = 0; path.delayedBytes > 0; ) {
      for (let goOn = later.shift(); goOn; goOn = later.shift()) goOn();
      sizes.push(passed - before);
      before = passed;
      bursts.shift()?.();
    }
    expect(sizes.length).toBeGreaterThan(10);
    expect(Math.max(...sizes)).toBeLessThan(40);
  });

  it("[WEBRTC-557] what comes as fast as it is forwarded is not late for ever", async () => {
    const { path } = openPath({ delayMs: 60_000 });
    let passed = 0;
    const pass = (count: number) => {
      for (let left = count; left > 0; left--) path.pass(1_000, () => passed++);
    };
    pass(400);
    path.change(noImpairment);
    for (let before = passed; path.delayedBytes > 0; before = passed) {
      pass(20);
      await until(() => passed > before);
    }
    expect(path.isIdle).toBe(true);
  });

  it("[WEBRTC-557] what is lost between two bursts does not hold up what is delayed later", async () => {
    const { path, lost } = openPath({ delayMs: 60_000 });
    let passed = 0;
    const pass = (count: number) => {
      for (let left = count; left > 0; left--) path.pass(1_000, () => passed++);
    };
    pass(100);
    path.change(noImpairment);
    expect(passed).toBeLessThan(100);
    path.change({ ...noImpairment, isCut: true });
    expect(lost()).toBe(100 - passed);
    path.change({ ...noImpairment, delayMs: 5 });
    pass(1);
    await until(() => passed + lost() === 101);
    expect(path.delayedBytes).toBe(0);
  });

  it("[WEBRTC-557] hundreds of datagrams that are due at once all arrive, also at another relay of this service", async () => {
    const { server, client, id } = await relaying();
    const other = await TurnClientUnderTest.connect(server);
    const port = await other.relayedPort();
    expect(errorOf(await other.permit("127.0.0.1"))).toBe(0);
    server.engine.impair(id, { ...noImpairment, delayMs: 60_000 });
    for (let sent = 0; sent < 1_000; sent += 50) {
      for (let count = 0; count < 50; count++) client.indicate("127.0.0.1", port, Buffer.alloc(100));
      expect(errorOf(await client.refresh(600))).toBe(0);
    }
    server.engine.impair(id, noImpairment);
    await until(() => other.received().length === 1_000);
    expect(server.engine.allocations()[0]?.lost.impaired).toBe(0);
  });

  it("[WEBRTC-558] what a relay delays and then loses is counted: by a cut, the end of its allocation, or beyond what all may have", async () => {
    const { server, client, peer, id } = await relaying();
    const lost = () => server.engine.allocations()[0]?.lost.impaired;
    const send = async (text: string) => {
      client.indicate("127.0.0.1", peer.port, Buffer.from(text));
      expect(errorOf(await client.refresh(600))).toBe(0);
    };
    server.engine.impair(id, { ...noImpairment, delayMs: 60_000 });
    await send("one");
    server.engine.impair(id, { ...noImpairment, delayMs: 60_000, isCut: true });
    expect(lost()).toBe(1);
    server.engine.impair(id, { ...noImpairment, delayMs: 60_000 });
    await send("two");
    expect(lost()).toBe(1);
    expect(errorOf(await client.refresh(0))).toBe(0);
    expect(server.closed[0]?.allocation).toMatchObject({ lost: { impaired: 2 }, toPeers: { datagrams: 0 } });
  });

  it("[WEBRTC-493] what is delayed counts for all clients: beyond the bound it is lost for those that have most", () => {
    const unsent = new SharedBudget(50_000);
    const open = (address: string) => openPath({ delayMs: 60_000 }, { mostDelayedBytes: 20_000, unsent, address });
    const [few, ...much] = [open("192.0.2.1"), ...Array.from({ length: 10 }, () => open("192.0.2.2"))];
    few?.path.pass(500, () => {});
    for (const { path } of much) for (let count = 0; count < 20; count++) path.pass(500, () => {});
    const bytes = () => much.reduce((sum, { path }) => sum + path.delayedBytes, few?.path.delayedBytes ?? 0);
    expect(few?.path.delayedBytes).toBe(1_000);
    expect(bytes()).toBeGreaterThan(20_000);
    expect(bytes()).toBeLessThanOrEqual(50_000);
    // Each of the others is delayed, or counted.
    expect(much.reduce((sum, { lost }) => sum + lost(), 0)).toBe(200 - (bytes() - 1_000) / 1_000);
    for (const opened of [few, ...much]) opened?.path.close();
    expect(bytes()).toBe(0);
  });

  it("[WEBRTC-61] allocations are refused with a chosen code, of one user or of all", async () => {
    const server = await startTurn();
    const client = await TurnClientUnderTest.connect(server);
    server.engine.trouble = { refuseAllocations: (user) => (user === "ada" ? 508 : undefined) };
    expect(errorOf(await client.allocate())).toBe(508);
    expect(errorOf(await client.allocate([], { credentials: { username: "bob", password: "builder" } }))).toBe(0);
    server.engine.trouble = { refuseAllocations: () => 300 };
    const other = await TurnClientUnderTest.connect(server);
    expect(errorOf(await other.allocate())).toBe(300);
    server.engine.trouble = {};
    expect(errorOf(await other.allocate())).toBe(0);
    // 401 to the first request of a client, which has no credentials, is none.
    expect(server.engine.statistics().errors).toEqual({ 300: 1, 508: 1 });
  });

  it("[WEBRTC-62] right credentials are rejected from now on", async () => {
    const { server, client } = await relaying();
    server.engine.trouble = { rejectCredentials: () => true };
    expect(errorOf(await client.refresh(600))).toBe(401);
    expect(errorOf(await (await TurnClientUnderTest.connect(server)).allocate())).toBe(401);
    server.engine.trouble = { rejectCredentials: (user) => user === "bob" };
    expect(errorOf(await client.refresh(600))).toBe(0);
  });

  it("[WEBRTC-63] an allocation is closed on request", async () => {
    const { server, client, id } = await relaying();
    expect(server.engine.close(id)).toBe(true);
    expect(server.engine.close(id)).toBe(false);
    expect(server.closed.map(({ reason }) => reason)).toEqual(["closed on request"]);
    expect(errorOf(await client.refresh(600))).toBe(437);
  });

  it("[WEBRTC-65] an observer is told each request with its answer, and allocations as they open and close; passwords are never named", async () => {
    const { server, client } = await relaying();
    await client.refresh(0);
    expect(server.requests.map(({ method, code, username, allocation }) => ({ method, code, username, allocation }))).toEqual([
      { method: "allocate", code: 401, username: undefined, allocation: undefined },
      { method: "allocate", code: 0, username: "ada", allocation: 1 },
      { method: "create permission", code: 0, username: "ada", allocation: 1 },
      { method: "refresh", code: 0, username: "ada", allocation: undefined },
    ]);
    expect(server.closed[0]?.allocation).toMatchObject({ id: 1, client: { transport: "udp" }, permissions: [{ address: "127.0.0.1" }] });
    expect(JSON.stringify([server.requests, server.opened, server.closed, server.logs])).not.toContain("lovelace");
  });
});
