import type { MqttReplyCondition, MqttReplyParams, MqttReplyRule } from "../../../../../contract/services/mqtt-reply.ts";
import { ruleMeanwhile } from "../../../ui/forms/unsaved-drafts.ts";
import { isTopicFilter, problemOfTopic } from "../tree/topic-scope.ts";
import { noProperties, type PropertyDraft, parseProperties, propertyDraft } from "./property-draft.ts";

/** The form of a rule, as typed. */
export interface ReplyDraft extends PropertyDraft {
  /** Undefined for a new one. */
  readonly id: string | undefined;
  readonly enabled: boolean;
  readonly filter: string;
  readonly condition: MqttReplyCondition["type"];
  /** For "text contains". */
  readonly text: string;
  /** The next two for "JSON field equals". */
  readonly field: string;
  readonly value: string;
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  readonly delayMs: number;
  readonly takesCorrelationData: boolean;
}

export const newReply: ReplyDraft = {
  id: undefined,
  enabled: true,
  filter: "commands/#",
  condition: "any payload",
  text: "",
  field: "",
  value: "",
  topic: "",
  payload: "{payload}",
  qos: 0,
  retain: false,
  delayMs: 0,
  takesCorrelationData: true,
  ...noProperties,
};

export function draftOfRule({ answered: _, dropped: _1, when, properties, ...rule }: MqttReplyRule): ReplyDraft {
  const condition = { ...newReply, ...when };
  return { ...condition, ...rule, condition: when.type, ...propertyDraft(properties) };
}

/** What was typed and is not saved. */
export interface UnsavedReply {
  /** The rule as it was when the typing began. */
  readonly base: ReplyDraft;
  readonly draft: ReplyDraft;
}

/** What became of the rule since the typing began, other than that it was switched on or off; `saved` is undefined where it was removed. */
export function changedMeanwhile(unsaved: UnsavedReply | undefined, saved: ReplyDraft | undefined): string | undefined {
  if (!unsaved) return undefined;
  if (!saved) return ruleMeanwhile.removed;
  const { enabled } = saved;
  if (isSameReply({ ...unsaved.base, enabled }, saved) || isSameReply({ ...unsaved.draft, enabled }, saved)) return undefined;
  return ruleMeanwhile.changed;
}

/** Whether two have the same fields, in whatever order. */
export const isSameReply = (one: ReplyDraft, other: ReplyDraft): boolean => textOf(one) === textOf(other);
const textOf = (draft: ReplyDraft): string => JSON.stringify(Object.entries(draft).sort(([one], [other]) => (one < other ? -1 : 1)));

export type ParsedReply =
  | { readonly params: MqttReplyParams }
  | { readonly field: "filter" | "text" | "topic" | "expirySeconds" | "responseTopic"; readonly problem: string };

/** The parameters of the broker's action, or the first invalid field with the problem. */
export function parseReplyDraft(draft: ReplyDraft): ParsedReply {
  const { id, enabled, filter, topic, payload, qos, retain, delayMs, takesCorrelationData } = draft;
  if (!isTopicFilter(filter)) return { field: "filter", problem: "Not a valid topic filter." };
  if (draft.condition === "text contains" && draft.text === "") return { field: "text", problem: "Enter a text." };
  const topicProblem = topic === "" ? undefined : problemOfTopic(topic);
  if (topicProblem) return { field: "topic", problem: topicProblem };
  const parsed = parseProperties(draft);
  if ("problem" in parsed) return parsed;
  return {
    params: {
      ...(id !== undefined && { id }),
      enabled,
      filter,
      when: conditionOf(draft),
      topic,
      payload,
      qos,
      retain,
      delayMs,
      properties: parsed.properties,
      takesCorrelationData,
    },
  };
}

function conditionOf({ condition, text, field, value }: ReplyDraft): MqttReplyCondition {
  switch (condition) {
    case "any payload":
      return { type: condition };
    case "text contains":
      return { type: condition, text };
    case "JSON field equals":
      return { type: condition, field: field.trim(), value };
    default:
      return condition satisfies never;
  }
}

/** Shown after the filter; empty if any payload matches. */
export function conditionText(when: MqttReplyCondition): string {
  switch (when.type) {
    case "any payload":
      return "";
    case "text contains":
      return `with “${when.text}”`;
    case "JSON field equals":
      return `with ${when.field || "JSON"} = ${when.value}`;
    default:
      return when satisfies never;
  }
}
