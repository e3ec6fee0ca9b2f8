import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import type { GrpcCall } from "../../servers/grpc/engine/grpc-call.ts";
import type { ScriptStep } from "../../servers/grpc/replies/compile-rule.ts";
import { CallWaits, playScript } from "../../servers/grpc/replies/play-script.ts";
import { Releases } from "../../servers/grpc/replies/releases.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

const message: ScriptStep = { kind: "message", message: () => Buffer.alloc(5) };
const repeated = (times: number, steps: readonly ScriptStep[]): ScriptStep => ({ kind: "repeat", times, steps });

function play(work: WorkConnection, onSent: () => void, steps: readonly ScriptStep[]) {
  const state = { sent: 0, isEnding: false, isOver: false };
  const call = {
    work,
    get isEnding() {
      return state.isEnding;
    },
    isWritable: true,
    whenOver() {},
    sendHeaders() {},
    send() {
      state.sent++;
      onSent();
    },
  } as unknown as GrpcCall;
  const releases = new Releases({ each: async () => {} }, () => {});
  const over = playScript({
    call,
    waits: new CallWaits(call, releases),
    releases,
    steps,
    scope: {} as never,
    onSent: () => {},
    end: () => {},
  });
  return { state, over };
}

it("[GRPC-176] the scripts of all calls together send no more than a slice in a turn of the event loop, each to its end", async () => {
  const { turns, pass } = workTime();
  let sent = 0;
  const onSent = () => {
    pass();
    sent++;
  };
  const calls = Array.from({ length: 200 }, (_, index) => {
    const work = turns.connection(`10.0.0.${index % 10}`);
    return play(work, onSent, [message, repeated(20, [message, { kind: "pause", ms: 0 }, repeated(4, [message])])]);
  });
  let mostInTurn = sent;
  let isDone = false;
  const all = Promise.all(calls.map(({ over }) => over)).then((goesOn) => {
    isDone = true;
    return goesOn;
  });
  while (!isDone) {
    const before = sent;
    await nextTurn();
    mostInTurn = Math.max(mostInTurn, sent - before);
  }
  // Between two looks there may be parts of two turns.
  expect(mostInTurn).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(new Set(await all)).toEqual(new Set([true]));
  expect(calls.every(({ state }) => state.sent === 101)).toBe(true);
});

it("[GRPC-176] a script ends with its call, also while it waits for its turn", async () => {
  const { turns, pass } = workTime();
  const { state, over } = play(turns.connection("10.0.0.1"), pass, [repeated(1_000_000, [message])]);
  await nextTurn();
  state.isEnding = true;
  expect(await over).toBe(false);
  expect(state.sent).toBeLessThan(1_000);
});
