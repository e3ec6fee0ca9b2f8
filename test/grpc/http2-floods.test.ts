/** The bounds of what a client of HTTP/2 may send, and what is said when it exceeds them. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { FloodLimits } from "../../servers/core/http2/flood-limits.ts";
import { Http2Error } from "../../servers/core/http2/frames.ts";
import { whyStreamClosed } from "../../servers/grpc/engine/stream-end.ts";
import { until } from "../support/until.ts";
import { workTime } from "../support/work-time.ts";
import { connectionOf } from "./h2-connection.ts";
import { callFields, flags, frameTypes, h2Frame } from "./h2-frames.ts";

const { data, headers, rstStream, settings, ping, goaway, windowUpdate, continuation } = frameTypes;
const block = callFields("/a.B/C");
const open = (stream: number) => h2Frame(headers, flags.endHeaders, stream, block);
const many = (count: number, frame: (index: number) => Buffer) => Buffer.concat(Array.from({ length: count }, (_, index) => frame(index)));

const answered = Array.from({ length: 3_000 });
it.each([
  ["PING", "too many PING, SETTINGS or GOAWAY frames", answered.map(() => h2Frame(ping, 0, 0, Buffer.alloc(8)))],
  ["answers to no PING", "too many PING, SETTINGS or GOAWAY frames", answered.map(() => h2Frame(ping, flags.ack, 0, Buffer.alloc(8)))],
  ["SETTINGS", "too many PING, SETTINGS or GOAWAY frames", answered.map(() => h2Frame(settings, 0, 0))],
  ["GOAWAY", "too many PING, SETTINGS or GOAWAY frames", [open(1), ...answered.map(() => h2Frame(goaway, 0, 0, Buffer.alloc(8)))]],
  [
    "streams that the client resets",
    "too many streams are reset",
    answered.flatMap((_, index) => [open(2 * index + 1), h2Frame(rstStream, 0, 2 * index + 1, Buffer.from([0, 0, 0, 8]))]),
  ],
  [
    "streams that it makes the service reset, by a window of nothing",
    "too many streams are reset",
    answered.flatMap((_, index) => [open(2 * index + 1), h2Frame(windowUpdate, 0, 2 * index + 1, Buffer.alloc(4))]),
  ],
  [
    "streams that it makes the service reset, by malformed fields",
    "too many streams are reset",
    answered.map((_, index) => h2Frame(headers, flags.endHeaders, 2 * index + 1, Buffer.from([0x82]))),
  ],
  ["streams beyond those allowed", "too many streams are reset", answered.map((_, index) => open(2 * index + 1))],
  ["empty DATA", "too many frames have no effect", [open(1), ...Array.from({ length: 12_000 }, () => h2Frame(data, 0, 1))]],
  ["unknown frames", "too many frames have no effect", Array.from({ length: 12_000 }, () => h2Frame(99, 0, 0))],
  ["priorities", "too many frames have no effect", Array.from({ length: 12_000 }, () => h2Frame(2, 0, 1, Buffer.alloc(5)))],
  [
    "frames for a closed stream",
    "too many frames have no effect",
    [open(1), ...Array.from({ length: 12_000 }, () => h2Frame(rstStream, 0, 1, Buffer.from([0, 0, 0, 8])))],
  ],
  [
    "empty CONTINUATION",
    "a header block has more than 1048576 bytes or 64 frames",
    [h2Frame(headers, 0, 1, block), ...Array.from({ length: 100 }, () => h2Frame(continuation, 0, 1))],
  ],
])("[GRPC-296] a flood of %s ends its connection, and no other", async (_name, why, frames) => {
  const { turns } = workTime();
  const client = connectionOf({ turns });
  const other = connectionOf({ turns });
  for (let at = 0; at < frames.length; at += 100) client.receive(Buffer.concat(frames.slice(at, at + 100)));
  await until(() => client.state.faults.length > 0);
  expect(client.state.faults).toEqual([why]);
  expect(client.state.sent.at(-1)?.readUInt32BE((client.state.sent.at(-1)?.length ?? 0) - 4)).toBe(11);
  await until(() => client.state.streams.every(({ isClosed }) => isClosed));
  expect(client.state.streams.filter(({ lost }) => lost !== undefined && lost.fault !== why)).toEqual([]);
  expect(other.state.faults).toEqual([]);
});

it("[GRPC-333] calls that end with a connection that the service ends say why", async () => {
  const { turns } = workTime();
  const [flooding, leaving] = [connectionOf({ turns }), connectionOf({ turns })];
  for (const { receive } of [flooding, leaving]) receive(Buffer.concat([open(1), open(3)]));
  flooding.receive(many(1_100, () => h2Frame(ping, 0, 0, Buffer.alloc(8))));
  leaving.socket.destroy();
  await until(() => [flooding, leaving].every(({ state }) => state.streams.every(({ isClosed }) => isClosed)));
  expect(flooding.state.streams.map(whyStreamClosed)).toEqual(Array(2).fill("connection ended: too many PING, SETTINGS or GOAWAY frames"));
  expect(leaving.state.streams.map(whyStreamClosed)).toEqual(["client left", "client left"]);
});

it("[GRPC-296] clients that measure the path by two PINGs for each frame that they get are not cut off", async () => {
  const { turns } = workTime();
  const client = connectionOf({ turns });
  client.receive(open(1));
  const [stream] = client.state.streams;
  stream?.respond({ ":status": 200 });
  for (let frame = 0; frame < 3_000; frame++) {
    const { writes } = client.state;
    stream?.write(Buffer.alloc(5));
    while (client.state.writes === writes) await nextTurn();
    client.receive(many(2, () => h2Frame(ping, 0, 0, Buffer.alloc(8))));
  }
  expect(client.state.faults).toEqual([]);
  client.receive(many(5_000, () => h2Frame(ping, 0, 0, Buffer.alloc(8))));
  await until(() => client.state.faults.length === 1);
});

it("[GRPC-296] as many again are allowed in time", () => {
  let now = 0;
  const limits = new FloodLimits(() => now);
  const burst = (most: number) => {
    let count = 0;
    try {
      for (; count < most; count++) limits.reset();
    } catch (error) {
      expect(error).toBeInstanceOf(Http2Error);
    }
    return count;
  };
  expect(burst(5_000)).toBe(1_000);
  now += 1_000;
  expect(burst(5_000)).toBe(100);
  now += 60_000;
  expect(burst(5_000)).toBe(1_000);
});
