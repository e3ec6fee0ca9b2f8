import { Button, UnstyledButton } from "@mantine/core";
import { ToneMark, toneOfStatus } from "../../list/cells/tone-mark.tsx";
import { useNow } from "../../ui/status/since.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";
import { formatAgo, formatTook, isoTime } from "../../ui/texts/time.ts";
import type { TryRequest } from "../try/try-request.ts";
import { TrySection, TrySectionHead } from "../try/try-section.tsx";
import type { Tried } from "./try-history.ts";
import styles from "./try-history-list.module.css";

interface TryHistoryProps {
  readonly history: readonly Tried[];
  readonly onPick: (request: TryRequest) => void;
  readonly onClear: () => void;
}

export function TryHistory({ history, onPick, onClear }: TryHistoryProps) {
  const now = useNow(5_000);
  if (history.length === 0) return null;
  return (
    <TrySection label="History">
      <TrySectionHead title="History" state={history.length}>
        <Button size="compact-xs" variant="subtle" onClick={onClear}>
          Clear history
        </Button>
      </TrySectionHead>
      <ul className={styles.history}>
        {history.map((tried) => (
          <li key={`${tried.at}`}>
            <UnstyledButton className={styles.tried} onClick={() => onPick(tried.request)} title={`Fill in again · ${isoTime(tried.at)}`}>
              {tried.status === undefined ? (
                <ToneMark tone="aborted" word="no answer" />
              ) : (
                <ToneMark tone={toneOfStatus(tried.status)} word={String(tried.status)} />
              )}
              <span className={styles.method}>{tried.request.method}</span>
              <span className={styles.target}>{shownText(tried.request.target)}</span>
              <span className={styles.took}>{tried.tookMs !== undefined && formatTook(tried.tookMs)}</span>
              <span className={styles.ago}>{formatAgo(Math.max(0, now - tried.at))}</span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </TrySection>
  );
}
