import type { ReactNode } from "react";
import { useCommands } from "../../ui/commands.ts";
import { Boundary } from "../../ui/status/boundary.tsx";
import styles from "./try-page.module.css";

interface TryPageProps {
  /** "Try a request" */
  readonly label: string;
  /** The form, and the same as commands. */
  readonly question: ReactNode;
  /** Sends the form; also called by Ctrl Enter, wherever the focus is. */
  readonly onSend: () => void;
  /** The result. */
  readonly children: ReactNode;
}

/** A Try tab: the form at the left, the answer at the right, below each other if the window is narrow. */
export function TryPage({ label, question, onSend, children }: TryPageProps) {
  useCommands([{ id: "send", title: "Send", keywords: label, key: "send", run: onSend }]);
  return (
    <section className={styles.try} aria-label={label}>
      <div className={styles.question}>
        <Boundary region={`${label}: form`}>{question}</Boundary>
      </div>
      <Boundary region={`${label}: answer`}>{children}</Boundary>
    </section>
  );
}
