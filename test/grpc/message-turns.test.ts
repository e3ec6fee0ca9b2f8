import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { WorkConnection } from "../../servers/core/service/work-turns.ts";
import type { CallEvents, CallHead, CallTransport } from "../../servers/grpc/engine/call-transport.ts";
import type { GrpcConnection } from "../../servers/grpc/engine/connections.ts";
import { FramedBody } from "../../servers/grpc/engine/framed-body.ts";
import { Http2Call } from "../../servers/grpc/engine/http2-call.ts";
import { RuleCall } from "../../servers/grpc/replies/perform-rule.ts";
import { FramedCall, grpcWebProtocol } from "../../servers/grpc/web/framed-call.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

const limits = { largestMessage: 1_000, malformed: "INTERNAL", metadataBytes: 1_000 } as const;
/** What a connection is for the reader of a call. */
const connectionOf = (work: WorkConnection) => ({ work, shares: { received: { add() {} } }, calls: 0 }) as unknown as GrpcConnection;

interface Reader {
  readonly transport: CallTransport;
  start(events: CallEvents): void;
  receive(bytes: Buffer): void;
  readonly isPaused: () => boolean;
}

function http2Reader(work: WorkConnection): Reader {
  let isPaused = true;
  const stream = Object.assign(new EventEmitter(), {
    isPaused: () => isPaused,
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
  });
  const call = new Http2Call({ stream: stream as never, headers: {}, rawHeaders: [] }, connectionOf(work), limits);
  return {
    transport: call,
    start: (events) => call.start(events),
    receive: (bytes) => stream.emit("data", bytes),
    isPaused: () => isPaused,
  };
}

function webReader(work: WorkConnection): Reader {
  const input = new PassThrough();
  const call = new FramedCall(grpcWebProtocol("proto", false), {
    exchange: { input, output: new PassThrough() },
    head: { connection: connectionOf(work) } as CallHead,
    body: new FramedBody(limits),
    largestMessage: 1_000,
    requestMs: undefined,
  } as never);
  return {
    transport: call,
    start: (events) => call.start(events),
    receive: (bytes) => input.emit("data", bytes),
    isPaused: () => input.isPaused(),
  };
}

it.each([
  ["gRPC", http2Reader],
  ["gRPC-Web", webReader],
] as const)("[GRPC-181] messages that arrive at once are handled in the turns of all clients, by %s", async (_name, readerOf) => {
  const { turns, pass } = workTime();
  let handled = 0;
  const open = (address: string) => {
    const reader = readerOf(turns.connection(address));
    const state = { messages: 0 };
    reader.start({
      onMessage() {
        pass();
        handled++;
        state.messages++;
        reader.transport.read();
      },
      onHalfClose() {},
      fail(error) {
        throw error;
      },
      onOver() {},
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
  const rules = new RuleCall(call as never, {} as never);
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
