import { z } from "zod";
import { field, wholeNumber } from "../../core/config/common-fields.ts";
import type { Log } from "../../core/service/log.ts";
import { countText } from "../../core/service/quantity.ts";

/** Filters and topics with more levels are kept in lists instead of trees: each level takes memory, and a topic may have 65,535. */
export const treeLevels = 100;
/** MQTT 5.0 §3.1.2.11.2: a session that never expires. */
export const neverExpires = 0xffff_ffff;

const limit = (title: string, env: string, help: string, unit: string, type: z.ZodDefault<z.ZodInt>) =>
  field(type, { title, help, unit, env, group: "Limits" });

/** Limits of what clients may request and of what the broker keeps for them. */
export const limitFields = {
  packetBytes: limit(
    "Largest packet",
    "MQTT_PACKET_BYTES",
    "From a client; a larger one is refused with 0x95.",
    "B",
    wholeNumber(256, 268_435_455, 1 << 20),
  ),
  clients: limit(
    "Most clients",
    "MQTT_CLIENTS",
    "Connected at once; more are refused with 0x97.",
    "clients",
    wholeNumber(1, 1_000_000, 50_000),
  ),
  sessions: limit(
    "Most sessions",
    "MQTT_SESSIONS",
    "Of connected and absent clients; more are refused with 0x97.",
    "sessions",
    wholeNumber(1, 1_000_000, 100_000),
  ),
  subscriptions: limit(
    "Subscriptions of a client",
    "MQTT_SUBSCRIPTIONS",
    "More are refused with 0x97.",
    "subscriptions",
    wholeNumber(1, 1_000_000, 10_000),
  ),
  topicLevels: limit(
    "Topic levels",
    "MQTT_TOPIC_LEVELS",
    "Of a topic or filter; more are refused with 0x90. The standard sets no limit.",
    "levels",
    wholeNumber(8, 65_536, 65_536),
  ),
  queueMessages: limit(
    "Queue of a session",
    "MQTT_QUEUE_MESSAGES",
    "Messages with QoS 1 and 2 that wait for one client; QoS 0 never waits.",
    "messages",
    wholeNumber(0, 1_000_000, 10_000),
  ),
  queueBytes: limit(
    "Queue bytes",
    "MQTT_QUEUE_BYTES",
    "Waiting for one client; the same again for messages that it has not acknowledged.",
    "B",
    wholeNumber(1_024, 1 << 30, 16 << 20),
  ),
  allQueueBytes: limit(
    "All queues",
    "MQTT_ALL_QUEUE_BYTES",
    "Waiting for all clients together.",
    "B",
    wholeNumber(1_024, 4_294_967_296, 256 << 20),
  ),
  queuePolicy: field(z.enum(["drop newest", "drop oldest"]).default("drop newest"), {
    title: "Full queue",
    help: "Which message is dropped; it is counted either way.",
    env: "MQTT_QUEUE_POLICY",
    group: "Limits",
  }),
  inflightMessages: limit(
    "In flight to a client",
    "MQTT_INFLIGHT_MESSAGES",
    "Sent and not acknowledged; a client's own receive maximum may be lower.",
    "messages",
    wholeNumber(1, 65_535, 1_000),
  ),
  receiveMaximum: limit(
    "Receive maximum",
    "MQTT_RECEIVE_MAXIMUM",
    "Messages that an MQTT 5 client may have unacknowledged; more is refused with 0x93.",
    "messages",
    wholeNumber(1, 65_535, 1_000),
  ),
  topicAliasMaximum: limit(
    "Topic aliases",
    "MQTT_TOPIC_ALIAS_MAXIMUM",
    "Most topic aliases that a client may set.",
    "aliases",
    wholeNumber(0, 65_535, 100),
  ),
  unreadBytes: limit(
    "Unread bytes of a client",
    "MQTT_UNREAD_BYTES",
    "Above this, QoS 0 messages to the client are dropped and others wait in its queue.",
    "B",
    wholeNumber(4_096, 1 << 30, 1 << 20),
  ),
  allUnreadBytes: limit(
    "Unread bytes of all clients",
    "MQTT_ALL_UNREAD_BYTES",
    "With many clients, each may leave only its share of this unread, at least 64 KiB.",
    "B",
    wholeNumber(65_536, 4_294_967_296, 512 << 20),
  ),
  messagesPerSecond: limit(
    "Rate of a client",
    "MQTT_MESSAGES_PER_SECOND",
    "Reading from a faster client is slowed down; 0 is no limit.",
    "msg/s",
    wholeNumber(0, 10_000_000, 0),
  ),
  retainedMessages: limit(
    "Retained messages",
    "MQTT_RETAINED_MESSAGES",
    "More are refused with 0x97.",
    "messages",
    wholeNumber(0, 10_000_000, 200_000),
  ),
  retainedBytes: limit(
    "Retained bytes",
    "MQTT_RETAINED_BYTES",
    "All together, including their topics.",
    "B",
    wholeNumber(0, 4_294_967_296, 256 << 20),
  ),
  sessionExpirySeconds: limit(
    "Longest session",
    "MQTT_SESSION_EXPIRY_SECONDS",
    "After the connection ended; 4294967295 is forever.",
    "s",
    wholeNumber(0, neverExpires, neverExpires),
  ),
  keepAliveSeconds: limit(
    "Keep alive",
    "MQTT_KEEP_ALIVE_SECONDS",
    "Longest keep alive of an MQTT 5 client; 0 leaves it to the client.",
    "s",
    wholeNumber(0, 65_535, 0),
  ),
  connectTimeoutMs: limit(
    "Connect timeout",
    "MQTT_CONNECT_TIMEOUT_MS",
    "Until the CONNECT arrives, and before that until the WebSocket upgrade; a TLS handshake has at most 3 s.",
    "ms",
    wholeNumber(100, 3_600_000, 10_000),
  ),
};

