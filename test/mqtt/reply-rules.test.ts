import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { MqttReplyRule } from "../../contract/services/mqtt-reply.ts";
import type { Log } from "../../servers/core/service/log.ts";
import { DueReplies } from "../../servers/mqtt/demo/due-replies.ts";
import { createReplyRulesFile, openReplyRules, type ReplyRulesFile } from "../../servers/mqtt/demo/reply-rules.ts";
import { compileTemplate } from "../../servers/mqtt/demo/reply-template.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { countAnswer } from "../../servers/mqtt/engine/routing/route-message.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

const broadcasts = { isIdle: true, whenIdle: (act: () => void) => act() };
const messageOf = (payload: string, publisherAddress = "") => {
  const message = new Message({ topic: "ask", payload: Buffer.from(payload), qos: 0, retain: false });
  message.publisherAddress = publisherAddress;
  return message;
};
const rule: Omit<MqttReplyRule, "answered" | "dropped"> = {
  id: "one",
  filter: "ask",
  when: { type: "any payload" },
  enabled: true,
  topic: "answer",
  payload: "{payload}",
  qos: 0,
  retain: false,
  delayMs: 0,
  properties: {},
  takesCorrelationData: true,
};

async function openRules(
  more: Partial<MqttReplyRule>,
  mostPayloadBytes: number,
  publish: (reply: Message, message: Message) => void,
  file: Partial<ReplyRulesFile> = {},
) {
  const warnings: string[] = [];
  const replies = await openReplyRules({
    file: { read: async () => [{ ...rule, ...more }], write: async () => {}, ...file },
    publish,
    scheduler: { isTurnOver: () => false, whenWritten: (resume) => void setImmediate(resume) },
    broadcasts,
    mostBytes: 1 << 20,
    mostPayloadBytes,
    log: { warning: (text) => void warnings.push(text) },
  });
  onTestFinished(() => replies.close());
  return { replies, warnings };
}

it("[MQTT-344] replies that are due together are published over several turns, in order", async () => {
  const resumes: (() => void)[] = [];
  const published: number[] = [];
  let mostOfTurn = 10;
  const scheduler = { isTurnOver: () => published.length >= mostOfTurn, whenWritten: (resume: () => void) => void resumes.push(resume) };
  const due = new DueReplies({ scheduler, broadcasts, mostBytes: 1 << 20 });
  onTestFinished(() => due.close());
  // The fifteenth is much to write.
  for (let index = 0; index < 25; index++) due.add(messageOf(""), 1, () => published.push(index) === 15);
  await expect.poll(() => resumes.length, { interval: 1 }).toBe(1);
  expect(published).toHaveLength(10);
  mostOfTurn = 100;
  resumes.shift()?.();
  expect(published).toHaveLength(15);
  resumes.shift()?.();
  expect(published).toEqual(Array.from({ length: 25 }, (_, index) => index));
  expect(resumes).toEqual([]);
});

it("[MQTT-344] messages whose replies wait take bounded memory, of which each address has its share", async () => {
  const published: string[] = [];
  const due = new DueReplies({ scheduler: { isTurnOver: () => false, whenWritten: () => {} }, broadcasts, mostBytes: 100_000 });
  onTestFinished(() => due.close());
  const add = (address: string, delayMs = 60_000) =>
    due.add(messageOf("x".repeat(10_000), address), delayMs, () => {
      published.push(address);
      return false;
    });
  const added = (address: string) => {
    let count = 0;
    while (add(address)) count++;
    return count;
  };
  expect(add("much", 1)).toBe(true);
  expect(added("much")).toBe(8);
  expect(added("other")).toBe(4);
  await expect.poll(() => published).toEqual(["much"]);
  expect(add("other")).toBe(false);
});

it("[MQTT-475] a value that is nested too deeply to be compared equals nothing", async () => {
  const answers: string[] = [];
  const { replies } = await openRules({ when: { type: "JSON field equals", field: "a", value: "[1]" } }, 1_000, (reply) => {
    answers.push(reply.payload.toString());
  });
  replies.onMessage(messageOf(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`));
  replies.onMessage(messageOf('{"a":[1]}'));
  expect(answers).toEqual(['{"a":[1]}']);
});

it("[MQTT-344] a reply is not made larger than a packet may be, which is logged", async () => {
  const published: string[] = [];
  const { replies, warnings } = await openRules({ payload: "{payload}{topic}{payload}" }, 9_999, ({ payload }) =>
    published.push(payload.toString()),
  );
  replies.onMessage(messageOf("{topic}ä"));
  replies.onMessage(messageOf("x".repeat(5_000)));
  expect(published).toEqual(["{topic}äask{topic}ä"]);
  expect(warnings).toEqual(["1 auto-reply dropped: the payload would have more bytes than a packet may (MQTT_PACKET_BYTES, 9,999)."]);
  expect(replies.list()).toEqual([{ ...rule, payload: "{payload}{topic}{payload}", answered: 1, dropped: 1 }]);
  const fills = compileTemplate("{payload}".repeat(100_000));
  expect(fills(messageOf("x".repeat(1_000_000)), 1 << 20)).toBeUndefined();
});

it("[MQTT-344] what is published at once in answer to a message counts as work of who published it", async () => {
  const { engine, bus } = await startEngine();
  for (let index = 0; index < 50; index++) new MemoryClient(engine, `reader ${index}`).subscribe("answer");
  await expect.poll(() => engine.counters.subscriptions).toBe(51);
  const { replies } = await openRules({}, 1 << 20, (reply, message) => {
    engine.publishInternal(reply);
    countAnswer(message, reply);
  });
  bus.onMessage((message) => replies.onMessage(message));
  const message = messageOf("x".repeat(100_000));
  engine.publishInternal(message);
  expect(message.answerSteps).toBeGreaterThan(50 + 100_000 / 1_000);
  expect(message.answersAreMuch).toBe(true);
});

it("[MQTT-507] rules that cannot be saved are refused, and stay as they are; the next ones are saved", async () => {
  const folder = temporaryDir();
  const file = createReplyRulesFile(folder, { warning() {} } as unknown as Log);
  let mayWrite = true;
  const write: ReplyRulesFile["write"] = (rules) => (mayWrite ? Promise.resolve() : file.write(rules));
  const published: string[] = [];
  const { replies } = await openRules({}, 1_000, ({ payload }) => published.push(payload.toString()), { write });
  // No file can take the place of a folder, whoever runs this.
  mkdirSync(path.join(folder, "reply-rules.json"));
  mayWrite = false;
  const refused = { code: "SETTINGS_UNWRITABLE", message: expect.stringContaining("reply-rules.json") };
  await expect(replies.save({ ...rule, payload: "changed" })).rejects.toMatchObject(refused);
  await expect(replies.save({ ...rule, id: "two" })).rejects.toMatchObject(refused);
  await expect(replies.remove("one")).rejects.toMatchObject(refused);
  replies.onMessage(messageOf("as before"));
  await expect.poll(() => published).toEqual(["as before"]);
  expect(replies.list()).toEqual([{ ...rule, answered: 1, dropped: 0 }]);
  mayWrite = true;
  const [changed, added] = await Promise.all([replies.save({ ...rule, payload: "changed" }), replies.save({ ...rule, id: "two" })]);
  expect([changed.answered, added.id]).toEqual([1, "two"]);
  expect(replies.list().map(({ id, payload }) => [id, payload])).toEqual([
    ["one", "changed"],
    ["two", "{payload}"],
  ]);
  expect([await replies.remove("two"), await replies.remove("two")]).toEqual([true, false]);
});
