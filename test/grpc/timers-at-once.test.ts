import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import type { SentEnd } from "../../servers/grpc/engine/call-transport.ts";
import { FramedBody } from "../../servers/grpc/engine/framed-body.ts";
import { GrpcCall, type GrpcCallOptions } from "../../servers/grpc/engine/grpc-call.ts";
import { JsonThread } from "../../servers/grpc/engine/json-thread.ts";
import { CallWaits } from "../../servers/grpc/replies/play-script.ts";
import { Releases } from "../../servers/grpc/replies/releases.ts";
import { FramedCall, grpcWebProtocol } from "../../servers/grpc/web/framed-call.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

const calls = 1_000;
const none = { amount: 0, add() {}, set() {}, leave() {}, close() {} };
const shares = { open: none, memory: none, garbage: { drop() {} } };

const options: GrpcCallOptions = {
  limits: { highWaterBytes: 1, unreadBytes: 1, messageValues: 1 },
  jsonThread: new JsonThread({ messageBytes: 1 }),
  coding: "identity",
  behaviour: { longestDelayMs: 60_000, readDetails: () => () => Buffer.alloc(0) },
  onFault(_call, error) {
    throw error;
  },
  onOver() {},
};

interface OpenedCall {
  readonly work: WorkConnection;
  readonly rawHeaders?: readonly string[];
  readonly timeoutMs?: number;
  /** Called when it does what it is to be seen doing. */
  readonly onDone: () => void;
}

function openCall({ work, rawHeaders = [], timeoutMs, onDone }: OpenedCall) {
  const transport = {
    head: { connection: { work, shares }, rawHeaders, timeoutMs, codec: "proto", acceptEncoding: "", path: "/a.B/C" },
    read() {},
    sendHeaders() {},
    end: onDone,
    abandonUnread: onDone,
  };
  const entry = { at: Date.now(), answered() {}, headBytes: 0 };
  const method = { pattern: "bidi stream", descriptor: {} };
  return new GrpcCall({ transport, method, entry, handler: onDone } as never, options);
}

function openWebCall({ work, onDone }: OpenedCall): void {
  const events = { fail: onDone, onMessage() {}, onHalfClose() {}, onOver(_end: SentEnd) {} };
  new FramedCall(grpcWebProtocol("proto", false), {
    exchange: { read() {}, resume() {} },
    head: { connection: { work, shares }, requestEncoding: "identity" },
    body: new FramedBody({ largestMessage: 100 }),
    largestMessage: 100,
    requestMs: 20,
  } as never).start(events);
}

/** Until all of them are done. */
async function mostInTurn(done: () => number): Promise<number> {
  let most = 0;
  for (let looks = 0; done() < calls && looks < 5_000; looks++) {
    const before = done();
    await nextTurn();
    most = Math.max(most, done() - before);
  }
  return most;
}

const opening: Readonly<Record<string, (opened: OpenedCall) => void>> = {
  "deadlines pass": (opened) => void openCall({ ...opened, timeoutMs: 20 }),
  "delays are over": (opened) => openCall({ ...opened, rawHeaders: ["x-backlot-delay", "20ms"] }).begin(),
  "calls with a status have waited for their request": (opened) =>
    openCall({ ...opened, rawHeaders: ["x-backlot-status", "UNAVAILABLE"] }).begin(),
  "requests did not arrive in time": openWebCall,
};

it.each(Object.entries(opening))(
  "[GRPC-185] what is due for thousands of calls at once is done in the turns of all clients: %s",
  async (_name, open) => {
    const { turns, pass } = workTime();
    let done = 0;
    const onDone = () => {
      pass();
      done++;
    };
    for (let call = 0; call < calls; call++) open({ work: turns.connection(`10.0.0.${call % 10}`), onDone });
    // All of them are due before the event loop looks again.
    const until = performance.now() + 50;
    while (performance.now() < until);
    expect([(await mostInTurn(() => done)) <= 2 * itemsOfTurn, done]).toEqual([true, calls]);
  },
);

it("[GRPC-185] calls whose last bytes are unread for too long are reset in those turns, too", async () => {
  const { turns, pass } = workTime();
  let done = 0;
  const work = turns.connection("10.0.0.1");
  const onDone = () => {
    pass();
    done++;
  };
  const opened = Array.from({ length: calls }, () => openCall({ work, onDone }));
  for (const call of opened) call.finish();
  done = 0;
  await nextTurn();
  for (const call of opened) call.abandonUnread();
  const atOnce = done;
  expect(Math.max(atOnce, await mostInTurn(() => done))).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(done).toBe(calls);
});

it("[GRPC-357] thousands of calls that wait for a name go on in the turns of all clients", async () => {
  const { turns, pass } = workTime();
  const releases = new Releases(turns, () => {});
  let done = 0;
  for (let row = 0; row < calls; row++) {
    const call = {
      work: turns.connection(`10.0.0.${row % 10}`),
      entry: { id: row },
      head: { path: "/a.B/C" },
      isEnding: false,
      whenOver() {},
    };
    void new CallWaits(call as never, releases).released("all").then(() => {
      pass();
      done++;
    });
  }
  expect([releases.release("all"), releases.list(1)]).toEqual([calls, []]);
  expect([(await mostInTurn(() => done)) <= 2 * itemsOfTurn, done]).toEqual([true, calls]);
});
