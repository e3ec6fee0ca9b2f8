import { mqttActions } from "../../contract/mqtt.ts";
import type { Endpoint } from "../../contract/service.ts";
import { defineService } from "../core/service.ts";
import { mqttConfig } from "./mqtt-config.ts";
import { mqttSnippets } from "./mqtt-snippets.ts";

export const mqttService = defineService({
  id: "mqtt",
  title: "MQTT",
  purpose: "Broker, 3.1.1 and 5.0, TCP, WebSocket and TLS",
  config: mqttConfig,
  actions: mqttActions,
  ports: ["port", "webSocketPort", "tlsPort", "secureWebSocketPort"],
  endpoints({ port, webSocket, webSocketPort, tls, tlsPort, secureWebSocketPort }) {
    const endpoints: Endpoint[] = [{ label: "MQTT", url: `mqtt://127.0.0.1:${port}` }];
    if (webSocket) endpoints.push({ label: "WS", url: `ws://127.0.0.1:${webSocketPort}` });
    if (tls) endpoints.push({ label: "MQTTS", url: `mqtts://127.0.0.1:${tlsPort}` });
    if (tls && webSocket) endpoints.push({ label: "WSS", url: `wss://127.0.0.1:${secureWebSocketPort}` });
    return endpoints;
  },
  snippets: mqttSnippets,
  start: async (context) => (await import("./start-mqtt.ts")).startMqtt(context),
});
