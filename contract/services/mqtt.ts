/** Actions and views of the MQTT service. */
import { z } from "zod";
import { exportAction } from "../export.ts";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import { type MqttMessage, type MqttMessageSummary, type MqttPublishParams, publishParams, topicFilter } from "../traffic/mqtt.ts";
import type { MqttClient, MqttClientPage } from "./mqtt-client.ts";
import { type MqttReplyRule, replyRule } from "./mqtt-reply.ts";
import { type MqttTryState, mqttTryActions } from "./mqtt-try.ts";

export interface MqttTopicNode {
  /** The level's own name; may be empty. */
  readonly name: string;
  readonly topic: string;
  /** Messages on this topic and all below. */
  readonly count: number;
  readonly hasChildren: boolean;
  readonly retained: boolean;
  /** Absent if nothing was published on exactly this topic; without a time if it was retained before the broker's start. */
  readonly last?: { readonly at?: number; readonly bytes: number; readonly qos: number; readonly preview: string };
}

export interface MqttTopicPage {
  /** Fewer than asked for where their topics are long: the next page begins behind the last one. */
  readonly nodes: readonly MqttTopicNode[];
  readonly matching: number;
}

export interface MqttFigures {
  /** When they were read: rates are computed by this clock. */
  readonly at: number;
  readonly clients: number;
  readonly sessions: number;
  readonly subscriptions: number;
  /** In the tree, without $SYS. */
  readonly topics: number;
  /** Messages on topics that did not fit into the tree. */
  readonly missingInTree: number;
  /** Without $SYS. */
  readonly retained: number;
  readonly retainedBytes: number;
  /** From clients and from the broker itself, without `$SYS`. */
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly queued: number;
  readonly dropped: Readonly<Record<string, number>>;
  /** Messages that came too fast to be recorded one by one; all are counted in the tree. */
  readonly unrecorded: number;
  /** The same of connects, subscriptions and the like. */
  readonly unrecordedEvents: number;
}

/** The certificate of the TLS listeners. */
export interface MqttCertificate {
  /** Absolute, on the machine of the service. */
  readonly file: string;
  readonly pem: string;
  /** It is its own authority: a client that trusts it needs nothing else. */
  readonly isSelfMade: boolean;
}

/** A message that the service publishes again and again, until it is stopped. */
export interface MqttRepeat {
  readonly id: number;
  readonly topic: string;
  readonly everyMs: number;
  readonly startedAt: number;
  readonly sent: number;
}

/** What a repeat was started with, and how often it was sent. */
export interface MqttRepeated {
  readonly message: MqttPublishParams;
  readonly everyMs: number;
  readonly sent: number;
}

/** The file that can be replayed, or is being uploaded. */
export interface MqttReplayFile {
  readonly id: number;
  readonly name: string;
  readonly sizeBytes: number;
  /** So far. */
  readonly receivedBytes: number;
  readonly messages: number;
  /** Of its first and last message. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** False while it is being uploaded. */
  readonly complete: boolean;
}

/** Messages per second of the sample traffic. */
export const mqttSampleRate = { minimum: 0.1, maximum: 5_000, usual: 5 } as const;
export interface MqttSampleParams {
  readonly messagesPerSecond: number;
}

/** Recorded messages, newest first. */
export interface MqttHistoryPage {
  readonly messages: readonly MqttMessageSummary[];
  /** There may be more, older than the last one: long topics and identifiers end a page before its limit. */
  readonly hasOlder: boolean;
  /** Messages that do not match in what is kept of their payloads. */
  readonly searchedInPart?: number;
}

/** `view/mqtt`, by name. */
export interface MqttViews extends SampleViews<MqttSampleParams> {
  readonly figures: MqttFigures;
  /** Recorded messages of all topics; of a stopped broker, those that the supervisor kept. */
  readonly history: { readonly kept: number };
  /** The busiest ones; the rest by `client.list`. */
  readonly clients: MqttClientPage;
  readonly replies: { readonly rules: readonly MqttReplyRule[] };
  readonly try: MqttTryState;
  readonly repeats: { readonly list: readonly MqttRepeat[] };
  /** The repeats as they are started again after a restart. */
  readonly repeated: { readonly list: readonly MqttRepeated[] };
  readonly replay: {
    readonly file?: MqttReplayFile;
    readonly running: boolean;
    readonly sent: number;
    readonly speed: number;
    /** Why the last one ended early, or its file was incomplete: a sentence. */
    readonly failure?: string;
  };
}

const none = z.strictObject({});
const clientId = z.string().max(65_535);
const page = { offset: z.int().min(0).default(0), limit: z.int().min(1).max(1_000).default(200) };

/** Reasons for disconnecting a client from the page (MQTT 5.0 §3.14.2.1). */
export const mqttDisconnectReasons = {
  "administrative action": 0x98,
  "server busy": 0x89,
  "server shutting down": 0x8b,
  "keep alive timeout": 0x8d,
  "session taken over": 0x8e,
  "quota exceeded": 0x97,
  "message rate too high": 0x96,
  "use another server": 0x9c,
  "not authorized": 0x87,
  "unspecified error": 0x80,
} as const;

