import type { TryAnswer } from "../../../../contract/services/http.ts";
import { HeaderListView } from "../../inspectors/header-list.tsx";
import { HttpBodyViewer } from "../../inspectors/http/http-body-viewer.tsx";
import { InspectorContent } from "../../inspectors/inspector-frame.tsx";
import { ToneMark, toneOfStatus } from "../../list/cells/tone-mark.tsx";
import { formatBytes } from "../../ui/texts/quantity.ts";
import { formatTook } from "../../ui/texts/time.ts";
import { AnswerHead } from "./answer-pane.tsx";

interface HttpAnswerProps {
  readonly answer: TryAnswer;
  /** Method and target of the request. */
  readonly route: string;
  readonly emptyText: string;
  /** Absent if there is no row for it in Live. */
  readonly onShowInLive?: (() => void) | undefined;
}

/** An answer over HTTP: status, headers, body and time. */
export function HttpAnswer({ answer, route, emptyText, onShowInLive }: HttpAnswerProps) {
  const facts = [
    formatTook(answer.tookMs),
    formatBytes(answer.body.bytes),
    `HTTP/${answer.httpVersion}`,
    answer.truncated && "cut: it was too long, or did not end in time",
  ];
  return (
    <>
      <AnswerHead
        mark={<ToneMark tone={toneOfStatus(answer.status)} word={`${answer.status} ${answer.reason}`} />}
        facts={facts.filter(Boolean).join(" · ")}
        onShowInLive={onShowInLive}
      />
      <HeaderListView headers={answer.headers} />
      <InspectorContent>
        <HttpBodyViewer of="answer" route={route} body={answer.body} headers={answer.headers} emptyText={emptyText} />
      </InspectorContent>
    </>
  );
}
