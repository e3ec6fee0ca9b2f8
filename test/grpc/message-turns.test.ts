import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { Http2Stream } from "../../servers/core/http2/http2-stream.ts";
import { RequestHead } from "../../servers/core/http2/request-head.ts";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import type { CallEvents, CallHead, CallTransport } from "../../servers/grpc/engine/call-transport.ts";
import type { GrpcConnection } from "../../servers/grpc/engine/connections.ts";
import { type BodyReader, FramedBody } from "../../servers/grpc/engine/framed-body.ts";
import { Http2Call } from "../../servers/grpc/engine/http2-call.ts";
import { frameOf } from "../../servers/grpc/engine/message-type.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { compileConditions, PatternSizes } from "../../servers/grpc/replies/conditions.ts";
import { RuleCall } from "../../servers/grpc/replies/perform-rule.ts";
import { RuleCounts } from "../../servers/grpc/replies/rule-counts.ts";
import { TextBody } from "../../servers/grpc/web/body-reader.ts";
import { FramedCall, grpcWebProtocol } from "../../servers/grpc/web/framed-call.ts";
import { Http1Exchange } from "../../servers/grpc/web/web-exchange.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { itemsOfShare, itemsOfTurn, workTime } from "../support/work-time.ts";
import { countSteps } from "./rules.ts";

const limits = { largestMessage: 100_000, metadataBytes: 1_000 } as const;
/** What a connection is for the reader of a call. */
const connectionOf = (work: WorkConnection, add: (bytes: number) => void = () => {}) =>
  ({ work, shares: { memory: { add } }, calls: 0 }) as unknown as GrpcConnection;

interface Reader {
  readonly transport: CallTransport;
  start(events: CallEvents): void;
  receive(bytes: Buffer): unknown;
  readonly isPaused: () => boolean;
}

function http2Reader(connection: GrpcConnection): Reader {
  const head = new RequestHead(["grpc-encoding", "gzip"], undefined);
  const owner = { ready() {}, sendReset() {}, sendWindow() {}, closed() {} };
  const stream = new Http2Stream(1, { contentLength: undefined, heldBytes: 0 }, { receive: 1 << 30, send: 0 }, owner);
  const call = new Http2Call(stream, head, connection, limits);
  return {
    transport: call,
    start: (events) => call.start(events),
    receive: (bytes) => stream.receive(bytes, bytes.length),
    isPaused: () => stream.isPaused,
  };
}

function webReader(connection: GrpcConnection, body: BodyReader = new FramedBody(limits)): Reader {
  const [input, output] = [Object.assign(new PassThrough(), { headers: {}, rawHeaders: [] }), new PassThrough()];
  const call = new FramedCall(grpcWebProtocol("proto", false), {
    exchange: new Http1Exchange(input as never, output as never, connection),
    head: { connection, requestEncoding: "gzip" } as CallHead,
    body,
    largestMessage: limits.largestMessage,
    requestMs: undefined,
  } as never);
  return {
    transport: call,
    start: (events) => call.start(events),
    receive: (bytes) => input.emit("data", bytes),
    isPaused: () => input.isPaused(),
  };
}

const noEvents: CallEvents = {
  onMessage() {},
  onHalfClose() {},
  fail(error) {
    throw error;
  },
  onOver() {},
};

it.each([
  ["gRPC", http2Reader],
  ["gRPC-Web", webReader],
] as const)("[GRPC-181] messages that arrive at once are handled in the turns of all clients, by %s", async (_name, readerOf) => {
  const { turns, pass } = workTime();
  let handled = 0;
  const open = (address: string) => {
    const reader = readerOf(connectionOf(turns.connection(address)));
    const state = { messages: 0 };
    reader.start({
      ...noEvents,
      onMessage() {
        pass();
        handled++;
        state.messages++;
        reader.transport.read();
      },
    });
    reader.transport.read();
    return { reader, state };
  };
  const flood = Buffer.alloc(5 * 5_000);
  const many = Array.from({ length: 20 }, () => open("10.0.0.1"));
  for (const { reader } of many) reader.receive(flood);
  expect(handled).toBeLessThanOrEqual(itemsOfTurn);
  await nextTurn();
  const one = open("10.0.0.2");
  const before = handled;
  one.reader.receive(Buffer.alloc(5 * 300));
  let mostInTurn = handled - before;
  while (one.state.messages < 300) {
    const start = handled;
    await nextTurn();
    mostInTurn = Math.max(mostInTurn, handled - start);
  }
  expect(mostInTurn).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(handled - before).toBeLessThanOrEqual(2 * 300 + 2 * itemsOfTurn);
  // Those that wait are read no further.
  expect(many.some(({ reader }) => reader.isPaused())).toBe(true);
  while (handled < 20 * 5_000 + 300) await nextTurn();
  expect(many.every(({ state }) => state.messages === 5_000)).toBe(true);
});

