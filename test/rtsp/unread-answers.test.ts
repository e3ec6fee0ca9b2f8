import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import type { FramePackets } from "../../servers/rtsp/media/track.ts";
import { createTcpTransport } from "../../servers/rtsp/sessions/track-transport.ts";
import { httpRequest } from "../support/http-request.ts";
import { until } from "../support/until.ts";
import { onEnd, stallUntilSlow, startRtsp } from "./harness.ts";

it("[RTSP-24] a client that leaves answers unread is read no further until it takes them, and gets all of them", async () => {
  const server = await startRtsp({ unsentBytes: 16 << 10 });
  const client = await server.connect();
  const count = 9_000;
  client.socket.pause();
  client.write(
    Array.from({ length: count }, (_, index) => `DESCRIBE ${server.url}/stream RTSP/1.0\r\nCSeq: ${index + 1}\r\n\r\n`).join(""),
  );
  const handled = async () => /^rtsp_requests_total \d+/m.exec((await httpRequest(`${server.httpUrl}/metrics`)).body)?.[0];
  // The system takes some megabytes for a client; then nothing more of it is read.
  for (let before: string | undefined; ; ) {
    const next = await handled();
    if (next === before) break;
    before = next;
  }
  client.socket.resume();
  await until(() => client.responses.length === count);
  expect(client.closed).toBe(false);
});

it("[RTSP-24] a player that has packets unread is heard: they are no answers", async () => {
  const server = await startRtsp({ unsentBytes: 1 << 20, stallSeconds: 600 });
  const player = await server.connect();
  // The stream runs on while the player pauses.
  await (await server.connect()).play("/test");
  const { session } = await player.play("/test");
  const release = stallUntilSlow(player, session);
  await until(async () => /^rtsp_path_skips_total\{path="test"\} [1-9]/m.test((await httpRequest(`${server.httpUrl}/metrics`)).body));
  release();
  player.write(`TEARDOWN ${server.url}/test RTSP/1.0\r\nCSeq: 101\r\nSession: ${session}\r\n\r\n`);
  await server.ended(({ outcome }) => outcome === "TEARDOWN");
});

it("[RTSP-76] connections over HTTP beyond the limits are closed at once", async () => {
  const server = await startRtsp({ connectionsPerAddress: 3 });
  const { port } = new URL(server.httpUrl);
  const open = async () => {
    const socket = connect(Number(port), "127.0.0.1");
    onEnd(() => socket.destroy());
    socket.on("error", () => {});
    const closed = once(socket, "close");
    await once(socket, "connect");
    return { socket, closed };
  };
  const kept = [await open(), await open(), await open()];
  await (await open()).closed;
  expect(kept.map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
  kept[0]?.socket.destroy();
  await kept[0]?.closed;
  await expect.poll(async () => (await httpRequest(`${server.httpUrl}/v3/paths/list`).catch(() => undefined))?.status).toBe(200);
});

it("[RTSP-77] who leaves most of its answers over HTTP unread is disconnected where all together leave too much", async () => {
  const server = await startRtsp({ allUnsentBytes: 1 << 20, stallSeconds: 3_600 });
  const { port } = new URL(server.httpUrl);
  const playlist = (await httpRequest(`${server.httpUrl}/test/index.m3u8`)).body;
  const segment = /^segment-\d+\.m4s$/m.exec(playlist)?.[0];
  // One answer of 120 KB waits for each.
  const sockets = Array.from({ length: 32 }, () => {
    const socket = connect(Number(port), "127.0.0.1").pause();
    onEnd(() => socket.destroy());
    socket.on("error", () => {});
    // As much as the system takes for it, and more.
    socket.write(`GET /test/${segment} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(500));
    return socket;
  });
  await expect
    .poll(() => {
      // One that reads nothing finds out when it writes.
      for (const socket of sockets) socket.write("\r\n");
      return sockets.filter(({ destroyed }) => destroyed).length;
    })
    .toBeGreaterThan(0);
  expect((await httpRequest(`${server.httpUrl}/v3/paths/list`)).status).toBe(200);
});

const packetsOf = (bytes: number): FramePackets => {
  const frame = { track: 0, units: [], pts: 0, dts: 0, isKey: true };
  return { frame, bytes: Buffer.alloc(bytes), offsets: [0], payloadBytes: bytes - 4, sequence: 0, position: 0, timestamp: 0 };
};
const overChannel = (channel: number, writePackets: (bytes: Buffer) => void) =>
  createTcpTransport(0, [channel, channel + 1], { channels: new Map(), unsentBytes: 0, writePackets }, { kind: "tcp" } as never);

it("[RTSP-25] a packet is the same bytes for all clients that have chosen a channel, so that slow ones take no more memory", () => {
  const written: Buffer[] = [];
  const connection = { channels: new Map(), unsentBytes: 0, writePackets: (bytes: Buffer) => void written.push(bytes) };
  const transport = (channel: number) => createTcpTransport(0, [channel, channel + 1], connection, { kind: "tcp" } as never);
  const bytes = Buffer.from("24000001aa24000001bb", "hex");
  const frame = { track: 0, units: [], pts: 0, dts: 0, isKey: true };
  const packets = { frame, bytes, offsets: [0, 5], payloadBytes: 2, sequence: 0, position: 0, timestamp: 0 };
  for (const channel of [0, 8, 8, 10]) transport(channel).send(packets);
  expect(written.map((one) => one.toString("hex"))).toEqual([
    "24000001aa24000001bb",
    "24080001aa24080001bb",
    "24080001aa24080001bb",
    "240a0001aa240a0001bb",
  ]);
  expect(written[0]).toBe(bytes);
  expect(written[2]).toBe(written[1]);
});

it("[RTSP-220] of a packet for a hundred channels a stream keeps no copies", () => {
  const packets = packetsOf(10);
  for (let channel = 2; channel < 202; channel += 2) overChannel(channel, () => {}).send(packets);
  const kept = [...(packets.onChannels?.values() ?? [])];
  expect(kept.length).toBe(4);
  expect(kept.every((copy) => copy instanceof WeakRef)).toBe(true);
});

it("[RTSP-224] thousands of clients that have chosen hundreds of channels have no copies of a large picture each", () => {
  const packets = packetsOf(1 << 20);
  const written = new Set<Buffer>();
  let clients = 0;
  for (let round = 0; round < 10; round++)
    for (let channel = 0; channel < 200; channel += 2)
      if (overChannel(channel, (bytes) => void written.add(bytes)).send(packets)) clients++;
  // It itself, one for each of four channels, and eight more.
  expect(written.size).toBe(13);
  expect(clients).toBe(10 * 5 + 8);
});
