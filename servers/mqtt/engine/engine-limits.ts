import { z } from "zod";
import { type FieldMeta, field, wholeNumber } from "../../core/config/common-fields.ts";
import type { Log } from "../../core/service/log.ts";
import { countText } from "../../core/service/quantity.ts";

/** Filters and topics with more levels are kept in lists instead of trees: each level takes memory, and a topic may have 65,535. */
export const treeLevels = 100;
/** MQTT 5.0 §3.1.2.11.2: a session that never expires. */
export const neverExpires = 0xffff_ffff;

const limitsIn = (group: string) => (least: number, most: number, standard: number, meta: Omit<FieldMeta, "group">) =>
  field(wholeNumber(least, most, standard), { ...meta, group });
const memory = limitsIn("Memory");
const ofClient = limitsIn("Limits of a client");
const ofBroker = limitsIn("Limits of the broker");

/** Limits of what clients may request and of what the broker keeps for them. */
export const limitFields = {
  memoryBytes: memory(1 << 16, 2 ** 34, 2 ** 29, {
    title: "Memory for clients",
    help: "Bytes that the broker keeps for all clients together: up to a half for what was sent to them and is unread, a quarter for messages that wait or are not acknowledged, a quarter for retained messages. Subscriptions may take a quarter of it more, and so may sessions with their wills, packets that have arrived in part, and in Redis the messages that other brokers have not read; topic aliases that clients are given a sixteenth, and auto-replies that wait too.",
    unit: "B",
    env: "MQTT_MEMORY_BYTES",
  }),
  unreadBytes: memory(4_096, 1 << 30, 1 << 20, {
    title: "Unread bytes of a client",
    help: "When a client leaves more unread, QoS 0 messages to it are dropped and others wait in its queue. When all clients leave much of the memory for that, the limit of each is its share, and of those at the bound who has left most is disconnected.",
    unit: "B",
    env: "MQTT_UNREAD_BYTES",
  }),
  queueBytes: memory(1_024, 1 << 30, 16 << 20, {
    title: "Queue bytes of a client",
    help: "Bytes of the messages that wait for one client. The same number again may be sent and not acknowledged.",
    unit: "B",
    env: "MQTT_QUEUE_BYTES",
  }),
  queueMessages: memory(0, 1_000_000, 10_000, {
    title: "Queue of a client",
    help: "Messages with QoS 1 and 2 that wait for one client. Messages with QoS 0 never wait.",
    unit: "messages",
    env: "MQTT_QUEUE_MESSAGES",
  }),
  queuePolicy: field(z.enum(["drop newest", "drop oldest"]).default("drop newest"), {
    title: "Full queue",
    help: "Which message is dropped when a queue is full. It is counted either way.",
    env: "MQTT_QUEUE_POLICY",
    group: "Memory",
  }),
  retainedMessages: memory(0, 10_000_000, 200_000, {
    title: "Retained messages",
    help: "For a further one the oldest of the client that wrote most is removed; its own is refused with 0x97.",
    unit: "messages",
    env: "MQTT_RETAINED_MESSAGES",
  }),

  packetBytes: ofClient(256, 268_435_455, 1 << 20, {
    title: "Largest packet",
    help: "A larger packet from a client is refused with 0x95. With Redis at most 8 MiB.",
    unit: "B",
    env: "MQTT_PACKET_BYTES",
  }),
  packetItems: ofClient(100, 10_000_000, 10_000, {
    title: "Items of a packet",
    help: "The most topic filters, subscription identifiers and user properties of one packet. A packet with more is refused with 0x97.",
    unit: "items",
    env: "MQTT_PACKET_ITEMS",
  }),
  subscriptions: ofClient(1, 1_000_000, 10_000, {
    title: "Subscriptions",
    help: "A further subscription of a client is refused with 0x97.",
    unit: "subscriptions",
    env: "MQTT_SUBSCRIPTIONS",
  }),
  subscriptionBytes: ofClient(1_024, 1 << 30, 16 << 20, {
    title: "Bytes of subscriptions",
    help: "Memory of the topic filters of a client: each takes two bytes a character and 250 bytes, and with a wildcard as many for its characters again and 300 bytes for each level more (100, with over 100 levels). A further subscription is refused with 0x97.",
    unit: "B",
    env: "MQTT_SUBSCRIPTION_BYTES",
  }),
  topicLevels: ofClient(8, 65_536, 65_536, {
    title: "Topic levels",
    help: "A topic or filter with more levels is refused with 0x90. The standard sets no limit.",
    unit: "levels",
    env: "MQTT_TOPIC_LEVELS",
  }),
  inflightMessages: ofClient(1, 65_535, 1_000, {
    title: "In flight to a client",
    help: "Messages that are sent to a client and not acknowledged. A client's own receive maximum may be lower.",
    unit: "messages",
    env: "MQTT_INFLIGHT_MESSAGES",
  }),
  receiveMaximum: ofClient(1, 65_535, 1_000, {
    title: "Receive maximum",
    help: "Messages that an MQTT 5 client may have unacknowledged. A further one is refused with 0x93.",
    unit: "messages",
    env: "MQTT_RECEIVE_MAXIMUM",
  }),
  topicAliasMaximum: ofClient(0, 65_535, 100, {
    title: "Topic aliases",
    help: "The most topic aliases that a client may set, and that are set for it.",
    unit: "aliases",
    env: "MQTT_TOPIC_ALIAS_MAXIMUM",
  }),
  messagesPerSecond: ofClient(0, 10_000_000, 0, {
    title: "Message rate",
    help: "A client that publishes faster is read more slowly. With 0 there is no limit.",
    unit: "msg/s",
    env: "MQTT_MESSAGES_PER_SECOND",
  }),
  keepAliveSeconds: ofClient(0, 65_535, 0, {
    title: "Longest keep alive",
    help: "The longest keep alive of an MQTT 5 client. With 0 the client decides.",
    unit: "s",
    env: "MQTT_KEEP_ALIVE_SECONDS",
  }),
  connectTimeoutMs: ofClient(100, 3_600_000, 10_000, {
    title: "Connect timeout",
    help: "A connection is closed if its CONNECT, or before that its WebSocket upgrade, has not arrived after this time. A TLS handshake has at most 3 s.",
    unit: "ms",
    env: "MQTT_CONNECT_TIMEOUT_MS",
  }),

  clients: ofBroker(1, 1_000_000, 50_000, {
    title: "Clients",
    help: "Connected at the same time. For a further one a client of the address that has most of them is disconnected, or, if that is its own, it is refused, both with 0x97.",
    unit: "clients",
    env: "MQTT_CLIENTS",
  }),
  sessions: ofBroker(1, 1_000_000, 100_000, {
    title: "Sessions",
    help: "Sessions of connected and absent clients. For a further one the oldest of an absent client ends, of the address that has most; if all are connected, it is refused with 0x97.",
    unit: "sessions",
    env: "MQTT_SESSIONS",
  }),
  sessionExpirySeconds: ofBroker(0, neverExpires, neverExpires, {
    title: "Longest session",
    help: "A session ends at the latest this long after its connection. With 4294967295 it may last forever.",
    unit: "s",
    env: "MQTT_SESSION_EXPIRY_SECONDS",
  }),
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
export interface EngineLimits extends Readonly<Omit<LimitConfig, "packetBytes" | "memoryBytes">> {
  /** Sent to all clients and not read by them. */
  readonly allUnreadBytes: number;
  /** Of the messages that wait for all clients, or are sent to them and not acknowledged. */
  readonly allQueueBytes: number;
  /** Of all retained messages, with their topics. */
  readonly retainedBytes: number;
  /** Of the messages that Redis keeps for brokers that are behind. */
  readonly journalBytes: number;
  /** Of what all clients have sent and could not be handled yet. */
  readonly allArrivingBytes: number;
  /** Of all sessions with their wills and unreleased packet identifiers. */
  readonly allSessionBytes: number;
  /** Of the subscriptions of all sessions; above it each session has its share. */
  readonly allSubscriptionBytes: number;
  /** Of the topic aliases that all clients were given. */
  readonly allAliasBytes: number;
  /** Of the messages whose auto-replies wait. */
  readonly allReplyBytes: number;
  /** Bytes of a packet from a client. */
  readonly maximumPacketSize: number;
  /** Open connections, including those before CONNECT; further ones are closed immediately. */
  readonly sockets: number;
}

/** A packet from each of some brokers has to fit into what Redis keeps for a reader, 32 MB (`client-output-buffer-limit pubsub`). */
const sharedPacketBytes = 8 << 20;

/** Files of the process other than clients' sockets: listeners, the database, the link to the supervisor, files of Node. */
const ownFiles = 64;
/** Share of the open sockets for accepted clients; the rest is needed to refuse others with a reason. */
const clientsPart = 0.95;

/** The configured limits, reduced if the system allows fewer open files: `openFiles` is its limit for this process. */
export function limitsOfConfig(
  { cluster = "", ...config }: LimitConfig & { readonly cluster?: string },
  openFiles: number,
  log: Pick<Log, "info">,
): EngineLimits {
  const { packetBytes, memoryBytes, ...limits } = config;
  const maximumPacketSize = cluster === "" ? packetBytes : Math.min(packetBytes, sharedPacketBytes);
  if (maximumPacketSize < packetBytes)
    log.info(`A packet may have at most ${countText(maximumPacketSize)} bytes: Redis disconnects brokers for larger ones.`);
  const sockets = Math.max(ownFiles, Math.min(2 * config.clients, openFiles - ownFiles));
  const clients = Math.min(config.clients, Math.floor(sockets * clientsPart));
  if (clients < config.clients) {
    const [places, files] = [clients, openFiles].map(countText);
    log.info(
      `At most ${places} clients can be connected at the same time: the system allows ${files} open files (raise it with ulimit -n).`,
    );
  }
  return {
    ...limits,
    allUnreadBytes: memoryBytes / 2,
    allQueueBytes: memoryBytes / 4,
    retainedBytes: memoryBytes / 4,
    allArrivingBytes: memoryBytes / 4,
    journalBytes: Math.floor(memoryBytes / 4),
    allSessionBytes: memoryBytes / 4,
    allSubscriptionBytes: memoryBytes / 4,
    allAliasBytes: memoryBytes / 16,
    allReplyBytes: memoryBytes / 16,
    maximumPacketSize,
    sockets,
    clients,
  };
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
