import { describe, expect, it, vi } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf } from "../../servers/webrtc/stun/stun-message.ts";
import type { WrittenAttribute } from "../../servers/webrtc/stun/write-stun.ts";
import { AllocationTable } from "../../servers/webrtc/turn/allocation-table.ts";
import { RelayPorts } from "../../servers/webrtc/turn/relay-ports.ts";
import { eventually } from "../support/eventually.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import {
  addressesOf,
  errorOf,
  evenPort,
  hasIpv6,
  isFreePort,
  lifetimeOf,
  Peer,
  requestedFamily,
  requiredValue,
  startTurn,
  TurnClientUnderTest,
} from "./turn-harness.ts";

const lifetime = (seconds: number): WrittenAttribute => [
  stunAttributes.lifetime,
  Buffer.from([seconds >>> 24, (seconds >> 16) & 0xff, (seconds >> 8) & 0xff, seconds & 0xff]),
];
const dualFamily: WrittenAttribute = [stunAttributes.additionalAddressFamily, Buffer.from([2, 0, 0, 0])];

/** Whether a program could listen on the port. */
async function start(changes = {}) {
  const server = await startTurn(changes);
  return { server, client: await TurnClientUnderTest.connect(server) };
}

describe("TURN allocations", () => {
  it("[WEBRTC-20] Allocate gives a relayed address, the lifetime and the client's own address", async () => {
    const { server, client } = await start();
    const answer = await client.allocate();
    const [relayed] = addressesOf(answer, stunAttributes.xorRelayedAddress);
    expect(relayed?.address).toBe("127.0.0.1");
    expect(relayed?.port).toBeGreaterThanOrEqual(49_152);
    expect(addressesOf(answer, stunAttributes.xorMappedAddress)[0]?.port).toBe(client.localPort());
    expect(lifetimeOf(answer)).toBe(600);
    expect(server.engine.allocations()).toMatchObject([{ user: "ada", relayed: [{ address: "127.0.0.1", port: relayed?.port }] }]);
  });

  it("[WEBRTC-20] the lifetime is not below the default and not above the maximum; a wrong one gets 400", async () => {
    const server = await startTurn();
    for (const [asked, given] of [
      [1, 600],
      [1_200, 1_200],
      [100_000, 3_600],
    ] as const) {
      const client = await TurnClientUnderTest.connect(server);
      expect(lifetimeOf(await client.allocate([lifetime(asked)]))).toBe(given);
    }
    const client = await TurnClientUnderTest.connect(server);
    expect(errorOf(await client.allocate([[stunAttributes.lifetime, Buffer.alloc(2)]]))).toBe(400);
  });

  it("[WEBRTC-20] without REQUESTED-TRANSPORT 400, for TCP 442", async () => {
    const { client } = await start();
    expect(errorOf(await client.request(stunMethods.allocate))).toBe(400);
    expect(errorOf(await client.request(stunMethods.allocate, [[stunAttributes.requestedTransport, Buffer.from([6, 0, 0, 0])]]))).toBe(442);
  });

  it.runIf(hasIpv6)("[WEBRTC-21] REQUESTED-ADDRESS-FAMILY, and ADDITIONAL-ADDRESS-FAMILY for both", async () => {
    const { server, client } = await start();
    expect(await client.relayed([requestedFamily(2)])).toMatchObject([{ family: "IPv6", address: "::1" }]);
    const both = await TurnClientUnderTest.connect(server);
    expect(await both.relayed([dualFamily])).toMatchObject([{ address: "127.0.0.1" }, { address: "::1" }]);
    const wrong = await TurnClientUnderTest.connect(server);
    expect(errorOf(await wrong.allocate([requestedFamily(3)]))).toBe(440);
    expect(errorOf(await wrong.allocate([requestedFamily(2), dualFamily]))).toBe(400);
    expect(errorOf(await wrong.allocate([evenPort(true), dualFamily]))).toBe(400);
    expect(errorOf(await wrong.allocate([[stunAttributes.additionalAddressFamily, Buffer.from([1, 0, 0, 0])]]))).toBe(400);
  });

  it("[WEBRTC-21] a family without relays gets 440, beside another one ADDRESS-ERROR-CODE", async () => {
    const { server, client } = await start({ relays: { addresses: { IPv4: { host: "127.0.0.1", advertised: "127.0.0.1" } } } });
    expect(errorOf(await client.allocate([requestedFamily(2)]))).toBe(440);
    const answer = await client.allocate([dualFamily]);
    expect(addressesOf(answer, stunAttributes.xorRelayedAddress).length).toBe(1);
    expect(requiredValue(answer, stunAttributes.addressErrorCode).subarray(0, 4)).toEqual(Buffer.from([2, 0, 4, 40]));
    expect(server.engine.statistics().allocations).toBe(1);
  });

  it.each(["udp", "tcp"] as const)("[WEBRTC-115] the relayed address is chosen by where the client came, over %s", async (transport) => {
    const seen: unknown[] = [];
    const chosen = (from: unknown) => {
      if (from) seen.push(from);
      return { host: "127.0.0.1", advertised: "192.0.2.7" };
    };
    const server = await startTurn({ relays: { addresses: { IPv4: chosen } } });
    const client = await TurnClientUnderTest.connect(server, transport);
    expect(await client.relayed()).toMatchObject([{ address: "192.0.2.7" }]);
    expect(seen).toMatchObject([{ address: "127.0.0.1", localAddress: "127.0.0.1" }]);
    expect(server.opened[0]?.relayed).toMatchObject([{ address: "192.0.2.7" }]);
  });

  it("[WEBRTC-22] EVEN-PORT gives an even port, and reserves the next one for the token", async () => {
    const { server, client } = await start();
    const answer = await client.allocate([evenPort(true)]);
    const port = addressesOf(answer, stunAttributes.xorRelayedAddress)[0]?.port ?? 1;
    expect(port % 2).toBe(0);
    const token = requiredValue(answer, stunAttributes.reservationToken);
    expect(token.length).toBe(8);
    expect(await isFreePort(port + 1)).toBe(false);
    const second = await TurnClientUnderTest.connect(server);
    const withToken: WrittenAttribute = [stunAttributes.reservationToken, token];
    expect(errorOf(await second.allocate([withToken, evenPort(false)]))).toBe(400);
    expect(await second.relayed([withToken])).toMatchObject([{ port: port + 1 }]);
    const third = await TurnClientUnderTest.connect(server);
    expect(errorOf(await third.allocate([withToken]))).toBe(508);
    const even = await third.allocate([evenPort(false)]);
    expect(attributeOf(even, stunAttributes.reservationToken)).toBeUndefined();
  });

  it("[WEBRTC-22] a reservation that nobody takes is given up after its time", async () => {
    const { server, client } = await start();
    const answer = await client.allocate([evenPort(true)]);
    const port = addressesOf(answer, stunAttributes.xorRelayedAddress)[0]?.port ?? 1;
    await server.advance(30_001);
    expect(server.engine.statistics().reserved).toBe(0);
    await eventually(() => isFreePort(port + 1), "the port is free");
  });

  it.runIf(process.platform === "linux")("[WEBRTC-23] DONT-FRAGMENT is accepted where the system does so", async () => {
    const { client } = await start();
    expect((await client.allocate([[stunAttributes.dontFragment, Buffer.alloc(0)]])).messageClass).toBe("success");
  });

  it("[WEBRTC-24] a second Allocate gets 437, and so does any other request without an allocation; another user's gets 441", async () => {
    const { client } = await start();
    expect(errorOf(await client.refresh(600))).toBe(437);
    expect(errorOf(await client.permit("127.0.0.1"))).toBe(437);
    expect(errorOf(await client.bindChannel(0x4000, 9))).toBe(437);
    await client.relayed();
    expect(errorOf(await client.allocate())).toBe(437);
    const bob = { credentials: { username: "bob", password: "builder" } };
    expect(errorOf(await client.request(stunMethods.refresh, [], bob))).toBe(441);
    expect(errorOf(await client.allocate([], bob))).toBe(441);
  });

  it("[WEBRTC-25] Refresh extends an allocation; with a lifetime of 0 it closes the relay", async () => {
    const { server, client } = await start();
    const port = await client.relayedPort();
    await server.advance(500_000);
    expect(lifetimeOf(await client.refresh(1_000))).toBe(1_000);
    await server.advance(900_000);
    expect(server.engine.statistics().allocations).toBe(1);
    expect(await isFreePort(port)).toBe(false);
    expect(lifetimeOf(await client.refresh(0))).toBe(0);
    expect(server.closed.map(({ reason }) => reason)).toEqual(["refreshed with lifetime 0"]);
    await eventually(() => isFreePort(port), "the port is free");
    expect((await client.allocate()).messageClass).toBe("success");
  });

  it.runIf(hasIpv6)("[WEBRTC-25] Refresh of one family ends that one; of a family without a relay it gets 443", async () => {
    const { server, client } = await start();
    await client.relayed([dualFamily]);
    expect(errorOf(await client.refresh(0, [requestedFamily(2)]))).toBe(0);
    expect(server.engine.allocations()[0]?.relayed.map(({ address }) => address)).toEqual(["127.0.0.1"]);
    expect(errorOf(await client.refresh(600, [requestedFamily(2)]))).toBe(443);
    expect(errorOf(await client.refresh(0, [requestedFamily(1)]))).toBe(0);
    expect(server.engine.statistics().allocations).toBe(0);
  });

  it("[WEBRTC-26] an allocation that is not refreshed ends with its relay; permissions end after 5 minutes, channels after 10", async () => {
    const { server, client } = await start({ lifetimes: { allocation: 1_200_000 } });
    const port = await client.relayedPort();
    await client.bindChannel(0x4000, 9);
    await client.permit("127.0.0.2");
    await server.advance(299_000);
    expect(server.engine.allocations()[0]?.permissions.length).toBe(2);
    await server.advance(2_000);
    expect(server.engine.allocations()[0]).toMatchObject({
      permissions: [],
      channels: [{ number: 0x4000, address: "127.0.0.1", port: 9 }],
    });
    await server.advance(300_000);
    expect(server.engine.allocations()[0]?.channels).toEqual([]);
    await server.advance(600_000);
    expect(server.closed.map(({ reason }) => reason)).toEqual(["expired"]);
    await eventually(() => isFreePort(port), "the port is free");
  });

  it("[WEBRTC-27] a repeated request over UDP gets the same response, and is carried out once", async () => {
    const { server, client } = await start();
    const sent: Buffer[] = [];
    const { send } = client;
    client.send = (bytes) => {
      sent.push(bytes);
      send(bytes);
    };
    const first = await client.allocate();
    for (let repeat = 0; repeat < 3; repeat++) send(sent.at(-1) as Buffer);
    await until(() => client.messages.filter(({ transaction }) => transaction.equals(first.transaction)).length === 4);
    for (const message of client.messages.slice(1)) expect(message.bytes).toEqual(first.bytes);
    expect(server.engine.statistics()).toMatchObject({ allocations: 1, repeated: 3, requests: { allocate: 2 } });
    const ended = await client.refresh(0);
    send(sent.at(-1) as Buffer);
    await until(() => client.messages.at(-1)?.bytes.equals(ended.bytes) && server.engine.statistics().repeated === 4);
  });

  it("[WEBRTC-28] a user beyond the quota gets 486; beyond the limit of all, or without a free port, everybody gets 508", async () => {
    const server = await startTurn({ limits: { allocations: 3, allocationsPerUser: 2 } });
    const connect = () => TurnClientUnderTest.connect(server);
    const [first] = [await connect(), await connect()];
    await first.relayed();
    await (await connect()).relayed();
    const third = await connect();
    expect(errorOf(await third.allocate())).toBe(486);
    const bob = { credentials: { username: "bob", password: "builder" } };
    await (await connect()).relayed([], bob);
    expect(errorOf(await (await connect()).allocate([], bob))).toBe(508);
    await first.refresh(0);
    expect(errorOf(await third.allocate())).toBe(0);
  });

  it("[WEBRTC-28] a reserved port counts for the user who has asked for it, until it is taken or given up", async () => {
    const server = await startTurn({ limits: { allocationsPerUser: 3 } });
    const connect = () => TurnClientUnderTest.connect(server);
    const first = await connect();
    const token = requiredValue(await first.allocate([evenPort(true)]), stunAttributes.reservationToken);
    const second = await connect();
    expect(errorOf(await second.allocate([evenPort(true)]))).toBe(486);
    await second.relayed();
    expect(errorOf(await (await connect()).allocate())).toBe(486);
    // It has its place already.
    const third = await connect();
    await third.relayed([[stunAttributes.reservationToken, token]]);
    expect(errorOf(await (await connect()).allocate())).toBe(486);
    await first.refresh(0);
    await second.refresh(0);
    await second.allocate([evenPort(true)]);
    await second.refresh(0);
    await second.relayed();
    expect(errorOf(await first.allocate())).toBe(486);
    await server.advance(30_001);
    await first.relayed();
  });

  it("[WEBRTC-28] a storm of requests opens no more than the limit, and what was bound is closed again", async () => {
    const server = await startTurn({ limits: { allocations: 20 } });
    const clients = await Promise.all(Array.from({ length: 60 }, () => TurnClientUnderTest.connect(server)));
    const codes = await Promise.all(clients.map(async (client) => errorOf(await client.allocate([evenPort(true)]))));
    const opened = codes.filter((code) => code === 0).length;
    // Each also reserves a port, which counts until the token is used or its time is over.
    expect(opened).toBeGreaterThanOrEqual(10);
    expect(opened).toBeLessThanOrEqual(20);
    expect(codes.filter((code) => code === 508).length).toBe(60 - opened);
    await server.advance(601_000);
    expect(server.engine.statistics()).toMatchObject({ allocations: 0, reserved: 0 });
    expect(errorOf(await (await TurnClientUnderTest.connect(server)).allocate())).toBe(0);
  });

  it("[WEBRTC-28] ports come from the range alone; ports of other programs are passed over", async () => {
    const peer = await Peer.open();
    const range = { first: peer.port - 1, last: peer.port };
    const server = await startTurn({ relays: { ports: range } });
    const client = await TurnClientUnderTest.connect(server);
    if (await isFreePort(range.first)) expect(await client.relayedPort()).toBe(range.first);
    expect(errorOf(await (await TurnClientUnderTest.connect(server)).allocate())).toBe(508);
  });

  it.each(["tcp", "udp"] as const)(
    "[WEBRTC-29] over %s the relay's ports are free again once the service has stopped",
    async (transport) => {
      const server = await startTurn();
      const client = await TurnClientUnderTest.connect(server, transport);
      const port = await client.relayedPort();
      await server.stop();
      expect(server.closed.map(({ reason }) => reason)).toEqual(["service stops"]);
      expect(await isFreePort(port)).toBe(true);
    },
  );

  it("[WEBRTC-526] a search for a port looks at a bounded number of them, and at no other allocation", async () => {
    const looked = vi.fn(() => true);
    const both = { host: "127.0.0.1", advertised: "127.0.0.1" };
    const ports = new RelayPorts(
      { addresses: { IPv4: both }, ports: { first: 1_024, last: 65_535 }, receiveBufferBytes: 1 << 16 },
      { isUsedUp: () => false, isOwnAddress: () => true, isClientPort: looked },
    );
    expect(await ports.bindOne("IPv4", false, { address: "127.0.0.1" })).toBeUndefined();
    expect(looked).toHaveBeenCalledTimes(1_000);
    const searched = vi.spyOn(AllocationTable.prototype, "all");
    onEnd(() => searched.mockRestore());
    const server = await startTurn();
    await (await TurnClientUnderTest.connect(server)).relayedPort();
    expect(searched).not.toHaveBeenCalled();
  });

  it("[WEBRTC-29] ports that are being bound when the service stops are free too", async () => {
    const range = { first: 61_000, last: 61_001 };
    const both = { host: "127.0.0.1", advertised: "127.0.0.1" };
    const table = new AllocationTable({
      relayPorts: new RelayPorts(
        { addresses: { IPv4: both }, ports: range, receiveBufferBytes: 1 << 16 },
        { isUsedUp: () => false, isOwnAddress: () => true, isClientPort: () => false },
      ),
      unsent: new SharedBudget(1_000),
      limits: { allocations: 10, allocationsPerUser: 10, permissions: 1, channels: 1, delayedBytes: 1 },
      ...{ reservationMs: 30_000, now: () => 0, onOpened: () => {}, onClosed: () => {}, onFault: () => {} },
      turns: new WorkTurns(),
    });
    const client = { transport: "udp", address: "127.0.0.1", port: 1, allocation: undefined, isAllocating: false, isGone: false } as const;
    const opening = table.open({
      ...{ username: "ada", user: "ada", software: undefined, lifetimeMs: 600_000, token: undefined },
      client: { ...client, send: () => true, sendChannelData: () => true },
      ...{ families: ["IPv4"], isEven: true, reservesNext: true },
    });
    await table.closeAll("service stops");
    expect([await isFreePort(range.first), await isFreePort(range.last)]).toEqual([true, true]);
    expect(await opening).toBe(508);
  });

  it("[WEBRTC-29] an allocation over TCP ends with its connection", async () => {
    const server = await startTurn();
    const client = await TurnClientUnderTest.connect(server, "tcp");
    const port = await client.relayedPort();
    client.disconnect();
    await until(() => server.closed.length === 1);
    expect(server.closed[0]?.reason).toBe("connection closed");
    await eventually(() => isFreePort(port), "the port is free");
  });
});
