import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { Caption, SectionTitle } from "../../ui/panel.tsx";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";
import styles from "./http-inspector.module.css";
import bars from "./timing.module.css";

interface Phase {
  readonly name: string;
  readonly what: string;
  readonly ms: number | undefined;
  readonly colour: string;
}

function phasesOf(timing: HttpExchangeFacts["timing"]): readonly Phase[] {
  return [
    { name: "Receive", what: "from the request's head to the last byte of its body", ms: timing.receiveMs, colour: "var(--bl-s7)" },
    { name: "Answer", what: "from then to the head of the answer", ms: timing.answerMs, colour: "var(--bl-s1)" },
    { name: "Send", what: "from then to the last byte handed to the system", ms: timing.sendMs, colour: "var(--bl-s4)" },
  ];
}

/** Where the time went, as one bar and its figures. */
export function TimingBar({ timing }: { readonly timing: HttpExchangeFacts["timing"] }) {
  const phases = phasesOf(timing);
  // Shares of less than 1 in all would not fill the bar.
  const growth = 1_000;
  // What is still to come takes its place in the bar, or the phases so far would look like all of it.
  const ahead = Math.max(1, ...phases.map((phase) => phase.ms ?? 0));
  return (
    <>
      <div className={bars.bar} aria-hidden="true">
        {phases.map((phase) => (
          <span
            key={phase.name}
            style={{ flexGrow: (phase.ms ?? ahead) * growth, background: phase.colour }}
            data-waiting={phase.ms === undefined}
          />
        ))}
      </div>
      <dl className={bars.legend}>
        {phases.map((phase) => (
          <div key={phase.name} title={phase.what}>
            <dt>
              <span className={bars.swatch} style={{ background: phase.colour }} />
              {phase.name}
            </dt>
            <dd>{phase.ms === undefined ? "–" : formatTook(phase.ms)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Each phase on its own line, placed where it happened. */
export function TimingTab({ exchange: { at, timing } }: { readonly exchange: HttpExchangeFacts }) {
  const phases = phasesOf(timing);
  const total = timing.totalMs ?? phases.reduce((sum, phase) => sum + (phase.ms ?? 0), 0);
  const share = (ms: number) => `${total > 0 ? (100 * ms) / total : 0}%`;
  let startMs = 0;
  return (
    <section className={styles.time} aria-label="Timing">
      <div className={styles.timeHead}>
        <SectionTitle as="h3">{timing.totalMs === undefined ? "In progress" : formatTook(timing.totalMs)}</SectionTitle>
        <Caption>
          began at{" "}
          <span className={styles.mono} title={isoTime(at)}>
            {clockTime(at)}
          </span>
        </Caption>
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
