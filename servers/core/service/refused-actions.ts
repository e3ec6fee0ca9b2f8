import type { Handlers, Operations } from "../../../contract/operation.ts";
import { ServiceError } from "./service-error.ts";

/** Handlers for a service that is browsed: what only the running service can do is refused. */
export function refusedActions<Actions extends Operations>(actions: Actions, title: string): Handlers<Actions> {
  const refuse = () => {
    throw new ServiceError("SERVICE_NOT_RUNNING", `${title} is not running`, "Start it first.");
  };
  return Object.fromEntries(Object.keys(actions).map((name) => [name, refuse])) as unknown as Handlers<Actions>;
}
