/** What the MQTT service's page asks for and is told. */
import { z } from "zod";
import { exportAction } from "./export.ts";
import { operation } from "./operation.ts";

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

/** What became of a message at one client. */
export interface MqttDelivery {
  readonly clientId: string;
  readonly qos: number;
  /** Milliseconds after the message came. */
  readonly afterMs: number;
  readonly acknowledgedAfterMs?: number;
  /** Of the acknowledgement, where it was no success. */
  readonly reason?: number;
  /** Why the client did not get it. */
  readonly dropped?: string;
}

/** What of the broker's own published a message, where no client did. */
export type MqttOwnPublisher = "dashboard" | "demo" | "device" | "reply rule" | "replay";

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
  readonly own?: MqttOwnPublisher;
  readonly bytes: number;
  /** Start of the payload, base64. */
  readonly start: string;
  readonly matched: number;
  readonly delivered: number;
  /** Of `delivered`, those with QoS 1 or 2: acknowledged, and in all. */
  readonly acknowledged: number;
  readonly acknowledgeable: number;
  readonly dropped: number;
}

/** `traffic.detail` of a message: what is known of it when the service has ended. */
export interface MqttMessageOutline extends MqttMessageSummary {
  readonly kind: "message";
  readonly dup: boolean;
  /** Protocol version of the publisher; absent for the broker itself. */
  readonly version?: number;
  readonly properties: MqttMessageProperties;
  /** The first ones. */
  readonly deliveries: readonly MqttDelivery[];
}

/** The answer of `message.read`. */
export interface MqttMessage extends MqttMessageOutline {
  /** Base64; shorter than `bytes` where the recorder's limit cut it. */
  readonly payload: string;
  /** The PUBLISH as it came, base64, its payload cut as well; absent for the broker itself. */
  readonly packet?: string;
}

/** `traffic.detail` of a connection, a refusal, a subscription. */
export interface MqttEvent {
  readonly kind: "event";
  readonly id: number;
  readonly at: number;
  readonly clientId: string;
  readonly text: string;
}

export interface MqttSubscription {
  readonly filter: string;
  readonly qos: number;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly retainHandling: number;
  /** 0 without. */
  readonly identifier: number;
}

export interface MqttClient {
  readonly clientId: string;
  readonly connected: boolean;
  /** 3, 4 (3.1.1) or 5; of the last connection. */
  readonly version: number;
  readonly username?: string;
  readonly transport?: "tcp" | "tls" | "ws" | "wss";
  readonly peer?: string;
  /** When it connected, or when it left. */
  readonly since: number;
  readonly keepAliveSeconds: number;
  /** 4294967295 is never. */
  readonly sessionExpirySeconds: number;
  readonly subscriptions: readonly MqttSubscription[];
  readonly subscriptionCount: number;
  readonly will?: { readonly topic: string; readonly qos: number; readonly retain: boolean; readonly delaySeconds: number };
  readonly queued: number;
  readonly queuedBytes: number;
  readonly queueLimit: number;
  readonly inflight: number;
  readonly inflightLimit: number;
  readonly dropped: number;
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  /** Bytes that the client has not read yet. */
  readonly unreadBytes: number;
  /** Set while it is frozen or delayed from the page. */
  readonly hindered?: { readonly how: "frozen" | "delayed"; readonly until: number };
}

export interface MqttClientPage {
  readonly clients: readonly MqttClient[];
  readonly matching: number;
}

export interface MqttTopicNode {
  /** The level's own name; may be empty. */
  readonly name: string;
  readonly topic: string;
  /** Messages on this topic and all below. */
  readonly count: number;
  readonly hasChildren: boolean;
  readonly retained: boolean;
  /** Absent where nothing was published on exactly this topic. */
  readonly last?: { readonly at: number; readonly bytes: number; readonly qos: number; readonly preview: string };
}

export interface MqttTopicPage {
  readonly nodes: readonly MqttTopicNode[];
  readonly matching: number;
}

export interface MqttFigures {
  readonly clients: number;
  readonly sessions: number;
  readonly subscriptions: number;
  readonly topics: number;
  /** Of those, the topics of the broker's own figures. */
  readonly systemTopics: number;
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
}

export interface MqttReplyRule {
  readonly id: string;
  readonly filter: string;
  readonly enabled: boolean;
  /** Empty: to the message's own response topic, and to none without. `{topic}` and `{payload}` stand for those of the message. */
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  readonly delayMs: number;
  readonly answered: number;
}

/** A message that the service publishes again and again, until it is stopped. */
export interface MqttRepeat {
  readonly id: number;
  readonly topic: string;
  readonly everyMs: number;
  readonly startedAt: number;
  readonly sent: number;
}

/** The file that can be replayed, or is on its way. */
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
  /** False while it is on its way. */
  readonly complete: boolean;
}

