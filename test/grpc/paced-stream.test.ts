import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import type { GrpcCall } from "../../servers/grpc/engine/grpc-call.ts";
import { paceStream } from "../../servers/grpc/services/paced-stream.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

/** What a stream does with its call. */
class CallDouble {
  readonly work: WorkConnection;
  readonly sent: number[] = [];
  readonly errors: unknown[] = [];
  isWritable = true;
  isEnding = false;
  #writable: (() => void) | undefined;

  readonly #pass: () => void;

  constructor({ turns, pass } = workTime(), work = turns.connection("10.0.0.1")) {
    this.work = work;
    this.#pass = pass;
  }

  sendHeaders(): void {}
  whenOver(): void {}

  whenWritable(step: () => void): void {
    this.#writable = step;
  }

  get waits(): boolean {
    return this.#writable !== undefined;
  }

  read(): void {
    const step = this.#writable;
    this.#writable = undefined;
    this.isWritable = true;
    step?.();
  }

  finish(): void {
    this.isEnding = true;
  }

  run(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.errors.push(error);
      this.isEnding = true;
    }
  }

  stream(count: number, intervalMs = 0, send = (number: number) => void this.sent.push(number)): void {
    paceStream({
      call: this as unknown as GrpcCall,
      first: 1,
      count,
      intervalMs,
      send: (number) => {
        this.#pass();
        send(number);
        return this.isWritable;
      },
    });
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it("[GRPC-176] all streams together send no more than a slice in a turn of the event loop, and each sends all", async () => {
  const time = workTime();
  const calls = Array.from({ length: 50 }, () => new CallDouble(time));
  const sent = () => calls.reduce((sum, call) => sum + call.sent.length, 0);
  for (const call of calls) call.stream(100);
  let before = 0;
  const ofTurns: number[] = [];
  while (!calls.every(({ isEnding }) => isEnding)) {
    ofTurns.push(sent() - before);
    before = sent();
    await nextTurn();
  }
  expect(Math.max(...ofTurns)).toBeLessThanOrEqual(itemsOfTurn);
  for (const call of calls) expect(call.sent).toEqual(upTo(100));
});

it("[GRPC-176] a thousand streams of one connection have one place beside the stream of another", async () => {
  for (const address of ["10.0.0.1", "10.0.0.2"]) {
    const time = workTime();
    const many = time.turns.connection("10.0.0.1");
    const calls = Array.from({ length: 1_000 }, () => new CallDouble(time, many));
    for (const call of calls) call.stream(1_000);
    const sent = () => calls.reduce((sum, call) => sum + call.sent.length, 0);
    const one = new CallDouble(time, time.turns.connection(address));
    const before = sent();
    let ofOthers = 0;
    one.stream(500, 0, () => {
      ofOthers = sent() - before;
    });
    await until(() => one.isEnding);
    expect(ofOthers).toBeLessThanOrEqual(500 + itemsOfTurn);
    time.turns.close();
  }
});

it("[GRPC-176] a stream whose client does not read waits, and the others go on", async () => {
  const time = workTime();
  const [slow, other] = [new CallDouble(time), new CallDouble(time)];
  slow.stream(200, 0, (number) => {
    slow.sent.push(number);
    if (number % 60 === 0) slow.isWritable = false;
  });
  other.stream(1_000);
  await until(() => other.isEnding);
  expect(slow.sent).toEqual(upTo(60));
  for (const count of [120, 180]) {
    slow.read();
    await until(() => slow.waits);
    expect(slow.sent).toEqual(upTo(count));
  }
  slow.read();
  await until(() => slow.isEnding);
  expect(slow.sent).toEqual(upTo(200));
});

it("[GRPC-176] a stream that fails or whose call ends sends no more", async () => {
  const time = workTime();
  const [failing, ending, other] = [new CallDouble(time), new CallDouble(time), new CallDouble(time)];
  failing.stream(1_000, 0, (number) => {
    if (number === 7) throw new Error("seven");
    failing.sent.push(number);
  });
  ending.stream(1_000, 0, (number) => {
    ending.sent.push(number);
    ending.isEnding = number === 9;
  });
  other.stream(1_000, 0.001);
  await until(() => other.isEnding);
  expect([failing.sent, ending.sent, other.sent]).toEqual([upTo(6), upTo(9), upTo(1_000)]);
  expect(failing.errors).toEqual([new Error("seven")]);
});
