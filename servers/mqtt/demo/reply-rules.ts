import { randomUUID } from "node:crypto";
import { rename } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { type MqttReplyCondition, type MqttReplyRule, replyRule } from "../../../contract/services/mqtt-reply.ts";
import type { MqttMessageProperties } from "../../../contract/traffic/mqtt.ts";
import { writeSettings } from "../../core/files/atomic-file.ts";
import { readRegularFile } from "../../core/files/regular-file.ts";
import type { Log } from "../../core/service/log.ts";
import { countOf, countText } from "../../core/service/quantity.ts";
import { decodeForwarded } from "../codec/properties.ts";
import { isReservedTopic, isTopicName, topicMatches } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";
import { isMuch } from "../engine/routing/route-message.ts";
import { DueReplies, type DueRepliesOptions } from "./due-replies.ts";
import { propertyFields } from "./recorded-line.ts";
import { compileTemplate, type ReplyTemplate } from "./reply-template.ts";

export interface ReplyRules {
  list(): readonly MqttReplyRule[];
  /** Takes effect when the rule is on disk. Throws SETTINGS_UNWRITABLE, as `remove` does, and nothing is changed then. */
  save(rule: Omit<MqttReplyRule, "id" | "answered" | "dropped"> & { readonly id?: string | undefined }): Promise<MqttReplyRule>;
  remove(id: string): Promise<boolean>;
  /** Answers a message according to the rules that match its topic and payload. */
  onMessage(message: Message): void;
  close(): Promise<void>;
}

export interface ReplyRulesOptions extends DueRepliesOptions {
  readonly file: ReplyRulesFile;
  /** Publishes the reply to the message. */
  readonly publish: (reply: Message, message: Message) => void;
  /** Of a reply's payload. */
  readonly mostPayloadBytes: number;
  readonly log: Pick<Log, "warning">;
}

interface Rule extends MqttReplyRule {
  answered: number;
  dropped: number;
  readonly topicTemplate: ReplyTemplate;
  readonly payloadTemplate: ReplyTemplate;
}

const noCounts = { answered: 0, dropped: 0 };
const mostTopicBytes = 65_535;
const dropsLoggedEveryMs = 10_000;
/** Of properties, and of a payload whose JSON is read or that is put into replies: as much work as a delivery. */
const payloadBytesOfStep = 256;

