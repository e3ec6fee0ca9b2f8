import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { formatTook } from "../../ui/duration.ts";
import styles from "./timing-bar.module.css";

export interface Phase {
  readonly name: string;
  readonly what: string;
  readonly ms: number | undefined;
  readonly colour: string;
}

export function phasesOf(timing: HttpExchangeFacts["timing"]): readonly Phase[] {
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
      <div className={styles.bar} aria-hidden="true">
        {phases.map((phase) => (
          <span
            key={phase.name}
            style={{ flexGrow: (phase.ms ?? ahead) * growth, background: phase.colour }}
            data-waiting={phase.ms === undefined}
          />
        ))}
      </div>
      <dl className={styles.legend}>
        {phases.map((phase) => (
          <div key={phase.name} title={phase.what}>
            <dt>
              <span className={styles.swatch} style={{ background: phase.colour }} />
              {phase.name}
            </dt>
            <dd>{phase.ms === undefined ? "–" : formatTook(phase.ms)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
