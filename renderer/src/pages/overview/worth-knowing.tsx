import { type LogLine, newestOfEach } from "../../../../contract/log.ts";
import type { ServiceView } from "../../../../contract/service.ts";
import { hashOf, servicePage } from "../../app/route.ts";
import { useNotable } from "../../control/use-store.ts";
import { Card } from "../../ui/plot-card.tsx";
import { type Shape, StatusShape } from "../../ui/status/status-shape.tsx";
import { clockSeconds, isoTime } from "../../ui/texts/time.ts";
import styles from "./service-card.module.css";

const shown = 30;

const shapeFor = ({ level }: LogLine): Shape => (level === "error" ? "failed" : level === "warning" ? "warning" : "note");

/** Failures, warnings and notable log lines of the services, newest first. */
export function WorthKnowing({ services }: { services: readonly ServiceView[] }) {
  const lines = newestOfEach(useNotable(), shown).toReversed();
  return (
    <Card className={styles.card} aria-labelledby="worth-knowing">
      <div className={styles.head}>
        <h2 className={styles.title} id="worth-knowing">
          Worth knowing
        </h2>
        <a className={styles.more} href="#/timeline">
          Timeline
        </a>
      </div>
      {lines.length === 0 && (
        <p className={styles.note}>Nothing yet. Failures, warnings and what else services note in the log appear here.</p>
      )}
      <ul className={styles.list}>
        {lines.map((line) => (
          <li key={line.seq}>
            <Known line={line} title={services.find((service) => service.id === line.source)?.title ?? "Backlot"} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Known({ line, title }: { line: LogLine; title: string }) {
  const href = line.source === "backlot" ? "#/settings" : hashOf(servicePage(line.source, "logs"));
  return (
    <a className={styles.known} href={href}>
      <StatusShape shape={shapeFor(line)} />
      <span className={styles.who}>{title}</span>
      <time className={styles.when} title={isoTime(line.at)}>
        {clockSeconds(line.at)}
      </time>
      <span className={styles.what}>{line.text}</span>
    </a>
  );
}
