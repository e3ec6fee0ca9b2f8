import type { ReactNode } from "react";
import { Boundary } from "../../ui/status/boundary.tsx";
import { onCtrlEnter } from "./send-button.tsx";
import styles from "./try-page.module.css";

interface TryPageProps {
  /** "Try a request" */
  readonly label: string;
  /** The form, and the same as commands. */
  readonly question: ReactNode;
  /** Sends the form; also called by Ctrl Enter in any of its fields. */
  readonly onSend: () => void;
  /** The result. */
  readonly children: ReactNode;
}

/** A Try tab: the form at the left, the answer at the right, below each other if the window is narrow. */
export function TryPage({ label, question, onSend, children }: TryPageProps) {
  return (
    <section className={styles.try} aria-label={label}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl Enter sends from any of its fields. */}
      <div className={styles.question} onKeyDown={onCtrlEnter(onSend)}>
        <Boundary region={`${label}: form`}>{question}</Boundary>
      </div>
      <Boundary region={`${label}: answer`}>{children}</Boundary>
    </section>
  );
}
