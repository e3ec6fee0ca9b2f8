import type { ReactNode } from "react";
import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { Caption } from "../../ui/panel.tsx";
import { Swatch } from "../../ui/plot-card.tsx";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";
import { Section } from "../section.tsx";
import styles from "./timing.module.css";

interface Phase {
  readonly name: string;
  readonly what: string;
  readonly ms: number | undefined;
  readonly colour: string;
}

function phasesOf(timing: HttpExchangeFacts["timing"]): readonly Phase[] {
  return [
    { name: "Receive", what: "from the head of the request to the last byte of its body", ms: timing.receiveMs, colour: "var(--bl-s7)" },
    { name: "Answer", what: "from the end of the request to the head of the answer", ms: timing.answerMs, colour: "var(--bl-s1)" },
    { name: "Send", what: "from the head of the answer to its last byte", ms: timing.sendMs, colour: "var(--bl-s4)" },
  ];
}

/** When an exchange began and how long it took; below that, its phases. */
function TimeSection({ exchange: { at, timing }, children }: { readonly exchange: HttpExchangeFacts; readonly children: ReactNode }) {
  const facts = (
    <Caption className={styles.facts}>
      {timing.totalMs === undefined ? "in progress," : <b>{formatTook(timing.totalMs)}</b>} at{" "}
      <span className={styles.mono} title={isoTime(at)}>
        {clockTime(at)}
      </span>
    </Caption>
  );
  return (
    <Section title="Time" actions={facts}>
      {children}
    </Section>
  );
}

/** The phases as one bar with a legend. */
export function TimingSummary({ exchange }: { readonly exchange: HttpExchangeFacts }) {
  const phases = phasesOf(exchange.timing);
  // Flex-grow factors with a sum below 1 would not fill the bar.
  const growth = 1_000;
  // A phase that has not ended yet gets a share too; otherwise the earlier phases would fill the bar.
  const ahead = Math.max(1, ...phases.map((phase) => phase.ms ?? 0));
  return (
    <TimeSection exchange={exchange}>
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
              <Swatch color={phase.colour} />
              {phase.name}
            </dt>
            <dd>{phase.ms === undefined ? "–" : formatTook(phase.ms)}</dd>
          </div>
        ))}
      </dl>
    </TimeSection>
  );
}

/** The phases below each other, each as a bar on the time axis. */
export function TimingTab({ exchange }: { readonly exchange: HttpExchangeFacts }) {
  const { timing } = exchange;
  const phases = phasesOf(timing);
  const total = timing.totalMs ?? phases.reduce((sum, phase) => sum + (phase.ms ?? 0), 0);
  const share = (ms: number) => `${total > 0 ? (100 * ms) / total : 0}%`;
  let startMs = 0;
  return (
    <TimeSection exchange={exchange}>
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
    </TimeSection>
  );
}
