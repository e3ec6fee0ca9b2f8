import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import type { FramePackets } from "../../servers/rtsp/media/track.ts";
import { type MulticastGroup, MulticastGroups } from "../../servers/rtsp/sessions/multicast-groups.ts";
import { createUdpTransport } from "../../servers/rtsp/sessions/track-transport.ts";
import { type UdpPeer, UdpPorts } from "../../servers/rtsp/sessions/udp-ports.ts";
import { BatchedWriter, WriteBatch } from "../../servers/rtsp/sessions/write-batch.ts";
import type { Stream } from "../../servers/rtsp/streams/stream.ts";
import { onEnd } from "../support/start-service.ts";

it("[RTSP-200] the packets of one picture for many readers over UDP are sent in turns", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const sent: string[] = [];
  class CountedPorts extends UdpPorts {
    override *sendPackets(_packets: FramePackets, { address }: UdpPeer): Generator<void, void> {
      for (let step = 0; step < 10; step++) {
        nowMs += 0.125;
        sent.push(address);
        yield;
      }
    }
  }
  const ports = new CountedPorts(turns);
  const peerOf = (index: number) => ({ address: `10.0.0.${index}`, localAddress: "127.0.0.1" });
  const readers = Array.from({ length: 50 }, (_, index) => createUdpTransport(ports, peerOf(index), [2, 3], {} as never));
  const packets = { frame: { track: 0 }, bytes: Buffer.alloc(1_000), offsets: [0] } as unknown as FramePackets;
  for (const reader of readers) reader.send(packets);
  expect(sent.length).toBeLessThan(40);
  // One that leaves gets no more of it.
  readers[0]?.release();
  for (let turn = 0; readers.some(({ unsentBytes }) => unsentBytes > 0); turn++) {
    const before = sent.length;
    await nextTurn();
    expect(sent.length - before).toBeLessThan(40);
    expect(turn).toBeLessThan(100);
  }
  expect(sent.filter((address) => address === "10.0.0.49")).toHaveLength(10);
  expect(sent.filter((address) => address === "10.0.0.0").length).toBeLessThan(10);
});

it("[RTSP-200] what is written to many readers over TCP goes out in turns, and at once before an answer", async () => {
  let nowMs = 0;
  const batch = new WriteBatch();
  const turns = new WorkTurns(() => nowMs);
  const open = () => {
    const state = { corked: 0, flushed: 0, written: 0 };
    const socket = {
      cork: () => state.corked++,
      uncork() {
        nowMs += 0.125;
        state.flushed++;
      },
      write: () => state.written++,
    } as unknown as Socket;
    return { state, writer: new BatchedWriter(socket, batch, turns.background("a")) };
  };
  const all = Array.from({ length: 200 }, open);
  for (const { writer } of all) for (let packet = 0; packet < 3; packet++) writer.write(Buffer.alloc(1));
  const answered = all.at(-1);
  answered?.writer.flush();
  expect(answered?.state).toEqual({ corked: 1, flushed: 1, written: 3 });
  const flushed = () => all.reduce((sum, { state }) => sum + state.flushed, 0);
  for (let before = flushed(); before < 200; before = flushed()) {
    await nextTurn();
    expect(flushed() - before).toBeLessThan(70);
    expect(flushed()).toBeGreaterThan(before);
  }
  expect(all.every(({ state }) => state.corked === 1 && state.flushed === 1)).toBe(true);
});

