import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { formatTook } from "../../ui/duration.ts";
import { clockTime, isoTime } from "../../ui/time.ts";
import styles from "./http-inspector.module.css";
import { phasesOf } from "./timing-bar.tsx";

/** Each phase on its own line, placed where it happened. */
export function TimingTab({ exchange: { at, timing } }: { readonly exchange: HttpExchangeFacts }) {
  const phases = phasesOf(timing);
  const total = timing.totalMs ?? phases.reduce((sum, phase) => sum + (phase.ms ?? 0), 0);
  const share = (ms: number) => `${total > 0 ? (100 * ms) / total : 0}%`;
  let startMs = 0;
  return (
    <section className={styles.time} aria-label="Timing">
      <div className={styles.timeHead}>
        <h3 className={styles.title}>{timing.totalMs === undefined ? "Not over yet" : formatTook(timing.totalMs)}</h3>
        <span className={styles.facts}>
          began at{" "}
          <span className={styles.mono} title={isoTime(at)}>
            {clockTime(at)}
          </span>
        </span>
      </div>
      <dl className={styles.phases}>
        {phases.map((phase) => {
          const from = startMs;
          startMs += phase.ms ?? 0;
          return (
            <div key={phase.name} className={styles.phase}>
              <dt>{phase.name}</dt>
              <dd className={styles.what}>{phase.what}</dd>
              <dd className={styles.track} aria-hidden="true">
                <span style={{ marginLeft: `min(${share(from)}, 100% - 3px)`, width: share(phase.ms ?? 0), background: phase.colour }} />
              </dd>
              <dd className={styles.ms}>{phase.ms === undefined ? "–" : formatTook(phase.ms)}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
