import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import type { Failure } from "../../../../contract/service.ts";
import type { Answer } from "../../control/use-answer.ts";
import { useConnection } from "../../control/use-store.ts";
import styles from "./answered.module.css";

interface StandInProps {
  /** Completes "Loading …" and "Could not read …": "the settings". */
  readonly what: string;
  /** For small areas: a panel, an inspector, a dialog. */
  readonly compact?: boolean;
}

interface LoadingProps extends StandInProps {
  /** "Loading", without another word. */
  readonly doing?: string;
}

interface AnsweredProps<Value> extends StandInProps {
  readonly answer: Pick<Answer<Value>, "value" | "failure" | "isReading" | "again">;
  readonly children: (value: Value) => ReactNode;
}

/** The answer to a call; until then a loading text, or why it failed. A value that could not be updated stays, with a note. */
export function Answered<Value>({ answer, what, compact = false, children }: AnsweredProps<Value>) {
  const { value, failure, isReading, again } = answer;
  const retry = { failure, isRetrying: isReading, onRetry: again };
  if (value !== undefined) {
    return (
      <>
        {failure && !isAboutState(failure) && <Failed {...retry} failure={failure} what={what} isOutdated compact />}
        {children(value)}
      </>
    );
  }
  return failure ? <Failed {...retry} failure={failure} what={what} compact={compact} /> : <Loading what={what} compact={compact} />;
}

/** The page says by itself that its service does not run. */
const isAboutState = ({ code }: Failure): boolean => code === "SERVICE_NOT_RUNNING";

/** Shown while something is being read; after a delay, so that a quick answer does not make the page flicker. */
export function Loading({ what, compact = false, doing = "Loading" }: LoadingProps) {
  const isRefused = useConnection().state === "refused";
  return (
    <p className={styles.loading} data-compact={compact || undefined} role="status">
      {isRefused ? `To read ${what}, open this page by its link.` : `${doing} ${what}…`}
    </p>
  );
}

interface FailedProps extends StandInProps {
  readonly failure: Failure;
  readonly onRetry: () => unknown;
  readonly isRetrying?: boolean;
  /** What was read before is shown below it. */
  readonly isOutdated?: boolean;
}

/** Shown if something could not be read: the reason, and a retry button. */
export function Failed({ what, failure, onRetry, isRetrying = false, isOutdated = false, compact = false }: FailedProps) {
  return (
    <div className={styles.failed} data-compact={compact || undefined}>
      <div role="alert">
        <p className={styles.title}>{`Could not ${isOutdated ? "update" : "read"} ${what}`}</p>
        <p className={styles.why}>{`${failure.message} ${failure.hint}`}</p>
      </div>
      <Button loading={isRetrying} onClick={() => void onRetry()}>
        Retry
      </Button>
    </div>
  );
}