it("[RTSP-200] a picture for a multicast group is sent in turns, and what comes faster is lost", async () => {
  let nowMs = 0;
  // Each step of several packets asks once.
  const turns = new WorkTurns(() => {
    nowMs += 0.125;
    return nowMs;
  });
  const groups = await MulticastGroups.open({
    ...{ address: "239.255.42.1", port: 40_000, ttl: 0, interfaceAddress: "127.0.0.1" },
    ...{ faults: { registry: new Faults(), mostHeldBytes: 1 }, turns, unsentBytes: 100_000 },
  });
  onEnd(() => groups.close());
  const group = groups.of({ tracks: [{ clockRate: 90_000 }], keyTrack: 0 } as unknown as Stream, "live", "192.0.2.1") as MulticastGroup;
  const offsets = Array.from({ length: 3_000 }, (_, index) => index * 20);
  const packets = { frame: { track: 0 }, bytes: Buffer.alloc(60_000), offsets } as unknown as FramePackets;
  for (let picture = 0; picture < 10; picture++) group.onPackets(packets);
  const inTurn = 40 * 16 * 16;
  expect(groups.bytesSent).toBeLessThan(inTurn);
  // Two wait; the second one is more than is kept.
  const all = 2 * 3_000 * 16;
  for (let before = groups.bytesSent; before < all; before = groups.bytesSent) {
    await nextTurn();
    expect(groups.bytesSent - before).toBeLessThan(inTurn);
    expect(groups.bytesSent).toBeGreaterThan(before);
  }
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(groups.bytesSent).toBe(all);
  turns.close();
});

it("[RTSP-203] writes of a few bytes that a client over TCP does not take count with the memory of each", async () => {
  const turns = new WorkTurns();
  const taken: (() => void)[] = [];
  const socket = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, callback) => void taken.push(callback),
    writev: (_chunks, callback) => void taken.push(callback),
  });
  const writer = new BatchedWriter(socket as Socket, new WriteBatch(), turns.background("a"));
  for (let frame = 0; frame < 1_000; frame++) {
    for (let packet = 0; packet < 3; packet++) writer.write(Buffer.alloc(4));
    writer.flush();
  }
  expect(writer.unsentBytes).toBeGreaterThan(3_000 * 100);
  // The first three were on their way, the others follow in one.
  taken.shift()?.();
  for (let packet = 0; packet < 3; packet++) writer.write(Buffer.alloc(4));
  await nextTurn();
  taken.shift()?.();
  await nextTurn();
  expect(writer.unsentBytes).toBeLessThan(10 * 300);
  taken.shift()?.();
  await nextTurn();
  expect(writer.unsentBytes).toBe(0);
  turns.close();
});

it("[RTSP-201] what a client sends by UDP is worked off in its turns", async () => {
  let nowMs = 0;
  let taken = 0;
  const log = createLog({ level: () => "error", write: () => {} });
  const ports = new UdpPorts(new WorkTurns(() => nowMs));
  await ports.listen({ port: 0, openToLan: false, onStop: onEnd, log });
  const client = createSocket("udp4").bind(0, "127.0.0.1");
  onEnd(() => new Promise<void>((resolve) => client.close(() => resolve())));
  await once(client, "listening");
  ports.claim("rtp", "127.0.0.1", client.address().port, () => {
    nowMs += 0.5;
    taken++;
  });
  const count = 150;
  for (let sent = 0; sent < count; sent++) client.send(Buffer.alloc(100), ports.ports[0], "127.0.0.1");
  for (let before = 0; taken < count; before = taken) {
    await nextTurn();
    // A poll reads 32 of a socket, and a turn has time for 16.
    expect(taken - before).toBeLessThan(32);
  }
  expect([ports.bytesReceived, ports.dropped]).toEqual([count * 100, 0]);
});

it("[RTSP-214] what a client over TCP leaves unread counts for all when it has been there at two looks, and not what was just written", () => {
  const taken: (() => void)[] = [];
  const socket = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, callback) => void taken.push(callback),
    writev: (_chunks, callback) => void taken.push(callback),
  });
  const turns = new WorkTurns();
  const writer = new BatchedWriter(socket as Socket, new WriteBatch(), turns.background("a"));
  const write = (bytes: number) => {
    writer.write(Buffer.alloc(bytes));
    writer.flush();
  };
  write(10_000);
  expect(writer.takeStaleBytes()).toBe(0);
  write(5_000);
  expect(writer.takeStaleBytes()).toBe(0);
  expect(writer.takeStaleBytes()).toBeGreaterThanOrEqual(10_000);
  expect(writer.takeStaleBytes()).toBeGreaterThanOrEqual(15_000);
  while (taken.length > 0) taken.shift()?.();
  expect(writer.takeStaleBytes()).toBeLessThan(6_000);
  turns.close();
});