/** What the broker answered to the client of the Try tab. */
export interface MqttTryAnswer {
  readonly ok: boolean;
  /** "PUBACK", "DISCONNECT"; absent where nothing was answered: QoS 0 is not, and a lost connection cannot be. */
  readonly packet?: string;
  /** A reason code; in 3.1.1 a return code. */
  readonly reason?: number;
  /** What it means: "no matching subscribers". */
  readonly meaning: string;
  /** The broker's reason string. */
  readonly text?: string;
  readonly tookMs: number;
}

/** A message as the client of the Try tab received it. */
export interface MqttReceived {
  /** Counts up from 1. */
  readonly place: number;
  readonly at: number;
  readonly topic: string;
  readonly qos: number;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly bytes: number;
  /** Base64; shorter than `bytes` where it was cut. */
  readonly payload: string;
  readonly properties: MqttMessageProperties;
  readonly subscriptionIdentifiers?: readonly number[];
}

/** The client of the Try tab: an ordinary one, in the service, over TCP. */
export interface MqttTryState {
  readonly state: "away" | "connecting" | "connected";
  readonly clientId: string;
  readonly version: 4 | 5;
  readonly username?: string;
  /** How the last connection, or the attempt, ended. */
  readonly ended?: MqttTryAnswer;
  /** With the QoS that was granted. */
  readonly subscriptions: readonly MqttSubscription[];
  /** Since the last clearing. */
  readonly received: number;
}

/** `view/mqtt`, by name. */
export interface MqttViews {
  readonly figures: MqttFigures;
  /** The busiest ones; the rest by `client.list`. */
  readonly clients: MqttClientPage;
  readonly demo: { readonly running: boolean; readonly messagesPerSecond: number };
  readonly replies: { readonly rules: readonly MqttReplyRule[] };
  readonly try: MqttTryState;
  readonly repeats: { readonly list: readonly MqttRepeat[] };
  readonly replay: {
    readonly file?: MqttReplayFile;
    readonly running: boolean;
    readonly sent: number;
    readonly speed: number;
    /** Why the last one ended early. */
    readonly failure?: string;
  };
}

