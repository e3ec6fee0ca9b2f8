import type { ServiceView } from "../../../../contract/service.ts";

/** Where the service listens, or would: without a slash at its end. */
export function httpOrigin(service: ServiceView | undefined): string {
  const endpoints = service?.status.state === "running" ? service.status.endpoints : service?.plannedEndpoints;
  const url = endpoints?.find((endpoint) => endpoint.url.startsWith("http"))?.url ?? "http://127.0.0.1:8080";
  return new URL(url).origin;
}