/** Loads the saved rules. */
export async function openReplyRules({ file, publish, mostPayloadBytes, log, ...due }: ReplyRulesOptions): Promise<ReplyRules> {
  const rules = new Map<string, Rule>();
  const compiled = (rule: Omit<MqttReplyRule, "answered" | "dropped">, counts: Pick<MqttReplyRule, "answered" | "dropped">): Rule => ({
    ...rule,
    answered: counts.answered,
    dropped: counts.dropped,
    topicTemplate: compileTemplate(rule.topic),
    payloadTemplate: compileTemplate(rule.payload),
  });
  for (const rule of await file.read()) rules.set(rule.id, compiled(rule, noCounts));
  const delayed = new DueReplies(due);
  let dropped = 0;
  let dropsLoggedAt = Number.NEGATIVE_INFINITY;

  const shown = ({ topicTemplate: _, payloadTemplate: _1, ...rule }: Rule): MqttReplyRule => rule;
  let changing: Promise<unknown> = Promise.resolve();

  /** The rule of this identifier is another one then, or none. One change after the other. */
  function change(id: string, rule: Rule | undefined): Promise<void> {
    const changed = changing.then(async () => {
      const next = new Map(rules);
      if (rule) next.set(id, rule);
      else next.delete(id);
      await file.write([...next.values()].map(shown).map(({ answered: _, dropped: _1, ...saved }) => saved));
      // Of what it has answered meanwhile.
      const { answered, dropped: drops } = rules.get(id) ?? noCounts;
      if (rule) rules.set(id, Object.assign(rule, { answered, dropped: drops }));
      else rules.delete(id);
    });
    changing = changed.catch(() => {});
    return changed;
  }

  function drop(rule: Rule, why: string): void {
    rule.dropped++;
    dropped++;
    if (performance.now() - dropsLoggedAt < dropsLoggedEveryMs) return;
    log.warning(`${countOf(dropped, "auto-reply", "auto-replies")} dropped: ${why}`);
    dropped = 0;
    dropsLoggedAt = performance.now();
  }

  /** True if what it has published is much to write. */
  function answer(rule: Rule, message: Message): boolean {
    const properties = decodeForwarded(message.forwarded);
    const topic = rule.topic === "" ? properties?.responseTopic : rule.topicTemplate(message, mostTopicBytes)?.toString();
    if (topic === undefined || !isTopicName(topic) || isReservedTopic(topic)) return false;
    const payload = rule.payloadTemplate(message, mostPayloadBytes);
    if (!payload) {
      drop(rule, `the payload would have more bytes than a packet may (MQTT_PACKET_BYTES, ${countText(mostPayloadBytes)}).`);
      return false;
    }
    rule.answered++;
    const correlation = rule.takesCorrelationData ? properties?.correlationData : undefined;
    const { qos, retain } = rule;
    const set = { ...rule.properties, ...(correlation && { correlationData: correlation.toString("base64") }) };
    const reply = new Message({ topic, payload, qos, retain, ...propertyFields(set as MqttMessageProperties) });
    publish(reply, message);
    return isMuch(reply.matched, payload.length);
  }

  function reply(rule: Rule, message: Message): void {
    if (rule.delayMs === 0) answer(rule, message);
    else if (!delayed.add(message, rule.delayMs, () => answer(rule, message)))
      drop(rule, "those that wait take the memory that there is for them (MQTT_MEMORY_BYTES).");
  }

  return {
    list: () => [...rules.values()].map(shown),
    async save({ id = randomUUID(), ...rule }) {
      const saved = compiled({ ...rule, id }, noCounts);
      await change(id, saved);
      return shown(saved);
    },
    async remove(id) {
      if (!rules.has(id)) return false;
      await change(id, undefined);
      return true;
    },
    onMessage(message) {
      // Answering answers would be an endless loop.
      if (rules.size === 0 || message.internalSource === "reply rule") return;
      const holds = conditionsOf(message.payload);
      for (const rule of rules.values()) {
        if (!rule.enabled || !topicMatches(rule.filter, message.topic)) continue;
        message.answerSteps += (message.payload.length + message.forwarded.length) / payloadBytesOfStep;
        if (holds(rule.when)) reply(rule, message);
      }
    },
    async close() {
      delayed.close();
      await changing;
    },
  };
}

const noJson = Symbol("no JSON");

/** Checks whether rules match a message's payload, which is parsed only if a rule needs it, and then once for all rules. */
function conditionsOf(payload: Buffer): (when: MqttReplyCondition) => boolean {
  let parsed: unknown;
  let isParsed = false;
  const json = () => {
    if (!isParsed) parsed = parseJson(payload);
    isParsed = true;
    return parsed;
  };
  return (when) => {
    switch (when.type) {
      case "any payload":
        return true;
      case "text contains":
        return payload.includes(when.text);
      case "JSON field equals":
        return textOf(fieldOf(json(), when.field)) === when.value;
      default:
        return when satisfies never;
    }
  };
}

function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString("utf8"));
  } catch {
    return noJson;
  }
}

function fieldOf(json: unknown, field: string): unknown {
  if (field === "" || json === noJson) return json;
  let value = json;
  for (const name of field.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return noJson;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Undefined if there is no such field, or its value is nested too deeply for a text. */
function textOf(value: unknown): string | undefined {
  if (value === noJson || typeof value === "string") return value === noJson ? undefined : (value as string);
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const savedRules = z.array(replyRule.required({ id: true }));
export type SavedReplyRule = z.output<typeof savedRules>[number];

export interface ReplyRulesFile {
  read(): Promise<readonly SavedReplyRule[]>;
  /** Throws SETTINGS_UNWRITABLE. */
  write(rules: readonly SavedReplyRule[]): Promise<void>;
}

/** The file that stores the auto-reply rules. */
export function createReplyRulesFile(folder: string, log: Log): ReplyRulesFile {
  const file = path.join(folder, "reply-rules.json");
  return {
    async read() {
      try {
        return savedRules.parse(JSON.parse(await readRegularFile(file)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        // The broker has to start without them; the file is kept so that the user can inspect it.
        const aside = `${file}.unreadable`;
        await rename(file, aside).catch(() => {});
        log.warning(`The auto-reply rules could not be read. None are active; the file is kept as ${path.basename(aside)}.`);
        return [];
      }
    },
    write: async (rules) => void (await writeSettings(file, JSON.stringify(rules, null, 2))),
  };
}
