import type { ServiceStatus } from "../../contract/service.ts";
import type { Log } from "../core/service/log.ts";
import type { Service } from "../core/service/service.ts";

/** Writes what a change of a service's status means to its log. */
export function logStatus(log: Log, service: Service, status: ServiceStatus, before: ServiceStatus): void {
  switch (status.state) {
    case "starting":
      if (status.doing !== undefined) log.info(`Starting: ${status.doing}`);
      return;
    case "running":
      if (before.state !== "running") log.info(`Listening: ${status.endpoints.map(({ url }) => url).join(", ")}`);
      else if (status.silentSince === undefined) log.notable(`${service.title} answers again`);
      else log.warning(`${service.title} does not answer: its process hangs or is very busy. A restart ends it.`);
      return;
    case "failed":
      log.error(`${status.failure.message}. ${status.failure.hint}`);
      return;
    case "stopped":
      log.info("Stopped");
      return;
    case "stopping":
      return;
    default:
      status satisfies never;
  }
}
