import { useState } from "react";
import type { ConfigView } from "../../../../contract/config.ts";
import type { Failure, ServiceId, ServiceView, SuggestedFix } from "../../../../contract/service.ts";
import { useControl, useStores } from "../../control/client-context.tsx";
import type { ControlClient } from "../../control/control-client.ts";
import { failureOf } from "../../control/failure-error.ts";
import type { ReadableStore } from "../../control/frame-store.ts";
import { notifyFailure } from "../status/notify.tsx";

/** The response to a call arrives before the corresponding status. */
const statusLagMs = 500;

export type ServiceOperation = "start" | "stop" | "restart" | "fix" | "startAll" | "stopAll";

/** Start, stop and similar operations, with the one in progress; a service's own failure is shown on its card, others as notifications. */
export function useServiceOperations() {
  const client = useControl();
  const stores = useStores();
  const [pending, setPending] = useState<ServiceOperation>();

  async function run(operation: ServiceOperation, work: Promise<unknown>, id?: ServiceId): Promise<boolean> {
    setPending(operation);
    try {
      await work;
      return true;
    } catch (error) {
      if (!id || !(await showsFailure(stores.service(id), failureOf(error)))) notifyFailure(error);
      return false;
    } finally {
      setPending(undefined);
    }
  }

  return {
    pending,
    start: (id: ServiceId) => run("start", client.call("service.start", { id }), id),
    stop: (id: ServiceId) => run("stop", client.call("service.stop", { id }), id),
    restart: (id: ServiceId) => run("restart", client.call("service.restart", { id }), id),
    /** Applies the fix that a failure offers, then starts the service. */
    fix: (id: ServiceId, fix: SuggestedFix) =>
      run(
        "fix",
        applyFix(client, id, fix).then(() => client.call("service.start", { id })),
        id,
      ),
    startAll: () => run("startAll", client.call("service.startAll")),
    stopAll: () => run("stopAll", client.call("service.stopAll")),
  };
}

/** Applies the fix that a failure or a check offers, in the settings or for this run. */
export const applyFix = (client: ControlClient, id: ServiceId, fix: SuggestedFix): Promise<ConfigView> =>
  client.call(fix.thisRun ? "config.override" : "config.write", { id, values: { ...fix.config } });

/** Whether the service's status will show the failure. */
function showsFailure(service: ReadableStore<ServiceView | undefined>, failure: Failure): Promise<boolean> {
  const shows = () => {
    const status = service.get()?.status;
    return status?.state === "failed" && status.failure.message === failure.message;
  };
  if (shows()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const settle = (shown: boolean) => {
      clearTimeout(timer);
      unsubscribe();
      resolve(shown);
    };
    const timer = setTimeout(() => settle(false), statusLagMs);
    const unsubscribe = service.subscribe(() => shows() && settle(true));
  });
}
