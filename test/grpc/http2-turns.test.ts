/** Connections of HTTP/2 in the turns of all clients. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import type { Http2Stream } from "../../servers/core/http2/http2-stream.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { itemsOfShare, itemsOfTurn, workTime } from "../support/work-time.ts";
import { connectionOf } from "./h2-connection.ts";
import { callFields, flags, frameTypes, h2Frame } from "./h2-frames.ts";

const { data, headers, rstStream, settings, ping, windowUpdate, continuation } = frameTypes;
const block = callFields("/a.B/C");
const open = (stream: number) => h2Frame(headers, flags.endHeaders, stream, block);
const whole = (stream: number) => h2Frame(headers, flags.endHeaders | flags.endStream, stream, block);
const many = (count: number, frame: (index: number) => Buffer) => Buffer.concat(Array.from({ length: count }, (_, index) => frame(index)));

type Connection = ReturnType<typeof connectionOf>;

it("[GRPC-193] requests that arrive at once on many connections begin in the turns of all clients, which are read no further until then", async () => {
  const { turns, pass } = workTime();
  let begun = 0;
  const onStream = () => {
    pass();
    begun++;
  };
  const calls = many(100, (index) => whole(2 * index + 1));
  const all = Array.from({ length: 50 }, (_, index) => connectionOf({ turns, address: `10.0.1.${index}`, onStream }));
  const one = connectionOf({ turns, address: "10.0.0.2", onStream });
  for (const { receive } of all) receive(calls);
  expect(begun).toBeLessThanOrEqual(itemsOfTurn);
  expect(all.filter(({ state }) => !state.isReading).length).toBeGreaterThan(40);
  one.receive(whole(1));
  let turnsOfOne = 0;
  for (let before = begun; begun < 50 * 100 + 1; before = begun) {
    await nextTurn();
    expect(begun - before).toBeLessThanOrEqual(2 * itemsOfTurn);
    if (one.state.streams.length === 0) turnsOfOne++;
  }
  expect(turnsOfOne).toBeLessThanOrEqual(2);
  await until(() => all.every(({ state }) => state.isReading && state.waiting === 0));
});

it("[GRPC-309] a client whose frame comes in many pieces takes turns in being read, and its frame comes whole", async () => {
  const { turns } = workTime();
  const client = connectionOf({ turns });
  const frame = whole(1);
  let stops = 0;
  for (const byte of frame) {
    client.receive(Buffer.of(byte));
    if (!client.state.isReading) stops++;
    await until(() => client.state.isReading);
  }
  expect(frame.length).toBeGreaterThan(32);
  expect(stops).toBe(Math.floor((frame.length - 1) / 16));
  await until(() => client.state.streams.length === 1);
});

it("[GRPC-197] messages and resets of one packet take turns, too, and a connection comes after its share", async () => {
  const { turns, pass } = workTime();
  let taken = 0;
  const onStream = (stream: Http2Stream) => {
    stream.reader = {
      onData() {
        pass();
        taken++;
      },
      onEnd() {},
      onClose: pass,
    };
  };
  const busy = connectionOf({ turns, onStream });
  busy.receive(open(1));
  busy.receive(many(5_000, () => h2Frame(data, 0, 1, Buffer.alloc(5))));
  expect(taken).toBeLessThanOrEqual(itemsOfShare + 1);
  expect([busy.state.isReading, busy.state.waiting > 4_000 * 14]).toEqual([false, true]);
  const other = connectionOf({ turns, address: "10.0.0.2", onStream });
  other.receive(Buffer.concat([open(1), h2Frame(data, 0, 1, Buffer.alloc(5))]));
  await nextTurn();
  await nextTurn();
  expect(other.state.waiting).toBe(0);
  for (let before = taken; taken < 5_001; before = taken) {
    await nextTurn();
    expect(taken - before).toBeLessThanOrEqual(2 * itemsOfTurn);
  }
  await until(() => busy.state.isReading && busy.state.waiting === 0);
});

it("[GRPC-198] one that comes during a flood of new connections of its own address does not wait for all of it", async () => {
  const { turns, pass } = workTime();
  let begun = 0;
  const onStream = () => {
    pass();
    begun++;
  };
  const calls = many(250, (index) => whole(2 * index + 1));
  const all = Array.from({ length: 100 }, () => connectionOf({ turns, onStream }));
  for (const { receive } of all) receive(calls);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  const one = connectionOf({ turns, onStream });
  const before = begun;
  one.receive(whole(1));
  while (one.state.streams.length === 0) await nextTurn();
  // All have 25,000.
  expect(begun - before).toBeLessThan(1_500);
  while (begun < 25_001) await nextTurn();
});

it("[GRPC-194] what waits is held, counted, and let go of when the connection is lost or broken off", async () => {
  const { turns, pass } = workTime();
  const flood = many(2_000, () => h2Frame(windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1])));
  for (const end of ["close", "breakOff"] as const) {
    const connection = connectionOf({ turns });
    connection.receive(Buffer.concat([open(1), h2Frame(headers, 0, 3, block)]));
    // With frames that have not left.
    const before = connection.state.waiting;
    expect(before).toBeGreaterThanOrEqual(block.length);
    for (let item = 0; item < 3 * itemsOfTurn; item++) pass();
    connection.receive(flood);
    expect(connection.state.waiting).toBe(before + flood.length);
    if (end === "close") connection.close();
    else connection.connection.breakOff("too much");
    await until(() => connection.state.held === 0 && connection.state.streams[0]?.isClosed === true);
    expect(connection.state.streams.map(({ isClosed, lost }) => [isClosed, lost !== undefined])).toEqual([[true, true]]);
  }
});

it("[GRPC-304] a client that sends little is read on while it waits for its turn", async () => {
  const { turns, pass } = workTime();
  const [little, much, other] = [
    connectionOf({ turns }),
    connectionOf({ turns, address: "10.0.0.2" }),
    connectionOf({ turns, address: "10.0.0.3" }),
  ];
  await nextTurn();
  other.receive(whole(1));
  for (let item = 0; item < 3 * itemsOfTurn; item++) pass();
  little.receive(whole(1));
  much.receive(many(100, (index) => whole(2 * index + 1)));
  expect([little.state.isReading, little.state.streams.length]).toEqual([true, 0]);
  expect([much.state.isReading, much.state.streams.length]).toEqual([false, 0]);
  little.receive(whole(3));
  await until(() => little.state.streams.length === 2 && much.state.streams.length === 100);
  await until(() => much.state.isReading);
});

it("[GRPC-295] a client that reads no answers to its pings is read no further", async () => {
  const { turns } = workTime();
  const deaf = connectionOf({ turns, isDeaf: true });
  deaf.receive(many(900, () => h2Frame(ping, 0, 0, Buffer.alloc(8))));
  expect([deaf.state.writes, deaf.state.faults]).toEqual([0, []]);
  await nextTurn();
  // One write for all that a turn made, and no other before it has left.
  expect(deaf.state.writes).toBe(1);
  const requests = many(256, (index) => whole(2 * index + 1));
  deaf.receive(requests);
  for (const stream of deaf.state.streams) stream.reset(8);
  for (let round = 1; round < 20; round++) deaf.receive(many(50, (index) => whole(2 * (256 * round + index) + 1)));
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  expect(deaf.state.writes).toBe(1);
});

it("[GRPC-297] no frames in whatever order end more than their connection, and nothing is left of it", async () => {
  vi.setConfig({ testTimeout: 60_000 });
  const random = seededRandom(297);
  const { turns } = workTime();
  const payloads = [
    Buffer.alloc(0),
    Buffer.alloc(4),
    Buffer.from([0, 0, 0, 8]),
    Buffer.alloc(5),
    Buffer.alloc(8),
    block,
    Buffer.from([0, 4, 0, 0, 0, 9]),
  ];
  const answer = (stream: Http2Stream) => {
    stream.reader = {
      onData: () => random.chance(0.3) && stream.pause(),
      onEnd: () => stream.end({ "grpc-status": 0 }, true),
      onClose() {},
    } as never;
    if (random.chance(0.5)) stream.respond({ ":status": 200 });
    if (random.chance(0.5)) stream.write(Buffer.alloc(random.below(100_000)), () => random.chance(0.5) && stream.end());
    if (random.chance(0.1)) stream.breakOff(2);
  };
  let faults = 0;
  const seen: Connection[] = [];
  for (let round = 0; round < 400; round++) {
    const client = connectionOf({ turns, address: `10.0.0.${round % 9}`, onStream: answer, isDeaf: random.chance(0.1) });
    seen.push(client);
    for (let left = random.below(60); left > 0; left--) {
      const stream = random.chance(0.7) ? 2 * random.below(6) + 1 : random.below(12);
      const payload = random.chance(0.8)
        ? (payloads[random.below(payloads.length)] as Buffer)
        : Buffer.from(Array.from({ length: random.below(60) }, () => random.below(256)));
      const frame = random.chance(0.4) ? open(2 * (60 - left) + 1) : h2Frame(random.below(11), random.below(256) & 0x2d, stream, payload);
      const cut = random.below(frame.length);
      client.receive(frame.subarray(0, cut));
      client.receive(frame.subarray(cut));
    }
    if (round % 20 === 0) await nextTurn();
    if (random.chance(0.5)) client.close();
  }
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  for (const { close, state } of seen) {
    faults += state.faults.length;
    expect(state.errors).toBe(0);
    close();
  }
  await until(() => seen.every(({ state }) => state.held === 0 && state.streams.every(({ isClosed }) => isClosed)));
  expect(faults).toBeGreaterThan(100);
});

it("[GRPC-300] a stream that is broken off while nothing leaves is open, with what it has not sent, until it can be sent", async () => {
  const { turns } = workTime();
  const deaf = connectionOf({ turns, isDeaf: true });
  await nextTurn();
  deaf.receive(Buffer.concat([h2Frame(settings, 0, 0, Buffer.alloc(0)), many(20, (index) => whole(2 * index + 1))]));
  await until(() => deaf.state.streams.length === 20);
  const before = deaf.state.sent.length;
  for (const stream of deaf.state.streams) {
    stream.respond({ ":status": 200 });
    stream.write(Buffer.alloc(1_000));
    stream.breakOff(2);
  }
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(deaf.state.streams.every(({ isClosed, unsentBytes }) => !isClosed && unsentBytes === 1_000)).toBe(true);
  expect(deaf.state.sent.length).toBe(before);
  const reader = connectionOf({ turns });
  reader.receive(Buffer.concat([h2Frame(settings, 0, 0, Buffer.alloc(0)), whole(1)]));
  await until(() => reader.state.streams.length === 1);
  const [stream] = reader.state.streams;
  stream?.respond({ ":status": 200 });
  stream?.write(Buffer.from("the message"));
  stream?.breakOff(2);
  await until(() => stream?.isClosed);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  const all = Buffer.concat(reader.state.sent);
  const reset = h2Frame(rstStream, 0, 1, Buffer.from([0, 0, 0, 2]));
  expect(all.indexOf("the message")).toBeGreaterThan(0);
  expect(all.indexOf(reset)).toBeGreaterThan(all.indexOf("the message"));
});

it("[GRPC-301] frames wait behind a long header block, which is read in the turns of all, and calls behind it are served", async () => {
  const { turns } = workTime();
  const client = connectionOf({ turns });
  const fields = Buffer.alloc(15_000, 0x82);
  const frames = [
    h2Frame(settings, 0, 0, Buffer.alloc(0)),
    h2Frame(headers, 0, 1, block),
    h2Frame(continuation, flags.endHeaders, 1, fields),
    whole(3),
  ];
  client.receive(Buffer.concat(frames));
  await until(() => client.state.streams.length === 1);
  expect([client.state.streams[0]?.id, client.state.faults]).toEqual([3, []]);
});