export const mqttActions = {
  /** Publishes as the broker itself. `matched`: how many subscriptions of this broker. `cluster`: other brokers may have subscribers. */
  publish: operation<{ readonly matched: number; readonly cluster?: true }>()(publishParams),

  "client.list": operation<MqttClientPage>()(
    z.strictObject({ text: z.string().max(500).default(""), connected: z.boolean().optional(), ...page }),
  ),
  /** Null where there is no such session. */
  "client.read": operation<MqttClient | null>()(z.strictObject({ clientId })),
  "client.disconnect": operation<{ readonly disconnected: boolean }>()(
    z.strictObject({
      clientId,
      reason: z.enum(Object.keys(mqttDisconnectReasons) as [keyof typeof mqttDisconnectReasons]).default("administrative action"),
      text: z.string().max(500).default("Disconnected from the dashboard."),
      /** Closes the connection without a DISCONNECT, as a broken network would. */
      abrupt: z.boolean().default(false),
    }),
  ),
  /** For a time the client is neither read from nor written to. */
  "client.freeze": operation<{ readonly frozen: boolean }>()(z.strictObject({ clientId, forMs: z.int().min(1).max(3_600_000) })),
  /** For a time everything is delivered to the client with a delay. */
  "client.delay": operation<{ readonly delayed: boolean }>()(
    z.strictObject({ clientId, delayMs: z.int().min(1).max(60_000), forMs: z.int().min(1).max(3_600_000) }),
  ),
  /** Ends freezing and delaying now. */
  "client.release": operation<{ readonly released: boolean }>()(z.strictObject({ clientId })),
  /** Ends the session with its subscriptions and its queue. */
  "client.forget": operation<{ readonly forgotten: boolean }>()(z.strictObject({ clientId })),

  /** One level of the tree; without `topic` the top. */
  "topic.children": operation<MqttTopicPage>()(z.strictObject({ topic: z.string().max(65_535).optional(), ...page })),
  /** Topics that match a filter with wildcards, or hold the text. */
  "topic.search": operation<MqttTopicPage>()(
    z.strictObject({
      filter: z.string().min(1).max(65_535),
      /** Only those that have a retained message. */
      retained: z.boolean().default(false),
      ...page,
    }),
  ),
  /** Recorded messages of the topics that match, newest first. */
  "topic.history": operation<MqttHistoryPage>()(
    z.strictObject({
      filter: topicFilter,
      /** Only with this text in the payload. */
      text: z.string().max(500).default(""),
      withoutSample: z.boolean().default(false),
      /** Only with a smaller id. */
      before: z.int().optional(),
      limit: z.int().min(1).max(1_000).default(200),
    }),
  ),
  "message.read": operation<MqttMessage | null>()(z.strictObject({ id: z.int() })),
  /** Clears counts and history; retained messages stay. */
  "history.clear": operation<{ readonly cleared: number }>()(none),
  /** Restores what was cleared last, in addition to newer messages; false if it was discarded after some seconds. */
  "history.restore": operation<{ readonly restored: boolean }>()(none),
  /** Recorded messages, oldest first, a JSON object a line: `{at, topic, qos, retain, publisher, payload (base64), properties}`. */
  "history.export": exportAction({
    filter: topicFilter.default("#"),
    /** Only with this text in the payload. */
    text: z.string().max(500).default(""),
    withoutSample: z.boolean().default(false),
  }),
  /** Null without TLS. */
  "tls.certificate": operation<MqttCertificate | null>()(none),

  /** How many of them match; a leading wildcard finds none on $ topics. */
  "retained.count": operation<{ readonly count: number }>()(z.strictObject({ filter: topicFilter })),
  "retained.clear": operation<{ readonly cleared: number }>()(z.strictObject({ filter: topicFilter })),

  /**
   * A file of exported lines comes in pieces, cut anywhere, in place of the one before; the service keeps it until it stops. One that
   * gets no piece for a while before its end is dropped: the page that sent it was closed.
   */
  "replay.begin": operation<MqttReplayFile>()(z.strictObject({ name: z.string().max(500), sizeBytes: z.int().min(0) })),
  "replay.text": operation<MqttReplayFile>()(z.strictObject({ file: z.int(), text: z.string().max(512 << 10) })),
  "replay.end": operation<MqttReplayFile>()(z.strictObject({ file: z.int() })),
  "replay.discard": operation<null>()(none),
  /** Publishes the file's messages again, at their original pace times `speed`; 0 is as fast as possible. */
  "replay.start": operation<{ readonly messages: number }>()(z.strictObject({ speed: z.number().min(0).max(1_000).default(1) })),
  "replay.stop": operation<null>()(none),

  /** Continues without the page, until it or the service is stopped. `sent` counts how often it was sent before: its counter goes on from there. */
  "repeat.start": operation<MqttRepeat>()(
    z.strictObject({ message: publishParams, everyMs: z.int().min(10).max(86_400_000), sent: z.int().min(0).default(0) }),
  ),
  "repeat.stop": operation<{ readonly stopped: boolean }>()(z.strictObject({ id: z.int() })),

  ...mqttTryActions,

  ...sampleActions,
  "sample.start": operation<null>()(
    z.strictObject({ messagesPerSecond: z.number().min(mqttSampleRate.minimum).max(mqttSampleRate.maximum).default(mqttSampleRate.usual) }),
  ),

  "reply.save": operation<MqttReplyRule>()(replyRule),
  "reply.remove": operation<{ readonly removed: boolean }>()(z.strictObject({ id: z.string().max(60) })),

  /** Lines for the users field of the configuration: one for passwords, one for SCRAM-SHA-256. */
  "user.hash": operation<{ readonly lines: readonly string[] }>()(
    z.strictObject({
      name: z
        .string()
        .min(1)
        .max(200)
        .regex(/^[^:]+$/, "A user name cannot contain a colon."),
      password: z.string().min(1).max(1_000),
    }),
  ),
};
export type MqttActions = typeof mqttActions;
