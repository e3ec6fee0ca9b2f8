import { Switch } from "@mantine/core";
import { grpcActions, type HealthState } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import styles from "./services.module.css";

/** The state of a service in grpc.health.v1. Clients that watch it are told a change at once. */
export function HealthSwitch({ service, state }: { readonly service: string; readonly state: HealthState }) {
  const client = useControl();
  const isServing = state === "SERVING";
  const change = () =>
    void attempt(client.action(grpcActions, "grpc", "health.set", { service, state: isServing ? "NOT_SERVING" : "SERVING" }));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the row below it is not chosen, and its keys are the switch's.
    <span className={styles.health} onMouseDown={(event) => event.stopPropagation()} onKeyDown={(event) => event.stopPropagation()}>
      <Switch checked={isServing} aria-label={`${service || "Whole server"} is serving`} onChange={change} />
      <span data-serving={isServing}>{state}</span>
    </span>
  );
}