const none = z.strictObject({});
const qos = z.union([z.literal(0), z.literal(1), z.literal(2)]);
const topicName = z
  .string()
  .min(1)
  .max(65_535)
  .regex(/^[^+#\0]+$/, "A topic name holds no + and no #.");
const topicFilter = z.string().min(1).max(65_535);
const clientId = z.string().max(65_535);
const page = { offset: z.int().min(0).default(0), limit: z.int().min(1).max(1_000).default(200) };
const text = z.string().max(65_535);

const publishParams = z.strictObject({
  topic: topicName,
  payload: z
    .string()
    .max(4 << 20)
    .default(""),
  encoding: z.enum(["text", "base64"]).default("text"),
  qos: qos.default(0),
  retain: z.boolean().default(false),
  payloadFormatIndicator: z.int().min(0).max(1).optional(),
  messageExpiryInterval: z.int().min(0).max(0xffff_ffff).optional(),
  contentType: text.optional(),
  responseTopic: topicName.optional(),
  /** Base64. */
  correlationData: z.string().max(90_000).optional(),
  userProperties: z
    .array(z.tuple([text, text]))
    .max(100)
    .optional(),
});
export type MqttPublishParams = z.input<typeof publishParams>;
export type MqttParsedPublish = z.output<typeof publishParams>;

const replyRule = z.strictObject({
  /** Absent for a new one. */
  id: z.string().max(60).optional(),
  filter: topicFilter,
  enabled: z.boolean().default(true),
  topic: z.string().max(65_535).default(""),
  payload: z
    .string()
    .max(1 << 20)
    .default("{payload}"),
  qos: qos.default(0),
  retain: z.boolean().default(false),
  delayMs: z.int().min(0).max(60_000).default(0),
});

/** What a client may be told when it is disconnected from the page (MQTT 5.0 §3.14.2.1). */
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

const tryConnect = z.strictObject({
  version: z.union([z.literal(4), z.literal(5)]).default(5),
  clientId: clientId.default("dashboard"),
  username: text.optional(),
  password: text.optional(),
  cleanStart: z.boolean().default(true),
  /** Of 5.0; in 3.1.1 a session that is not clean is kept for ever. */
  sessionExpirySeconds: z.int().min(0).max(0xffff_ffff).default(0),
  will: z
    .strictObject({
      topic: topicName,
      payload: text.default(""),
      qos: qos.default(0),
      retain: z.boolean().default(false),
      /** Of 5.0. */
      delaySeconds: z.int().min(0).max(0xffff_ffff).default(0),
    })
    .optional(),
});
export type MqttTryConnect = z.output<typeof tryConnect>;

const trySubscribe = z.strictObject({
  filter: topicFilter,
  qos: qos.default(0),
  /** The rest is of 5.0. */
  noLocal: z.boolean().default(false),
  retainAsPublished: z.boolean().default(false),
  retainHandling: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
  /** 0 without. */
  identifier: z.int().min(0).max(268_435_455).default(0),
});
export type MqttTrySubscribe = z.output<typeof trySubscribe>;

export const mqttActions = {
  /** As the broker itself; tells how many subscriptions it matched. */
  publish: operation<{ readonly matched: number }>()(publishParams),

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
      /** The connection is cut without a word, as by a broken network. */
      abrupt: z.boolean().default(false),
    }),
  ),
  /** For a time the client is neither read from nor written to. */
  "client.freeze": operation<{ readonly frozen: boolean }>()(z.strictObject({ clientId, forMs: z.int().min(1).max(3_600_000) })),
  /** For a time everything reaches the client later. */
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
  "topic.search": operation<MqttTopicPage>()(z.strictObject({ filter: z.string().min(1).max(65_535), ...page })),
  /** Recorded messages of the topics that match, newest first. */
  "topic.history": operation<{ readonly messages: readonly MqttMessageSummary[]; readonly kept: number }>()(
    z.strictObject({
      filter: topicFilter,
      /** Only with this text in the payload. */
      text: z.string().max(500).default(""),
      /** Only with a smaller id. */
      before: z.int().optional(),
      limit: z.int().min(1).max(1_000).default(200),
    }),
  ),
  "message.read": operation<MqttMessage | null>()(z.strictObject({ id: z.int() })),
  /** Forgets counts and history; retained messages stay. */
  "history.clear": operation<{ readonly cleared: number }>()(none),
  /** Recorded messages, oldest first, a JSON object a line: `{at, topic, qos, retain, publisher, payload (base64), properties}`. */
  "history.export": exportAction({
    filter: topicFilter.default("#"),
    /** Only with this text in the payload. */
    text: z.string().max(500).default(""),
  }),
  "retained.clear": operation<{ readonly cleared: number }>()(z.strictObject({ filter: topicFilter })),

  /** A file of exported lines comes in pieces, cut anywhere, in place of the one before; the service keeps it until it stops. */
  "replay.begin": operation<MqttReplayFile>()(z.strictObject({ name: z.string().max(500), sizeBytes: z.int().min(0) })),
  "replay.text": operation<MqttReplayFile>()(z.strictObject({ file: z.int(), text: z.string().max(512 << 10) })),
  "replay.end": operation<MqttReplayFile>()(z.strictObject({ file: z.int() })),
  "replay.discard": operation<null>()(none),
  /** Publishes the file's messages again, at their own pace times `speed`; 0 is as fast as it goes. */
  "replay.start": operation<{ readonly messages: number }>()(z.strictObject({ speed: z.number().min(0).max(1_000).default(1) })),
  "replay.stop": operation<null>()(none),

  /** Goes on without the page, until it or the service is stopped. */
  "repeat.start": operation<MqttRepeat>()(z.strictObject({ message: publishParams, everyMs: z.int().min(10).max(86_400_000) })),
  "repeat.stop": operation<{ readonly stopped: boolean }>()(z.strictObject({ id: z.int() })),

  /** The client of the Try tab: one, which stays connected without the page. */
  "try.connect": operation<MqttTryAnswer>()(tryConnect),
  /** With its will the broker publishes it; `cut` ends the connection without a word. */
  "try.disconnect": operation<null>()(z.strictObject({ how: z.enum(["normal", "with will", "cut"]).default("normal") })),
  /** Resolves when the broker has acknowledged it. */
  "try.publish": operation<MqttTryAnswer>()(publishParams),
  "try.subscribe": operation<MqttTryAnswer>()(trySubscribe),
  "try.unsubscribe": operation<MqttTryAnswer>()(z.strictObject({ filter: topicFilter })),
  /** The newest ones, newest first; `received` of them came in all. */
  "try.received": operation<{ readonly messages: readonly MqttReceived[]; readonly received: number }>()(
    z.strictObject({
      /** Only with a larger place. */
      after: z.int().min(0).default(0),
      limit: z.int().min(1).max(500).default(200),
    }),
  ),
  "try.clear": operation<null>()(none),

  "sample.start": operation<null>()(z.strictObject({ messagesPerSecond: z.number().min(0.1).max(5_000).default(5) })),
  "sample.stop": operation<null>()(none),

  "reply.save": operation<MqttReplyRule>()(replyRule),
  "reply.remove": operation<{ readonly removed: boolean }>()(z.strictObject({ id: z.string().max(60) })),

  /** Lines for the users field of the configuration: one for passwords, one for SCRAM-SHA-256. */
  "user.hash": operation<{ readonly lines: readonly string[] }>()(
    z.strictObject({
      name: z
        .string()
        .min(1)
        .max(200)
        .regex(/^[^:]+$/, "A user name holds no colon."),
      password: z.string().min(1).max(1_000),
    }),
  ),
};
export type MqttActions = typeof mqttActions;