/** Settings of the engine that are not limits. */
export const protocolFields = {
  reasonStrings: field(z.boolean().default(true), {
    title: "Reason strings",
    help: "Send MQTT 5 clients a text with the reason of a refusal.",
    env: "MQTT_REASON_STRINGS",
    group: "Protocol",
  }),
  responseInformation: field(z.string().default("replies/%c"), {
    title: "Response information",
    help: "Topic sent to MQTT 5 clients that request response information; %c is the client identifier.",
    env: "MQTT_RESPONSE_INFORMATION",
    group: "Protocol",
  }),
};

const limitConfig = z.object({ ...limitFields, ...protocolFields });
type LimitConfig = z.output<typeof limitConfig>;

/** Limits of the engine; every queue is bounded by one of them. */
export interface EngineLimits extends Readonly<Omit<LimitConfig, "packetBytes">> {
  /** Bytes of a packet from a client. */
  readonly maximumPacketSize: number;
  /** Open connections, including those before CONNECT; further ones are closed immediately. */
  readonly sockets: number;
}

/** Files of the process other than clients' sockets: listeners, the database, the link to the supervisor, files of Node. */
const ownFiles = 64;
/** Share of the open sockets for accepted clients; the rest is needed to refuse others with a reason. */
const clientsPart = 0.95;

/** The configured limits, reduced if the system allows fewer open files: `openFiles` is its limit for this process. */
export function limitsOfConfig(config: LimitConfig, openFiles: number, log: Pick<Log, "info">): EngineLimits {
  const { packetBytes, ...limits } = config;
  const sockets = Math.max(ownFiles, Math.min(2 * config.clients, openFiles - ownFiles));
  const clients = Math.min(config.clients, Math.floor(sockets * clientsPart));
  if (clients < config.clients) {
    const [places, files] = [clients, openFiles].map(countText);
    log.info(
      `At most ${places} clients can be connected at the same time: the system allows ${files} open files (raise it with ulimit -n).`,
    );
  }
  return { ...limits, maximumPacketSize: packetBytes, sockets, clients };
}

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
}

/** Most files and sockets that this process may have open; Infinity if the system has no limit or reports none. */
export function openFileLimit(): number {
  // Otherwise the report resolves the host names of all sockets.
  const report = Object.assign(process.report, { excludeNetwork: true }).getReport() as Report;
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
