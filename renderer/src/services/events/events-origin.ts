import type { ServiceView } from "../../../../contract/service.ts";

/** Where the service listens, or would: without a slash at its end. */
export function eventsOrigin(service: ServiceView | undefined): string {
  const endpoints = service?.status.state === "running" ? service.status.endpoints : service?.plannedEndpoints;
  return new URL(endpoints?.[0]?.url ?? "http://127.0.0.1:8082").origin;
}
