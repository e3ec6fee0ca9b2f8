import styles from "./command-line.module.css";
import { CopyButton } from "./copy-button.tsx";

interface CommandLineProps {
  readonly command: string;
  /** All of it is shown, on several lines if necessary. */
  readonly wraps?: boolean;
}

/** A command to copy into a terminal. */
export function CommandLine({ command, wraps = false }: CommandLineProps) {
  return (
    <span className={styles.line} data-wraps={wraps || undefined}>
      <span className={styles.prompt} aria-hidden="true">
        $
      </span>
      <code className={styles.command} title={command}>
        {command}
      </code>
      <CopyButton text={command} what="the command" />
    </span>
  );
}
