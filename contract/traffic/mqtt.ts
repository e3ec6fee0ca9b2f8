/** A message of the broker's: as it is recorded, and as one is published from the dashboard. */
import { z } from "zod";

/** Properties of a message as a person sets and reads them (MQTT 5.0 §3.3.2.3). */
export interface MqttMessageProperties {
  /** 1: the payload is UTF-8. */
  readonly payloadFormatIndicator?: number;
  /** Seconds. */
  readonly messageExpiryInterval?: number;
  readonly contentType?: string;
  readonly responseTopic?: string;
  /** Base64. */
  readonly correlationData?: string;
  readonly topicAlias?: number;
  /** In order; a key may repeat. */
  readonly userProperties?: readonly (readonly [key: string, value: string])[];
}

/** The delivery of a message to one client. */
export interface MqttDelivery {
  readonly clientId: string;
  readonly qos: number;
  /** Milliseconds after the message came. */
  readonly afterMs: number;
  readonly acknowledgedAfterMs?: number;
  /** Reason of the acknowledgement, if it was no success. */
  readonly reason?: number;
  /** Why the client did not get it. */
  readonly dropped?: string;
  /** To another broker of the cluster, with the client's session. */
  readonly moved?: boolean;
  /** To a subscription that came later. */
  readonly asRetained?: true;
}

/** The part of the broker that published a message, if no client did. */
export const mqttOwnPublishers = ["dashboard", "sample traffic", "device", "reply rule", "replay"] as const;
export type MqttOwnPublisher = (typeof mqttOwnPublishers)[number];

/** A recorded message in a list. */
export interface MqttMessageSummary {
  /** `TrafficRow.id` of the same message. */
  readonly id: number;
  readonly at: number;
  readonly topic: string;
  readonly qos: number;
  readonly retain: boolean;
  /** Client identifier; empty for the broker itself. */
  readonly publisher: string;
  readonly internalSource?: MqttOwnPublisher;
  /** The publisher's will. */
  readonly will?: true;
  /** In a cluster: the broker at which it was published. */
  readonly cluster?: "here" | "elsewhere";
  readonly bytes: number;
  /** Start of the payload, base64. */
  readonly start: string;
  readonly matched: number;
  readonly delivered: number;
  /** Of `delivered`, those with QoS 1 or 2: acknowledged, and in all. */
  readonly acknowledged: number;
  readonly acknowledgeable: number;
  readonly dropped: number;
  /** Of `dropped`, those that the broker owed when it stopped. Absent if none, as the following. */
  readonly lost?: number;
  /** Of `dropped`, those whose time was over. */
  readonly expired?: number;
  /** Deliveries that went to another broker of the cluster, with the sessions of the clients. */
  readonly moved?: number;
  /** Deliveries that wait in queues. */
  readonly queued?: number;
  /** Deliveries that wait in stored sessions, which no broker has while persistence is off. */
  readonly onDisk?: number;
}

/** What became of the dropped ones, of which there are some: "dropped for 5, 2 of them expired, 3 of them when the broker stopped", "expired for 5". */
export function droppedText(
  { dropped, lost = 0, expired = 0 }: Pick<MqttMessageSummary, "dropped" | "lost" | "expired">,
  format: (count: number) => string = String,
): string {
  if (expired === dropped) return `expired for ${format(expired)}`;
  const some = [
    ...(expired > 0 ? [`${format(expired)} of them expired`] : []),
    ...(lost > 0 && lost < dropped ? [`${format(lost)} of them`] : []),
  ];
  return `${[`dropped for ${format(dropped)}`, ...some].join(", ")}${lost > 0 ? " when the broker stopped" : ""}`;
}

/** The detail of a message, and the answer of `message.read`. */
export interface MqttMessage extends MqttMessageSummary {
  readonly kind: "mqtt-message";
  readonly dup: boolean;
  /** Protocol version of the publisher; absent for the broker itself. */
  readonly version?: number;
  readonly properties: MqttMessageProperties;
  /** Subscriptions that came later and got it as retained; not among `delivered`. */
  readonly sentAsRetained: number;
  /** The first ones. */
  readonly deliveries: readonly MqttDelivery[];
  /** Base64; shorter than `bytes` where the recorder's limit cut it. */
  readonly payload: string;
  /** The PUBLISH as it came, base64, its payload cut as well; absent for the broker itself. */
  readonly packet?: string;
}

/** The detail of a connection, a refusal, a subscription. */
export interface MqttEvent {
  readonly kind: "mqtt-event";
  readonly id: number;
  readonly at: number;
  readonly clientId: string;
  readonly text: string;
  /** Of the client's packet, by the standard's names; of a subscription also what was granted. Absent where there is no packet. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** Fields of a packet that hold a credential; without it where it is not recorded: "8 bytes, not recorded". */
export const credentialFields: readonly string[] = ["Password", "Authentication data"];
export const notRecorded = ", not recorded";

/** Schemas of the fields. */
export const qos = z.union([z.literal(0), z.literal(1), z.literal(2)]);
const longestField = 65_535;

/** §1.5.4: counted as UTF-8. */
function fitsField(text: string): boolean {
  let bytes = text.length;
  if (bytes * 3 <= longestField) return true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // A pair of surrogates takes four bytes.
    if (code >= 0x80) bytes += code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 1 : 2;
  }
  return bytes <= longestField;
}

export const text = z.string().max(longestField).refine(fitsField, "A field of MQTT has at most 65,535 bytes.");
export const topicName = text.min(1).regex(/^[^+#\0]+$/, "A topic name cannot contain + or #.");
export const topicFilter = text.min(1);

/** Properties that a user sets (MQTT 5.0 §3.3.2.3), without the correlation data. */
export const settableProperties = {
  payloadFormatIndicator: z.int().min(0).max(1).optional(),
  messageExpiryInterval: z.int().min(0).max(0xffff_ffff).optional(),
  contentType: text.optional(),
  responseTopic: topicName.optional(),
  userProperties: z
    .array(z.tuple([text, text]))
    .max(100)
    .optional(),
};

export const publishParams = z.strictObject({
  topic: topicName,
  payload: z
    .string()
    .max(4 << 20)
    .default(""),
  encoding: z.enum(["text", "base64"]).default("text"),
  qos: qos.default(0),
  retain: z.boolean().default(false),
  ...settableProperties,
  /** Base64. */
  correlationData: z.string().max(90_000).optional(),
});
export type MqttPublishParams = z.input<typeof publishParams>;
export type MqttParsedPublish = z.output<typeof publishParams>;
