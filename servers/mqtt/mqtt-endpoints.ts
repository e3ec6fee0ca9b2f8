import type { Endpoint } from "../../contract/service.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import type { MqttConfig } from "./mqtt-config.ts";

/** Undefined: off. */
export interface ListenerPorts {
  readonly mqtt: number;
  readonly webSocket: number | undefined;
  readonly mqtts: number | undefined;
  readonly secureWebSocket: number | undefined;
}

type PortConfig = Pick<MqttConfig, "port" | "webSocket" | "webSocketPort" | "tls" | "tlsPort" | "secureWebSocketPort">;

export const listenerPorts = (config: PortConfig): ListenerPorts => ({
  mqtt: config.port,
  webSocket: config.webSocket ? config.webSocketPort : undefined,
  mqtts: config.tls ? config.tlsPort : undefined,
  secureWebSocket: config.tls && config.webSocket ? config.secureWebSocketPort : undefined,
});

export function mqttEndpoints({ mqtt, webSocket, mqtts, secureWebSocket }: ListenerPorts, openToLan: boolean): readonly Endpoint[] {
  const listeners = [
    ["MQTT", "mqtt", mqtt],
    ["WS", "ws", webSocket],
    ["MQTTS", "mqtts", mqtts],
    ["WSS", "wss", secureWebSocket],
  ] as const;
  return reachableEndpoints(openToLan, (host) =>
    listeners.flatMap(([label, scheme, port]) => (port === undefined ? [] : [{ label, url: `${scheme}://${host}:${port}` }])),
  );
}
