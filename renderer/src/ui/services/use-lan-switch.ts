import type { ServiceView } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { attempt, notifyDone } from "../status/notify.tsx";
import { useServiceOperations } from "./use-service-operations.ts";

/** What choosing it does: "Open HTTP to the LAN, with a restart" */
export function lanSwitchTitle({ title, openToLan, status }: Pick<ServiceView, "title" | "openToLan" | "status">): string {
  const change = openToLan ? `Close ${title} to the LAN` : `Open ${title} to the LAN`;
  return status.state === "running" ? `${change}, with a restart` : change;
}

/** Opens a service to the LAN or closes it, and restarts it if it runs. Over a variable or a flag the change is for this run. */
export function useLanSwitch() {
  const client = useControl();
  const { restart } = useServiceOperations();
  return async ({ id, title, openToLan, status }: ServiceView): Promise<void> => {
    const values = { openToLan: !openToLan };
    const changed = await attempt(
      client.call("config.read", { id }).then(({ fields }) => {
        const source = fields.find(({ name }) => name === "openToLan")?.source;
        const isRuled = source === "environment" || source === "flag" || source === "run";
        return client.call(isRuled ? "config.override" : "config.write", { id, values });
      }),
    );
    if (!changed) return;
    if (status.state === "running" && !(await restart(id))) return;
    notifyDone(openToLan ? `${title} listens on this computer only` : `${title} is open to the LAN`);
  };
}
