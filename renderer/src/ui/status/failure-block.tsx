import { Button } from "@mantine/core";
import type { Failure, ServiceId } from "../../../../contract/service.ts";
import type { useServiceOperations } from "../services/use-service-operations.ts";
import styles from "./failure-block.module.css";
import { useNow } from "./since.tsx";

interface FailureBlockProps {
  readonly id: ServiceId;
  readonly failure: Failure;
  readonly retryAt: number | undefined;
  readonly operations: ReturnType<typeof useServiceOperations>;
  /** In a narrow card: the buttons are on one line. */
  readonly isNarrow?: boolean;
}

/** The failure with its hint, shown instead of the figures; the button of the fix names its result. */
export function FailureBlock({ id, failure, retryAt, operations, isNarrow = false }: FailureBlockProps) {
  const { fix } = failure;
  return (
    <div className={styles.block} data-narrow={isNarrow || undefined}>
      <div className={styles.announced} role="alert">
        <p className={styles.what}>{failure.message}</p>
        <p className={styles.why}>{failure.hint}</p>
      </div>
      {retryAt !== undefined && <RetryIn at={retryAt} />}
      <div className={styles.buttons}>
        {fix && (
          <Button variant="filled" loading={operations.pending === "fix"} onClick={() => operations.fix(id, fix)}>
            {fix.title}
          </Button>
        )}
        <Button loading={operations.pending === "start"} onClick={() => operations.start(id)}>
          Try again
        </Button>
      </div>
    </div>
  );
}

/** The countdown is outside the live region; otherwise a screen reader would read it every second. */
function RetryIn({ at }: { at: number }) {
  const seconds = Math.max(0, Math.ceil((at - useNow(250)) / 1_000));
  return <p className={styles.why}>{seconds > 0 ? `Restarts automatically in ${seconds} s.` : "Restarting automatically now."}</p>;
}
