import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { DeliveryTurns, sliceDeliveries } from "../../servers/core/streams/delivery-turns.ts";
import type { GrpcCall } from "../../servers/grpc/engine/grpc-call.ts";
import { paceStream } from "../../servers/grpc/services/paced-stream.ts";
import { until } from "../support/until.ts";

/** What a stream does with its call. */
class CallDouble {
  readonly turns: DeliveryTurns;
  readonly sent: number[] = [];
  readonly errors: unknown[] = [];
  isWritable = true;
  isEnding = false;
  #writable: (() => void) | undefined;

  constructor(turns: DeliveryTurns) {
    this.turns = turns;
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
        send(number);
        return this.isWritable;
      },
    });
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it("[GRPC-176] all streams together send no more than a slice in a turn of the event loop, and each sends all", async () => {
  const turns = new DeliveryTurns();
  const calls = Array.from({ length: 50 }, () => new CallDouble(turns));
  const sent = () => calls.reduce((sum, call) => sum + call.sent.length, 0);
  for (const call of calls) call.stream(100);
  let before = 0;
  const ofTurns: number[] = [];
  while (!calls.every(({ isEnding }) => isEnding)) {
    ofTurns.push(sent() - before);
    before = sent();
    await nextTurn();
  }
  expect(Math.max(...ofTurns)).toBeLessThanOrEqual(2 * sliceDeliveries);
  for (const call of calls) expect(call.sent).toEqual(upTo(100));
});

it("[GRPC-176] a stream whose client does not read waits, and the others go on", async () => {
  const turns = new DeliveryTurns();
  const [slow, other] = [new CallDouble(turns), new CallDouble(turns)];
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
  const turns = new DeliveryTurns();
  const [failing, ending, other] = [new CallDouble(turns), new CallDouble(turns), new CallDouble(turns)];
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
