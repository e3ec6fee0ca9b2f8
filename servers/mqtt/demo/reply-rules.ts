import { randomUUID } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { type MqttReplyCondition, type MqttReplyRule, replyRule } from "../../../contract/services/mqtt-reply.ts";
import type { MqttMessageProperties } from "../../../contract/traffic/mqtt.ts";
import { writeFileAtomically } from "../../core/files/atomic-file.ts";
import type { Log } from "../../core/service/log.ts";
import { decodeForwarded } from "../codec/properties.ts";
import { isReservedTopic, isTopicName, topicMatches } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";
import { propertyFields } from "./recorded-line.ts";

export interface ReplyRules {
  list(): readonly MqttReplyRule[];
  /** Takes effect immediately; resolves when the rule is on disk. */
  save(rule: Omit<MqttReplyRule, "id" | "answered"> & { readonly id?: string | undefined }): Promise<MqttReplyRule>;
  remove(id: string): Promise<boolean>;
  /** Answers a message according to the rules that match its topic and payload. */
  onMessage(message: Message): void;
  close(): Promise<void>;
}

/** Loads the saved rules. */
export async function openReplyRules(file: ReplyRulesFile, publish: (message: Message) => void): Promise<ReplyRules> {
  const rules = new Map<string, MqttReplyRule & { answered: number }>();
  for (const rule of await file.read()) rules.set(rule.id, { ...rule, answered: 0 });
  const timers = new Set<NodeJS.Timeout>();

  const keep = () => file.write([...rules.values()].map(({ answered: _, ...rule }) => rule));

  function reply(rule: MqttReplyRule & { answered: number }, message: Message): void {
    const properties = decodeForwarded(message.forwarded);
    // In one pass: an inserted text may contain a placeholder itself.
    const fill = (template: string) =>
      template.replaceAll(/\{topic\}|\{payload\}/g, (place) => (place === "{topic}" ? message.topic : message.payload.toString("utf8")));
    const topic = rule.topic === "" ? properties?.responseTopic : fill(rule.topic);
    if (topic === undefined || !isTopicName(topic) || isReservedTopic(topic)) return;
    rule.answered++;
    const payload = Buffer.from(fill(rule.payload));
    const correlation = rule.takesCorrelationData ? properties?.correlationData : undefined;
    const { qos, retain } = rule;
    const answer = () => {
      const set = { ...rule.properties, ...(correlation && { correlationData: correlation.toString("base64") }) };
      publish(new Message({ topic, payload, qos, retain, ...propertyFields(set as MqttMessageProperties) }));
    };
    if (rule.delayMs === 0) {
      answer();
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      answer();
    }, rule.delayMs);
    timers.add(timer);
  }

  return {
    list: () => [...rules.values()],
    async save({ id = randomUUID(), ...rule }) {
      const saved = { ...rule, id, answered: rules.get(id)?.answered ?? 0 };
      rules.set(id, saved);
      await keep();
      return saved;
    },
    async remove(id) {
      const removed = rules.delete(id);
      if (removed) await keep();
      return removed;
    },
    onMessage(message) {
      // Answering answers would be an endless loop.
      if (rules.size === 0 || message.internalSource === "reply rule") return;
      const holds = conditionsOf(message.payload);
      for (const rule of rules.values()) {
        if (rule.enabled && topicMatches(rule.filter, message.topic) && holds(rule.when)) reply(rule, message);
      }
    },
    close() {
      for (const timer of timers) clearTimeout(timer);
      return file.settled();
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

/** Undefined if there is no such field. */
function textOf(value: unknown): string | undefined {
  return value === noJson ? undefined : typeof value === "string" ? value : JSON.stringify(value);
}

const savedRules = z.array(replyRule.required({ id: true }));
export type SavedReplyRule = z.output<typeof savedRules>[number];

export interface ReplyRulesFile {
  read(): Promise<readonly SavedReplyRule[]>;
  /** Calls are processed in order, so the rules of the last call are the ones that remain. */
  write(rules: readonly SavedReplyRule[]): Promise<void>;
  /** Resolves when all writes are done. */
  settled(): Promise<void>;
}

/** The file that stores the auto-reply rules. */
export function createReplyRulesFile(folder: string, log: Log): ReplyRulesFile {
  const file = path.join(folder, "reply-rules.json");
  let writing: Promise<void> = Promise.resolve();
  return {
    async read() {
      try {
        return savedRules.parse(JSON.parse(await readFile(file, "utf8")));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        // The broker has to start without them; the file is kept so that the user can inspect it.
        const aside = `${file}.unreadable`;
        await rename(file, aside).catch(() => {});
        log.warning(`The auto-reply rules could not be read. None are active; the file is kept as ${path.basename(aside)}.`);
        return [];
      }
    },
    write(rules) {
      const written = writing.then(() => writeFileAtomically(file, JSON.stringify(rules, null, 2)));
      writing = written.catch(() => {});
      return written;
    },
    settled: () => writing,
  };
}
