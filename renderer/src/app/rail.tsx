import { IconLayoutGrid, IconSettings, IconTimeline } from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import { useServices } from "../control/use-store.ts";
import styles from "./rail.module.css";
import { RailService } from "./rail-service.tsx";
import { type Route, useRoute } from "./route.ts";

/** Arrow keys, Home and End move through the links. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (to === undefined) return;
  links[Math.max(0, Math.min(links.length - 1, to))]?.focus();
  event.preventDefault();
}

export function Rail() {
  const route = useRoute();
  const services = useServices();
  const built = services.filter((service) => service.built);
  const running = built.filter((service) => service.status.state === "running").length;
  return (
    <nav className={styles.rail} aria-label="Pages" onKeyDown={walk}>
      <a className={styles.link} href="#/overview" aria-current={current(route, "overview")}>
        <IconLayoutGrid size={14} stroke={1.5} className={styles.icon} />
        <span className={styles.name}>Overview</span>
        {built.length > 0 && <span className={styles.figure}>{`${running} of ${built.length}`}</span>}
      </a>
      <h2 className={styles.heading}>Services</h2>
      <ul className={styles.list}>
        {services.map((service) => (
          <li key={service.id}>
            <RailService service={service} route={route} />
          </li>
        ))}
      </ul>
      <div className={styles.foot}>
        <a className={styles.link} href="#/timeline" aria-current={current(route, "timeline")}>
          <IconTimeline size={14} stroke={1.5} className={styles.icon} />
          <span className={styles.name}>Timeline</span>
        </a>
        <a className={styles.link} href="#/settings" aria-current={current(route, "settings")}>
          <IconSettings size={14} stroke={1.5} className={styles.icon} />
          <span className={styles.name}>Settings</span>
        </a>
      </div>
    </nav>
  );
}

const current = (route: Route, page: Route["page"]) => (route.page === page ? "page" : undefined);
