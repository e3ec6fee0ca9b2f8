import styles from "./command-line.module.css";
import { CopyButton } from "./copy-button.tsx";

/** A command to copy into a terminal. */
export function CommandLine({ command }: { command: string }) {
  return (
    <span className={styles.line}>
      <span className={styles.prompt} aria-hidden="true">
        $
      </span>
      <code className={styles.command}>{command}</code>
      <CopyButton text={command} what="the command" />
    </span>
  );
}
