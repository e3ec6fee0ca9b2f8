import { z } from "zod";
import {
  commonFields,
  corsOriginsField,
  type FieldMeta,
  field,
  limitField,
  longestDelayField,
  portField,
  recordedMessageField,
  recordedRateField,
  tlsHandshakesField,
  wholeNumber,
} from "../core/config/common-fields.ts";
import { allowedOriginsField } from "../core/net/allowed-origins.ts";

const time = (least: number, most: number, standard: number, meta: Omit<FieldMeta, "group" | "unit">) =>
  field(wholeNumber(least, most, standard), { ...meta, unit: "ms", group: "Connections" });

export const grpcConfig = z.strictObject({
  port: portField(50_051, { title: "Port", env: "GRPC_PORT" }),
  metricsPort: portField(8_000, { title: "Metrics port", help: "Prometheus text at /metrics and at /.", env: "METRICS_PORT" }),
  webPort: portField(50_052, {
    title: "Web port",
    help: "gRPC-Web and Connect, for pages in a browser and for plain HTTP clients, over HTTP/1.1 and HTTP/2.",
    env: "GRPC_WEB_PORT",
  }),
  ...commonFields("grpc"),

  corsOrigins: corsOriginsField("grpc", "call on the web port and read the answers"),
  allowedOrigins: allowedOriginsField("GRPC_ALLOWED_ORIGINS", "the metrics port"),

  tls: field(z.boolean().default(false), {
    title: "TLS",
    help: "With a certificate of this installation's authority; Settings says how to trust it. Without TLS it is HTTP/2 in plain text.",
    env: "GRPC_TLS",
    group: "TLS",
  }),
  clientCertificates: field(z.enum(["optional", "required"]).default("optional"), {
    title: "Client certificates",
    help: "Verified by the client authority. If required, a client without one cannot connect.",
    env: "GRPC_CLIENT_CERTIFICATES",
    group: "TLS",
  }),
  clientCaFile: field(z.string().default(""), {
    title: "Client authority",
    help: "PEM file with the authorities of client certificates; empty for this installation's own.",
    env: "GRPC_CLIENT_CA_FILE",
    group: "TLS",
  }),

  serverId: field(z.string().min(1).max(200).default("backlot"), {
    title: "Server name",
    help: "In greetings, and as server_id in answers.",
    env: "GRPC_SERVER_ID",
    group: "Answers",
  }),
  repliesFile: field(z.string().default(""), {
    title: "Replies file",
    help: "Rules that answer calls, as JSON; empty for a file in the data folder. Changes apply at once.",
    env: "GRPC_REPLIES",
    group: "Answers",
  }),
  compression: field(z.enum(["identity", "gzip", "deflate"]).default("identity"), {
    title: "Compression",
    help: "Of answers, for clients that accept it. Requests may always be compressed with gzip or deflate.",
    env: "GRPC_COMPRESSION",
    group: "Answers",
  }),

  protos: field(z.array(z.string().max(4_096)).max(1_000).default([]), {
    title: "Protocol files",
    help: ".proto files, folders of them (imports are relative to the folder), buf images and descriptor sets. They are served and reflected beside Backlot's own, and read again when they change.",
    env: "GRPC_PROTOS",
    group: "Your own protos",
  }),
  protoBytes: field(wholeNumber(1, 1 << 30, 32 << 20), {
    title: "Largest protocol files",
    help: "All together.",
    unit: "B",
    env: "GRPC_PROTO_BYTES",
    group: "Your own protos",
  }),
  protoFiles: field(wholeNumber(1, 1_000_000, 5_000), {
    title: "Most protocol files",
    help: "Files in descriptor sets count, too.",
    env: "GRPC_PROTO_FILES",
    group: "Your own protos",
  }),
  protoTypes: field(wholeNumber(1, 1_000_000, 20_000), {
    title: "Most types",
    help: "Messages, enums, services and methods of all protocol files together. A thousand messages with five fields take 7 MB of memory, and twice as much while they are compiled.",
    env: "GRPC_PROTO_TYPES",
    group: "Your own protos",
  }),

  messageBytes: limitField(1, 1 << 30, 4 << 20, {
    title: "Largest message",
    help: "From a client, before and after decompression. A larger one, or one with more than a value for each 32 bytes of this limit, ends the call with RESOURCE_EXHAUSTED.",
    unit: "B",
    env: "GRPC_MESSAGE_BYTES",
  }),
  concurrentStreams: limitField(1, 1_000_000, 256, {
    title: "Calls on a connection",
    help: "Open at the same time; further calls wait in the client.",
    env: "GRPC_CONCURRENT_STREAMS",
  }),
  memoryBytes: limitField(1 << 20, 2 ** 40, 128 << 20, {
    title: "Memory for clients",
    help: "Bytes that connections and open calls take together, with metadata, messages that have arrived in part or wait, and what clients leave unread; not less than four times the largest message. Beyond it the connections that have most lose calls, with RESOURCE_EXHAUSTED.",
    unit: "B",
    env: "GRPC_MEMORY_BYTES",
  }),
  openCalls: limitField(1, 10_000_000, 25_000, {
    title: "Open calls",
    help: "Of all connections together; beyond it the connections that have the most lose calls, with RESOURCE_EXHAUSTED.",
    env: "GRPC_OPEN_CALLS",
  }),
  connectionsPerAddress: limitField(1, 1_000_000, 10_000, {
    title: "Connections of an address",
    help: "Open at the same time; more are closed at once.",
    env: "GRPC_CONNECTIONS_PER_ADDRESS",
  }),
  tlsHandshakes: tlsHandshakesField("GRPC"),
  metadataBytes: limitField(1 << 10, 1 << 20, 64 << 10, {
    title: "Metadata of a call",
    help: "All header fields together, as HTTP/2 counts them; more ends the call with RESOURCE_EXHAUSTED.",
    unit: "B",
    env: "GRPC_METADATA_BYTES",
  }),
  unreadBytes: limitField(64 << 10, 1 << 30, 4 << 20, {
    title: "Unread bytes",
    help: "A call ends when its client leaves more than this unread.",
    unit: "B",
    env: "GRPC_UNREAD_BYTES",
  }),
  streamItems: limitField(1, 1_000_000_000, 10_000, {
    title: "Longest StreamData",
    help: "Items; a request for more gets this many.",
    env: "GRPC_STREAM_ITEMS",
  }),
  replyFileBytes: limitField(1 << 10, 16 << 20, 1 << 20, {
    title: "Replies file",
    help: "Largest size.",
    unit: "B",
    env: "GRPC_REPLY_FILE_BYTES",
  }),
  replyRules: limitField(1, 10_000, 1_000, { title: "Reply rules", help: "Most rules in the file.", env: "GRPC_REPLY_RULES" }),
  replySteps: limitField(1, 1_000_000, 10_000, {
    title: "Steps of a reply",
    help: "Most steps of one rule; each message counts as one.",
    env: "GRPC_REPLY_STEPS",
  }),
  replyHeldBytes: limitField(1 << 10, 1 << 30, 4 << 20, {
    title: "Stream held for rules",
    help: "A client's stream that rules may answer is held until its end; a longer one ends with RESOURCE_EXHAUSTED.",
    unit: "B",
    env: "GRPC_REPLY_HELD_BYTES",
  }),
  delaySeconds: longestDelayField("grpc", 60, "Most that a client may ask for with x-backlot-delay."),

  handshakeMs: time(100, 3_600_000, 10_000, {
    title: "Handshake time",
    help: "For TLS, the first HTTP/2 frame, and the head of an HTTP/1.1 request; after that the connection is closed.",
    env: "GRPC_HANDSHAKE_MS",
  }),
  requestMs: time(100, 3_600_000, 30_000, {
    title: "Request time",
    help: "On the web port, for the request of a method that takes one message; then the call ends with DEADLINE_EXCEEDED.",
    env: "GRPC_REQUEST_MS",
  }),
  keepaliveMs: time(0, 86_400_000, 30_000, {
    title: "Keepalive",
    help: "Interval of pings on an HTTP/2 connection; 0 for none.",
    env: "GRPC_KEEPALIVE_MS",
  }),
  keepaliveTimeoutMs: time(100, 3_600_000, 10_000, {
    title: "Keepalive timeout",
    help: "For the answer to a ping; after that the connection is closed.",
    env: "GRPC_KEEPALIVE_TIMEOUT_MS",
  }),
  unreadMs: time(100, 3_600_000, 10_000, {
    title: "Unread end",
    help: "How long a client may leave the last bytes of a call unread, once or twice as long: then the stream is reset with CANCEL.",
    env: "GRPC_UNREAD_MS",
  }),
  graceMs: time(0, 4_000, 2_000, {
    title: "Grace time",
    help: "For open calls when the service stops; after that they end with UNAVAILABLE.",
    env: "GRPC_GRACE_MS",
  }),

  recordedMessageBytes: recordedMessageField(
    "grpc",
    "message",
    "First bytes of each message, always kept for the inspector. “Recorded rest of messages” keeps more where there is room.",
  ),
  recordedMessageRate: recordedRateField("grpc"),
});
export type GrpcConfig = z.output<typeof grpcConfig>;
