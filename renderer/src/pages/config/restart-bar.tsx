import { Button } from "@mantine/core";
import type { ServiceId } from "../../../../contract/service.ts";
import { useService } from "../../control/use-store.ts";
import { StatusShape } from "../../ui/status-shape.tsx";
import { useServiceOperations } from "../../ui/use-service-operations.ts";
import styles from "./config-tab.module.css";

/** Shown while the running service differs from what is saved. */
export function RestartBar({ id }: { id: ServiceId }) {
  const service = useService(id);
  const { restart, pending } = useServiceOperations();
  if (!service?.restartNeeded || service.status.state !== "running") return null;
  return (
    <div className={styles.restart} role="status">
      <StatusShape shape="warning" />
      <strong>{service.title} still runs with the values from before.</strong>
      <span className={styles.quiet}>Connections close when it restarts.</span>
      <Button type="button" loading={pending === "restart"} onClick={() => restart(id)}>
        Restart now
      </Button>
    </div>
  );
}
