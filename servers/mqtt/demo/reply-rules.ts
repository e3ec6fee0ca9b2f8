import { randomUUID } from "node:crypto";
import type { MqttReplyRule } from "../../../contract/services/mqtt-reply.ts";
import type { MqttMessageProperties } from "../../../contract/traffic/mqtt.ts";
import { decodeForwarded } from "../codec/properties.ts";
import { isReservedTopic, isTopicName, topicMatches } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";
import { propertyFields } from "./recorded-line.ts";
import { conditionsOf } from "./reply-condition.ts";
import type { ReplyRulesFile } from "./reply-rules-file.ts";

export interface ReplyRules {
  list(): readonly MqttReplyRule[];
  /** In effect at once, and on disk when it resolves. */
  save(rule: Omit<MqttReplyRule, "id" | "answered"> & { readonly id?: string | undefined }): Promise<MqttReplyRule>;
  remove(id: string): Promise<boolean>;
  /** Answers a message by the rules that match its topic and payload. */
  onMessage(message: Message): void;
  close(): Promise<void>;
}

/** With the rules of last time. */
export async function openReplyRules(file: ReplyRulesFile, publish: (message: Message) => void): Promise<ReplyRules> {
  const rules = new Map<string, MqttReplyRule & { answered: number }>();
  for (const rule of await file.read()) rules.set(rule.id, { ...rule, answered: 0 });
  const timers = new Set<NodeJS.Timeout>();

  const keep = () => file.write([...rules.values()].map(({ answered: _, ...rule }) => rule));

  function reply(rule: MqttReplyRule & { answered: number }, message: Message): void {
    const properties = decodeForwarded(message.forwarded);
    // In one pass: what is filled in may look like a place itself.
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
      // Answers to answers would go round for ever.
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
