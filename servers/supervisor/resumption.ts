import type { SampleViews } from "../../contract/sample-traffic.ts";
import type { ServiceStatus } from "../../contract/service.ts";
import type { ResumingAction, Service } from "../core/service/service.ts";

export interface Resumption {
  /** A view that the running process has published. */
  viewed(name: string, value: unknown): void;
  /** To be called at each change of the status. */
  changed(status: ServiceStatus, before: ServiceStatus): void;
  /** Runs a restart: what goes on then goes on after it. */
  over<Result>(restart: () => Promise<Result>): Promise<Result>;
}

/** Sample traffic and other things that a user started go on after a restart and after a crash; a stop ends them. */
export function createResumption(service: Service, act: (action: string, params: unknown) => Promise<unknown>): Resumption {
  const views = new Map<string, unknown>();
  let waiting: readonly ResumingAction[] = [];
  let restarts = 0;

  function running(): readonly ResumingAction[] {
    const sample = views.get("sample") as SampleViews["sample"] | undefined;
    return [...(sample?.running ? [{ action: "sample.start", params: sample.params }] : []), ...(service.resumes?.(views) ?? [])];
  }

  return {
    viewed: (name, value) => void views.set(name, value),
    changed(status, before) {
      if (before.state === "running" && status.state !== "running") {
        waiting = running();
        views.clear();
      }
      if (status.state === "stopped" && restarts === 0) waiting = [];
      if (status.state !== "running" || before.state === "running") return;
      const resumed = waiting;
      waiting = [];
      // The service logs why it refuses one.
      for (const { action, params } of resumed) void act(action, params).catch(() => {});
    },
    async over(restart) {
      restarts++;
      try {
        return await restart();
      } catch (error) {
        waiting = [];
        throw error;
      } finally {
        restarts--;
      }
    },
  };
}
