import { z } from "zod";
import {
  commonFields,
  failedLoginFields,
  field,
  portField,
  recordCredentialsField,
  redisAddressField,
  tlsHandshakesField,
  usersField,
  wholeNumber,
} from "../core/config/common-fields.ts";
import { allowedOriginsField } from "../core/net/allowed-origins.ts";
import { parseTopicRule, topicRuleRows } from "./access/topic-rules.ts";
import { limitFields, protocolFields } from "./engine/engine-limits.ts";

export const mqttConfig = z.strictObject({
  port: portField(1883, { title: "MQTT port", env: "MQTT_PORT" }),
  webSocketPort: portField(9001, { title: "WebSocket port", help: "Any path, subprotocol mqtt.", env: "WS_PORT" }),
  tlsPort: portField(8883, { title: "TLS port", env: "MQTTS_PORT" }),
  secureWebSocketPort: portField(9002, { title: "Secure WebSocket port", env: "WSS_PORT" }),
  webSocket: field(z.boolean().default(true), { title: "WebSocket", env: "MQTT_WEBSOCKET", group: "Listening" }),
  tls: field(z.boolean().default(true), {
    title: "TLS",
    help: "Serves the TLS port and the secure WebSocket port.",
    env: "MQTT_TLS",
    group: "Listening",
  }),
  ...commonFields("mqtt"),
  allowedOrigins: allowedOriginsField("MQTT_ALLOWED_ORIGINS", "the WebSocket ports"),

  anonymous: field(z.boolean().default(true), {
    title: "Anonymous access",
    help: "Clients without a user name may connect. With no users defined, any name may connect.",
    env: "ANONYMOUS",
    group: "Access",
  }),
  users: usersField({ env: "MQTT_USERS", group: "Access" }),
  passwordFile: field(z.string().default(""), {
    title: "Password file",
    help: "A file made by mosquitto_passwd. Its users are added to those above.",
    env: "MQTT_PASSWORD_FILE",
    group: "Access",
  }),
  ...failedLoginFields({
    prefix: "MQTT",
    group: "Access",
    failures: 100,
    windowSeconds: 60,
    help: "So many are allowed for one address within the window. After that its logins are refused, with 0x9F in MQTT 5.",
  }),
  topicRules: field(
    z
      .array(
        z.string().refine((text) => parseTopicRule(text) !== undefined, {
          error: ({ input }) => `"${String(input)}" is not a valid rule; a rule is: user read|write|readwrite|deny filter`,
        }),
      )
      .default([]),
    {
      title: "Topic rules",
      help: "No rules: everything is allowed. With rules: only what is allowed; deny wins, in any order. %u and %c in topics are replaced by the user name and the client identifier. A variable or flag takes user read|write|readwrite|deny filter, with commas between rules; * is everyone, - is clients without a user name.",
      env: "MQTT_TOPIC_RULES",
      group: "Access",
      rows: topicRuleRows,
    },
  ),
  certificateFile: field(z.string().default(""), {
    title: "Certificate",
    help: "A PEM file. Without one, a certificate of this installation is used.",
    env: "MQTT_CERTIFICATE_FILE",
    group: "TLS",
  }),
  keyFile: field(z.string().default(""), {
    title: "Key",
    help: "A PEM file with the key of the certificate.",
    env: "MQTT_KEY_FILE",
    group: "TLS",
  }),
  clientCaFile: field(z.string().default(""), {
    title: "Client authority",
    help: "A PEM file. Client certificates that this authority signed are accepted, and their common name is the user name.",
    env: "MQTT_CLIENT_CA_FILE",
    group: "TLS",
  }),
  requireClientCertificate: field(z.boolean().default(false), {
    title: "Require a client certificate",
    env: "MQTT_REQUIRE_CLIENT_CERTIFICATE",
    group: "TLS",
  }),

  persistence: field(z.boolean().default(false), {
    title: "Keep on disk",
    help: "Sessions, their queues and retained messages survive a restart.",
    env: "MQTT_PERSISTENCE",
    group: "Persistence",
  }),
  powerSafe: field(z.boolean().default(false), {
    title: "Wait for the disk",
    help: "Acknowledged messages survive a power failure too, not only a crash; each answer waits for the disk.",
    env: "MQTT_POWER_SAFE",
    group: "Persistence",
  }),

  cluster: redisAddressField({
    title: "Redis",
    help: "redis://user:password@host:6379/0: all brokers that name the same database share messages, retained messages, sessions and shared subscriptions. Redis stores them, so nothing is stored on disk here. Empty: a single broker.",
    env: "MQTT_CLUSTER",
    group: "Cluster",
  }),
  clusterTimeoutMs: field(wholeNumber(500, 600_000, 6_000), {
    title: "Broker timeout",
    help: "A broker without a heartbeat for this time is considered dead: another one publishes its wills and takes over its sessions.",
    unit: "ms",
    env: "MQTT_CLUSTER_TIMEOUT_MS",
    group: "Cluster",
  }),

  ...limitFields,
  tlsHandshakes: tlsHandshakesField("MQTT", "Limits of the broker"),

  ...protocolFields,
  sysIntervalSeconds: field(wholeNumber(0, 3_600, 10), {
    title: "$SYS interval",
    help: "How often the broker publishes its statistics. With 0 it never does.",
    unit: "s",
    env: "MQTT_SYS_INTERVAL_SECONDS",
    group: "Protocol",
  }),

  demoDevice: field(z.boolean().default(false), {
    title: "Demo device",
    help: "A simulated device that answers messages on commands/#.",
    env: "MQTT_DEMO_DEVICE",
    group: "Demo",
  }),

  recordedPerSecond: field(wholeNumber(0, 100_000, 10_000), {
    title: "Recorded messages",
    help: "Messages above this rate are counted and not recorded.",
    unit: "msg/s",
    env: "MQTT_RECORDED_PER_SECOND",
    group: "Recorder",
  }),
  recordedMessages: field(wholeNumber(0, 1_000_000, 50_000), {
    title: "Kept messages",
    help: "The history of all topics together has up to so many messages, and one topic a quarter of them.",
    unit: "messages",
    env: "MQTT_RECORDED_MESSAGES",
    group: "Recorder",
  }),
  recordedBytes: field(wholeNumber(0, 1 << 30, 48 << 20), {
    title: "Kept bytes",
    help: "The messages of the history have up to so many bytes, and those of one topic a quarter of them.",
    unit: "B",
    env: "MQTT_RECORDED_BYTES",
    group: "Recorder",
  }),
  recordCredentials: recordCredentialsField("mqtt", "passwords and authentication data"),
  recordedPayloadBytes: field(wholeNumber(0, 1 << 20, 64 << 10), {
    title: "Recorded payload",
    help: "The inspector shows so many bytes of a payload. An export contains the whole payload.",
    unit: "B",
    env: "MQTT_RECORDED_PAYLOAD_BYTES",
    group: "Recorder",
  }),
  topics: field(wholeNumber(100, 1_000_000, 200_000), {
    title: "Topics in the tree",
    help: "When the tree is full, a new topic takes the place of the one that was silent longest. On average a topic may take 640 bytes, a little more than one of ordinary length needs. $SYS is not counted.",
    unit: "topics",
    env: "MQTT_TOPICS",
    group: "Recorder",
  }),
});
export type MqttConfig = z.output<typeof mqttConfig>;
