import type { SampleViews } from "../../contract/sample-traffic.ts";
import type { ServiceStatus } from "../../contract/service.ts";
import type { ResumingAction, Service } from "../core/service/service.ts";

export interface Resumption {
  /** A view that the process has published while it ran or stopped. */
  viewed(name: string, value: unknown): void;
  /** To be called at each change of the status. */
  changed(status: ServiceStatus, before: ServiceStatus): void;
  /** Runs a restart: what goes on then goes on after it. */
  over<Result>(restart: () => Promise<Result>): Promise<Result>;
}

/** Sample traffic and other things that a user started go on after a restart and after a crash; a stop ends them. */
export function createResumption(service: Service, act: (action: string, params: unknown) => Promise<unknown>): Resumption {
  const views = new Map<string, unknown>();
  let sample: SampleViews["sample"] | undefined;
  let restarts = 0;

  function forget() {
    views.clear();
    sample = undefined;
  }

  return {
    viewed: (name, value) => void views.set(name, value),
    changed(status, before) {
      // A stop ends it, and shows that.
      if (before.state === "running" && status.state !== "running") sample = views.get("sample") as typeof sample;
      if (status.state === "stopped" && restarts === 0) forget();
      if (status.state !== "running" || before.state === "running") return;
      const resumed: ResumingAction[] = [...(service.resumes?.(views) ?? [])];
      if (sample?.running) resumed.unshift({ action: "sample.start", params: sample.params });
      forget();
      // The service logs why it refuses one.
      for (const { action, params } of resumed) void act(action, params).catch(() => {});
    },
    async over(restart) {
      restarts++;
      try {
        return await restart();
      } catch (error) {
        forget();
        throw error;
      } finally {
        restarts--;
      }
    },
  };
}
