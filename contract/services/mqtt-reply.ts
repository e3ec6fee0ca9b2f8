/** Rules by which the MQTT broker itself answers messages. */
import { z } from "zod";
import { qos, settableProperties, topicFilter } from "../traffic/mqtt.ts";

/** Condition on the payload, in addition to the topic. */
const replyCondition = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("any payload") }),
  z.strictObject({ type: z.literal("text contains"), text: z.string().min(1).max(65_535) }),
  z.strictObject({
    type: z.literal("JSON field equals"),
    /** "command.name", "list.0"; empty for the whole payload. */
    field: z.string().max(1_000),
    /** The text of a string, else as JSON writes it: 42, true, null. */
    value: z.string().max(65_535),
  }),
]);
export type MqttReplyCondition = z.output<typeof replyCondition>;

export const replyRule = z.strictObject({
  /** Absent for a new one. */
  id: z.string().max(60).optional(),
  filter: topicFilter,
  when: replyCondition.default({ type: "any payload" }),
  enabled: z.boolean().default(true),
  /** Empty: the message's response topic; without one, no reply. `{topic}` and `{payload}` are replaced by those of the message. */
  topic: z.string().max(65_535).default(""),
  payload: z
    .string()
    .max(1 << 20)
    .default("{payload}"),
  qos: qos.default(0),
  retain: z.boolean().default(false),
  delayMs: z.int().min(0).max(60_000).default(0),
  /** QoS of the reply. */
  properties: z.strictObject(settableProperties).default({}),
  /** Correlation data of the message, copied to the reply. */
  takesCorrelationData: z.boolean().default(true),
});
export type MqttReplyParams = z.input<typeof replyRule>;
type SavedRule = z.output<typeof replyRule>;

export interface MqttReplyRule extends Readonly<Omit<SavedRule, "id">> {
  readonly id: string;
  readonly answered: number;
  /** Replies that were not published: there was no room for what waits, or they were too long. */
  readonly dropped: number;
}
