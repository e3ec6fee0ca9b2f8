import type { ServiceView } from "../../../../contract/service.ts";
import styles from "./overview.module.css";

export function NotBuiltLine({ services }: { services: readonly ServiceView[] }) {
  return (
    <p className={styles.unbuilt} style={{ margin: 0 }}>
      <strong>Not built yet</strong>
      {services.map((service) => service.title).join(" · ")}
    </p>
  );
}
