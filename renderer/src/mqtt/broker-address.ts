import type { Endpoint, ServiceView } from "../../../contract/service.ts";
import type { BrokerAddress } from "./command-client.ts";

export const endpointsOf = (service: ServiceView | undefined): readonly Endpoint[] =>
  (service?.status.state === "running" ? service.status.endpoints : service?.plannedEndpoints) ?? [];

/** Where the broker listens, or would, without TLS. */
export function brokerAddress(service: ServiceView | undefined): BrokerAddress {
  const url = endpointsOf(service).find((endpoint) => endpoint.url.startsWith("mqtt://"))?.url ?? "mqtt://127.0.0.1:1883";
  const [, host = "127.0.0.1", port = "1883"] = /^mqtt:\/\/(.+):(\d+)/.exec(url) ?? [];
  return { host, port };
}
