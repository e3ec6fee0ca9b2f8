import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { WorkTurns } from "../../servers/core/service/work-turns.ts";
import type { FramePackets } from "../../servers/rtsp/media/track.ts";
import { createUdpTransport } from "../../servers/rtsp/sessions/track-transport.ts";
import { UdpPorts } from "../../servers/rtsp/sessions/udp-ports.ts";
import { BatchedWriter, WriteBatch } from "../../servers/rtsp/sessions/write-batch.ts";
import { onEnd } from "../support/start-service.ts";

it("[RTSP-200] the packets of one picture for many readers over UDP are sent in turns", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const sent: string[] = [];
  class CountedPorts extends UdpPorts {
    override *sendPackets(_packets: FramePackets, address: string): Generator<void, void> {
      for (let step = 0; step < 10; step++) {
        nowMs += 0.125;
        sent.push(address);
        yield;
      }
    }
  }
  const ports = new CountedPorts(turns);
  const readers = Array.from({ length: 50 }, (_, index) => createUdpTransport(ports, `10.0.0.${index}`, [2, 3], {} as never));
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
