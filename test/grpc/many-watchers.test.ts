import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import type { CallHandler } from "../../servers/grpc/engine/grpc-call.ts";
import type { MessageSink } from "../../servers/grpc/engine/message-sink.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { chat } from "../../servers/grpc/services/chat.ts";
import { Health, healthService } from "../../servers/grpc/services/health.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

const own = await loadOwnProtos();

/** A call of a client that sends what it is told to. */
function openCall(begin: CallHandler | undefined, work: WorkConnection, onSent = () => {}) {
  let sink: MessageSink | undefined;
  const sent: Buffer[] = [];
  const call = {
    work,
    isEnding: false,
    held: { add() {} },
    receive: (one: MessageSink) => (sink = one),
    run: (step: () => void) => step(),
    whenOver() {},
    read() {},
    readWhenWritable() {},
    sendHeaders() {},
    finish() {},
    send(frame: Buffer) {
      onSent();
      sent.push(frame);
    },
  };
  void begin?.(call as never);
  return { sent, message: (bytes: Uint8Array) => sink?.message(bytes), halfClose: () => sink?.halfClose() };
}

it("[GRPC-21] thousands of watchers are told in the turns of all clients, each of the newest state", async () => {
  const { turns, pass } = workTime();
  const health = new Health(() => {});
  const watch = healthService(health, own)["grpc.health.v1.Health"]?.Watch;
  let sent = 0;
  const calls = Array.from({ length: 2_000 }, (_, index) =>
    openCall(watch, turns.connection(`10.0.0.${index % 10}`), () => {
      pass();
      sent++;
    }),
  );
  for (const call of calls) {
    call.message(Buffer.alloc(0));
    call.halfClose();
  }
  while (sent < 2_000) await nextTurn();
  sent = 0;
  health.set("", "NOT_SERVING");
  let mostInTurn = sent;
  while (sent < 2_000) {
    const before = sent;
    await nextTurn();
    mostInTurn = Math.max(mostInTurn, sent - before);
  }
  expect(mostInTurn).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(calls.every((call) => call.sent.at(-1)?.at(-1) === 2)).toBe(true);
});

it("[GRPC-182] ListRooms lists no more members than it can answer with at once", () => {
  const { Chat, ListRooms } = chat(own)["example.ChatService"] ?? {};
  const { turns, pass } = workTime();
  const text = (number: number, content: string) => Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), Buffer.from(content)]);
  const join = (room: string, name: string) => {
    const inner = Buffer.concat([text(1, room), text(2, name)]);
    return Buffer.concat([Buffer.from([0x0a, inner.length]), inner]);
  };
  const list = () => {
    const call = openCall(ListRooms, turns.connection("10.0.0.1"), pass);
    call.message(Buffer.alloc(0));
    call.halfClose();
    return call.sent.length;
  };
  const members = Array.from({ length: 41 }, () => openCall(Chat, turns.connection("10.0.0.1")));
  for (const [index, member] of members.entries()) {
    if (index === 40) expect(list()).toBe(1);
    for (let room = 0; room < 25; room++) void member.message(join(`room ${room}`, `${index}`));
  }
  expect(list).toThrow("there are more than 1000 members");
});

it("[GRPC-20] the states of thousands of services are shown as one change", () => {
  let shown = 0;
  const health = new Health(() => shown++);
  const services = Array.from({ length: 5_000 }, (_, index) => `a.S${index}`);
  health.serve(services);
  health.serve(services.slice(1_000));
  expect([shown, health.states().length, health.state("a.S0")]).toEqual([2, 4_001, "SERVICE_UNKNOWN"]);
  health.stop();
  expect([shown, health.state("a.S4999")]).toEqual([3, "NOT_SERVING"]);
});
