import { useState } from "react";
import type { ConfigView } from "../../../../contract/config.ts";
import type { Failure, ServiceId, ServiceView, SuggestedFix } from "../../../../contract/service.ts";
import { useControl, useStores } from "../../control/client-context.tsx";
import type { ControlClient } from "../../control/control-client.ts";
import { failureOf } from "../../control/failure-error.ts";
import type { ReadableStore } from "../../control/frame-store.ts";
import { notifyFailure } from "../status/notify.tsx";

/** The answer to a call arrives before the status that shows the same. */
const statusLagMs = 500;

export type ServiceOperation = "start" | "stop" | "restart" | "fix" | "startAll" | "stopAll";

/** Start, stop and their like, with the one that is under way; each service's own failure shows in its place, others in a note. */
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
    /** Makes the change that the failure offers, then starts the service. */
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

/** Makes the change that a failure or a check offers, there where it has an effect. */
export const applyFix = (client: ControlClient, id: ServiceId, fix: SuggestedFix): Promise<ConfigView> =>
  client.call(fix.thisRun ? "config.override" : "config.write", { id, values: { ...fix.config } });

/** Whether the service's own status comes to show the failure. */
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
