import type { ServiceView } from "../../../../../contract/service.ts";
import type { MqttCertificate } from "../../../../../contract/services/mqtt.ts";
import { endpointsOf } from "../../../ui/texts/address.ts";

export type BrokerTransport = "mqtt" | "mqtts" | "ws" | "wss";

export interface BrokerAddress {
  readonly transport: BrokerTransport;
  readonly host: string;
  readonly port: string;
  /** With TLS: the file of the authority to trust. */
  readonly caFile?: string;
}

export const usesTls = (transport: BrokerTransport): boolean => transport === "mqtts" || transport === "wss";
export const usesWebSocket = (transport: BrokerTransport): boolean => transport === "ws" || transport === "wss";

const transportTitles: readonly (readonly [BrokerTransport, string])[] = [
  ["mqtt", "MQTT"],
  ["mqtts", "MQTTS"],
  ["ws", "WS"],
  ["wss", "WSS"],
];

/** The transports on which the broker listens, or will after its start. */
export const brokerTransports = (service: ServiceView | undefined): readonly { value: BrokerTransport; label: string }[] =>
  transportTitles
    .filter(([transport]) => transport === "mqtt" || urlWith(service, transport) !== undefined)
    .map(([value, label]) => ({ value, label }));

const urlWith = (service: ServiceView | undefined, transport: BrokerTransport): string | undefined =>
  endpointsOf(service).find(({ url }) => url.startsWith(`${transport}://`))?.url;

/** The broker's address, or its planned one; falls back to plain MQTT if the transport is off. */
export function brokerAddress(
  service: ServiceView | undefined,
  transport: BrokerTransport = "mqtt",
  certificate?: MqttCertificate | null,
): BrokerAddress {
  const url = urlWith(service, transport);
  if (url === undefined && transport !== "mqtt") return brokerAddress(service);
  const [, host = "127.0.0.1", port = "1883"] = /^\w+:\/\/(.+):(\d+)/.exec(url ?? "") ?? [];
  const isTls = usesTls(transport);
  return { transport, host, port, ...(isTls && { caFile: certificate?.isSelfMade ? certificate.file : "ca.pem" }) };
}
