import type { Service } from "../core/service/service.ts";
import { createManagedService, type ManagedService } from "./managed-service.ts";
import type { ManagedServiceOptions } from "./managed-service-options.ts";
import { notRunning } from "./service-failures.ts";

/** Gives access to a stopped service's data: a process that answers actions, started on demand and ended when idle. */
export interface Browsing {
  /** Throws SERVICE_NOT_RUNNING if the service cannot be browsed, or what the action throws. */
  act(action: string, params: unknown): Promise<unknown>;
  /** After a change of the configuration: a process that has another one is replaced, so that pages show the data of the new one. */
  refresh(): void;
  /** Resolves when no process is left: before the service itself starts. */
  end(): Promise<void>;
}

/** Long enough to read a page and ask for the next. */
const idleMs = 60_000;

export function createBrowsing(
  service: Service,
  options: Pick<
    ManagedServiceOptions,
    "spawner" | "config" | "isOutdated" | "dataDir" | "certificatesDir" | "firstRowId" | "readKept" | "onBatch" | "onOutput" | "onGone"
  > & { readonly onView: (name: string, value: unknown) => void },
): Browsing {
  let managed: ManagedService | undefined;
  let idle: NodeJS.Timeout | undefined;
  let underWay = 0;

  function endWhenIdle() {
    clearTimeout(idle);
    if (underWay === 0) idle = setTimeout(() => void end(), idleMs);
  }
  async function end() {
    clearTimeout(idle);
    await managed?.stop();
  }
  return {
    async act(action, params) {
      if (!service.browse) throw notRunning(service);
      managed ??= createManagedService({
        ...options,
        service,
        mode: "browse",
        explain: async (failure) => failure,
        onView(name, value) {
          // An export in progress counts as use.
          endWhenIdle();
          options.onView(name, value);
        },
        onStatus: () => {},
        onCounters: () => {},
      });
      clearTimeout(idle);
      underWay++;
      try {
        // What is shown and deleted is the data of the configuration that the user sees.
        await managed.start();
        return await managed.act(action, params);
      } finally {
        underWay--;
        endWhenIdle();
      }
    },
    refresh() {
      const state = managed?.status.state;
      // Its next action says why it cannot start.
      if (state === "starting" || state === "running") void managed?.start().catch(() => {});
    },
    end,
  };
}
