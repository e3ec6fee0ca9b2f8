import type { ReactNode } from "react";
import { CommandLine } from "../copy/command-line.tsx";
import empty from "./empty-state.module.css";
import styles from "./first-steps.module.css";

interface FirstStepsProps {
  readonly steps: readonly { readonly title: string; readonly text: ReactNode }[];
  /** Buttons. */
  readonly ways: ReactNode;
  /** What will appear here: names with descriptions. */
  readonly appears: readonly (readonly [name: string, what: string])[];
  readonly command?: string | undefined;
}

/** A live page without data: numbered steps, buttons, a description of what will appear, and a command to copy. */
export function FirstSteps({ steps, ways, appears, command }: FirstStepsProps) {
  return (
    <div className={styles.empty}>
      <ol className={styles.steps}>
        {steps.map(({ title, text }) => (
          <li key={title}>
            <span>
              <b>{title}</b> {text}
            </span>
          </li>
        ))}
      </ol>
      <div className={empty.ways}>{ways}</div>
      <dl className={styles.appears}>
        {appears.map(([name, what]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      {command !== undefined && (
        <div className={styles.command}>
          <CommandLine command={command} />
        </div>
      )}
    </div>
  );
}

/** Centred on an empty page. */
export function EmptyPage({ children }: { readonly children: ReactNode }) {
  return <div className={styles.empty}>{children}</div>;
}
