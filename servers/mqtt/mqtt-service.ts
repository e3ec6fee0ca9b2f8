import { type MqttViews, mqttActions } from "../../contract/services/mqtt.ts";
import { defineService } from "../core/service/service.ts";
import { mqttConfig } from "./mqtt-config.ts";
import { listenerPorts, mqttEndpoints } from "./mqtt-endpoints.ts";
import { mqttSnippets } from "./mqtt-snippets.ts";

export const mqttService = defineService({
  id: "mqtt",
  title: "MQTT",
  purpose: "Broker, 3.1.1 and 5.0, TCP, WebSocket and TLS",
  rateUnit: "msg/s",
  config: mqttConfig,
  actions: mqttActions,
  // Without sessions on disk, only optional files are stored: reply rules and a replay file.
  keepsFiles: ({ persistence, cluster }) => (persistence && cluster === "" ? true : "if possible"),
  details: {
    "mqtt-message": async () => (await import("./inspector/message-bytes.ts")).mqttMessageDecoder,
    "mqtt-event": async () => (await import("./inspector/mqtt-event.ts")).mqttEventDecoder,
  },
  ports: [
    { field: "port", transport: "tcp" },
    { field: "webSocketPort", transport: "tcp", isUsed: ({ webSocket }) => webSocket },
    { field: "tlsPort", transport: "tcp", isUsed: ({ tls }) => tls },
    { field: "secureWebSocketPort", transport: "tcp", isUsed: ({ webSocket, tls }) => webSocket && tls },
  ],
  async hashSecrets(values) {
    if (!Array.isArray(values.users)) return values;
    const { hashedLines } = await import("../core/credentials/users.ts");
    return { ...values, users: await hashedLines(values.users as readonly string[]) };
  },
  endpoints: (config) => mqttEndpoints(listenerPorts(config), config.openToLan),
  snippets: mqttSnippets,
  resumes: (views) =>
    ((views.get("repeated") as MqttViews["repeated"] | undefined)?.list ?? []).map((params) => ({ action: "repeat.start", params })),
  start: async (context) => (await import("./start-mqtt.ts")).startMqtt(context),
  browse: {
    fields: ["recordedPerSecond", "recordedPayloadBytes", "recordedMessages", "recordedBytes", "topics", "persistence", "cluster"],
    open: async (context) => (await import("./browse-mqtt.ts")).browseMqtt(context),
  },
});