it("[GRPC-181] the text form of gRPC-Web is decoded in the turns of all clients, a few kilobytes at once", async () => {
  const text = Buffer.from("AA==".repeat(16 << 10));
  const body = new TextBody({ ...limits, largestMessage: 0 });
  body.push(text);
  let steps = 0;
  for (; body.hasNext; steps++) {
    const { length } = body;
    body.next();
    expect(length - body.length).toBeLessThanOrEqual(4 << 10);
  }
  expect(steps).toBeGreaterThanOrEqual(16);
  // Each question takes the time of an item.
  const { turns, pass } = workTime();
  const work = turns.connection("10.0.0.1");
  const join: WorkConnection["join"] = (goOn) => {
    const share = work.join(goOn);
    return {
      get isOver() {
        pass();
        return share.isOver;
      },
      later: () => share.later(),
    };
  };
  const reader = webReader(connectionOf({ ...work, key: work.key, join }), new TextBody(limits));
  let messages = 0;
  reader.start({
    ...noEvents,
    onMessage() {
      messages++;
      reader.transport.read();
    },
  });
  reader.transport.read();
  await nextTurn();
  reader.receive(text);
  expect(messages).toBeLessThanOrEqual(itemsOfShare * 1_024);
  expect(reader.isPaused()).toBe(true);
  const most = Math.floor((16 << 10) / 5);
  for (let turn = 0; messages < most && turn < 1_000; turn++) await nextTurn();
  expect(messages).toBe(most);
});

it.each([
  ["gRPC", http2Reader],
  ["gRPC-Web", webReader],
] as const)(
  "[GRPC-199] long compressed messages are decompressed when it is their turn, and count until then, by %s",
  async (_name, readerOf) => {
    const random = seededRandom(1);
    const message = Buffer.from(Array.from({ length: 20_000 }, () => random.below(256)));
    const short = Buffer.alloc(100);
    const compressed = (content: Buffer) => {
      const frame = frameOf(gzipSync(content));
      frame[0] = 1;
      return frame;
    };
    expect(compressed(message).length).toBeGreaterThan(4 << 10);
    const jobs: (() => void)[] = [];
    const runElsewhere: WorkConnection["runElsewhere"] = async (job) => {
      await new Promise<void>((resolve) => jobs.push(resolve));
      return await job();
    };
    const { turns } = workTime();
    const work = turns.connection("10.0.0.1");
    const join: WorkConnection["join"] = (goOn) => work.join(goOn);
    const run: WorkConnection["run"] = (steps) => work.run(steps);
    let held = 0;
    const received: Buffer[] = [];
    const reader = readerOf(
      connectionOf(
        { key: work.key, isCalm: false, usedMs: 0, join, run, runElsewhere, readLater() {}, wait: () => () => {} },
        (bytes) => (held += bytes),
      ),
    );
    reader.start({
      ...noEvents,
      onMessage({ bytes }) {
        received.push(Buffer.from(bytes));
        reader.transport.read();
      },
    });
    reader.transport.read();
    await nextTurn();
    reader.receive(Buffer.concat([short, message, short].map(compressed)));
    await nextTurn();
    expect([received, jobs.length]).toEqual([[short], 1]);
    expect(held).toBeGreaterThanOrEqual(compressed(message).length - 5);
    jobs[0]?.();
    await until(() => received.length === 3);
    expect(received).toEqual([short, message, short]);
  },
);

it("[GRPC-178] answers of reply rules that are due at once are made in the turns of all clients", async () => {
  const { turns, pass } = workTime();
  const work = turns.connection("10.0.0.1");
  let made = 0;
  const call = { work, isEnding: false, entry: { ruled() {} }, head: { path: "" }, whenOver() {}, send: () => true };
  const rule = { delayMs: () => 0, headers: () => [], trailers: () => [] };
  const reply = () => {
    pass();
    made++;
    return Buffer.alloc(0);
  };
  const rules = new RuleCall(call as never, { counts: new RuleCounts() } as never);
  const chosen = { rule: { ...rule, reply }, match: 1, answer: 1 } as never;
  const answers = Array.from({ length: 1_000 }, (_, index) =>
    index % 2 === 0 ? rules.perform(chosen, {} as never, () => {}) : rules.reply(chosen, {} as never),
  );
  for (let before = 0; made < 1_000; before = made) {
    await nextTurn();
    expect(made - before).toBeLessThanOrEqual(2 * itemsOfTurn);
  }
  expect(await Promise.all(answers)).toEqual(Array(1_000).fill(true));
});

it("[GRPC-178] the messages of a stream are looked through in the turns of all clients", async () => {
  const { turns, pass } = workTime();
  const own = await loadOwnProtos();
  const tests = { message: { equals: "y" } };
  const when = { anyMessage: tests, everyMessage: tests };
  const compiling = compileConditions(when, own.message("example.ClientMessage"), true, () => {}, new PatternSizes());
  const { result: conditions } = countSteps(compiling);
  let read = 0;
  const message = {
    at() {
      pass();
      return read++ < 2_000 ? "x" : "y";
    },
  };
  const messages = Array.from({ length: 3_000 }, () => message);
  let isOver = false;
  const matched = turns.connection("10.0.0.1").run(conditions.messagesMatch({ messages: () => messages }));
  void matched.then(() => (isOver = true));
  for (let before = 0; !isOver; before = read) {
    await nextTurn();
    expect(read - before).toBeLessThanOrEqual(2 * itemsOfTurn);
  }
  expect([await matched, read]).toEqual([true, 5_001]);
});
