import type { ServiceId } from "../contract/service.ts";
import type { Supervisor } from "../servers/supervisor/supervisor.ts";

/** Actions of tray and menu on services; no caller waits for them, so a failure is reported. */
export interface ServiceActions {
  start(id: ServiceId): void;
  stop(id: ServiceId): void;
  startAll(): void;
  stopAll(): void;
}

export function createServiceActions(
  supervisor: Pick<Supervisor, "views" | "start" | "stop">,
  report: (error: unknown) => void,
): ServiceActions {
  const start = (id: ServiceId) => void supervisor.start(id).catch(report);
  const stop = (id: ServiceId) => void supervisor.stop(id).catch(report);
  const built = () => supervisor.views().filter((view) => view.built);
  return {
    start,
    stop,
    startAll: () => {
      for (const { id, status } of built()) if (status.state === "stopped" || status.state === "failed") start(id);
    },
    stopAll: () => {
      for (const { id, status } of built()) if (status.state !== "stopped") stop(id);
    },
  };
}
