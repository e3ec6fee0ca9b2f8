import { Button } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import type { TryAnswer } from "../../../contract/http.ts";
import { formatTook } from "../format/duration.ts";
import { formatBytes } from "../format/quantity.ts";
import { headerValue } from "../inspector/body-content.ts";
import { BodyView } from "../inspector/body-view.tsx";
import { HeaderListView } from "../inspector/header-list.tsx";
import { toneOfStatus } from "../inspector/tone-of.ts";
import { ToneMark } from "../table/tone-mark.tsx";
import styles from "./try-page.module.css";

interface HttpAnswerProps {
  readonly answer: TryAnswer;
  readonly emptyText: string;
  /** Absent where there is nothing of it in Live. */
  readonly onShowInLive?: (() => void) | undefined;
}

/** An answer over HTTP: status, headers, body and time. */
export function HttpAnswer({ answer, emptyText, onShowInLive }: HttpAnswerProps) {
  const facts = [
    formatTook(answer.tookMs),
    formatBytes(answer.body.bytes),
    `HTTP/${answer.httpVersion}`,
    answer.truncated && "cut: it was too long, or did not end in time",
  ];
  return (
    <>
      <div className={styles.answerHead}>
        <h2 className={styles.status}>
          <ToneMark tone={toneOfStatus(answer.status)} word={`${answer.status} ${answer.reason}`} />
        </h2>
        <span className={styles.facts}>{facts.filter(Boolean).join(" · ")}</span>
        {onShowInLive && (
          <Button rightSection={<IconArrowUpRight size={14} stroke={1.5} />} onClick={onShowInLive}>
            Show in Live
          </Button>
        )}
      </div>
      <HeaderListView headers={answer.headers} />
      <div className={styles.answerBody}>
        <BodyView
          of="answer"
          body={answer.body}
          contentType={headerValue(answer.headers, "content-type")}
          contentEncoding={headerValue(answer.headers, "content-encoding")}
          emptyText={emptyText}
        />
      </div>
    </>
  );
}
