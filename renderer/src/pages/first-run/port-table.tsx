import type { ServiceView } from "../../../../contract/service.ts";
import { Failed } from "../../ui/status/answered.tsx";
import styles from "./first-run.module.css";
import { PortRow } from "./port-row.tsx";
import { usePortChecks } from "./use-port-checks.ts";

interface PortTableProps {
  readonly built: readonly ServiceView[];
  readonly unbuilt: readonly ServiceView[];
}

/** Where each service will listen, and whether its ports are free. */
export function PortTable({ built, unbuilt }: PortTableProps) {
  const { value: checks, failure, isReading, again } = usePortChecks();
  return (
    <div className={styles.panel}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th className={styles.shape}>
              <span className="visually-hidden">State</span>
            </th>
            <th>Service</th>
            <th className={styles.purpose}>Provides</th>
            <th>Address, once started</th>
            <th>Ports</th>
            <th className={styles.button}>
              <span className="visually-hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {built.map((service) => (
            <PortRow key={service.id} service={service} checks={checks?.filter((one) => one.service === service.id)} onFixed={again} />
          ))}
        </tbody>
      </table>
      {failure && <Failed what="the state of the ports" failure={failure} onRetry={again} isRetrying={isReading} compact />}
      {unbuilt.length > 0 && <div className={styles.unbuilt}>{`Not built yet: ${unbuilt.map((service) => service.title).join(", ")}`}</div>}
    </div>
  );
}
