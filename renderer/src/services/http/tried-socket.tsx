import { httpActions } from "../../../../contract/services/http.ts";
import type { WebSocketTried, WebSocketTryMessage } from "../../../../contract/services/websocket-try.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { closeCodeText } from "../../inspectors/websocket/websocket-copies.ts";
import { ToneMark, toneOfStatus } from "../../list/cells/tone-mark.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { formatTook } from "../../ui/texts/time.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import { fromBase64 } from "../../viewer/decode/bytes.ts";
import { previewLine } from "../../viewer/payload-preview.ts";
import { AnswerHead, AnswerNote, AnswerSection, AnswerWords } from "../try/answer-pane.tsx";
import { shownMessages, TriedMessages } from "../try/tried-messages.tsx";
import { showInLive } from "./request-try.tsx";

type Tried = Exclude<WebSocketTried, { readonly state: "untried" }>;
const none: readonly WebSocketTryMessage[] = [];
/** Of the text of a message in the list. */
const previewedCharacters = 400;

/** The WebSocket that was tried: its state or how it ended, and its messages, newest first. */
export function TriedSocket({ state, running }: { readonly state: WebSocketTried; readonly running: boolean }) {
  return (
    <AnswerSection label="WebSocket" busy={state.state === "connecting"}>
      {state.state === "untried" ? (
        <AnswerNote>
          {running
            ? "The WebSocket appears here: its messages in both directions, and the close code. It appears in Live, too."
            : "Start the service to connect to it."}
        </AnswerNote>
      ) : (
        <Socket key={state.at} state={state} />
      )}
    </AnswerSection>
  );
}

function Socket({ state }: { readonly state: Tried }) {
  const client = useControl();
  const count = state.sent + state.received;
  const answer = useAnswer({
    key: ["http", "socket", state.at],
    ask: () => client.action(httpActions, "http", "socket.messages", { limit: shownMessages }),
    enabled: count > 0,
    version: count,
    restMs: 100,
    keepsPrevious: false,
  });
  const { row } = state;
  return (
    <>
      <AnswerHead
        mark={<Mark state={state} />}
        facts={factsOf(state)}
        onShowInLive={row === undefined ? undefined : () => showInLive(row)}
      />
      {state.state === "closed" && state.reason !== "" && <AnswerWords>{shownText(state.reason)}</AnswerWords>}
      {(state.state === "connecting" || state.state === "refused" || state.state === "failed") && count === 0 ? (
        <AnswerNote>{whyNotOpen(state)}</AnswerNote>
      ) : (
        <TriedMessages
          of="the WebSocket"
          messages={count > 0 ? (answer.value?.messages ?? none) : none}
          count={count}
          isOpen={state.state === "open"}
          preview={({ base64, bytes }) => previewLine({ start: base64.slice(0, previewedCharacters), bytes }, "auto") || "empty"}
        >
          {({ type, bytes, base64 }, facts) => (
            <ContentViewer
              of="message"
              title="Content"
              content={{ bytes: fromBase64(base64), totalBytes: bytes }}
              contentType=""
              isText={type === "text"}
              rememberAs={`ws ${state.target.split("?", 1)[0]}`}
              emptyText="The message is empty."
              facts={facts}
            />
          )}
        </TriedMessages>
      )}
    </>
  );
}

function Mark({ state }: { readonly state: Tried }) {
  switch (state.state) {
    case "connecting":
      return <ToneMark tone="pending" word="connecting" />;
    case "open":
      return <ToneMark tone="running" word="open" />;
    case "closing":
      return <ToneMark tone="pending" word="closing" />;
    case "closed":
      return <ToneMark tone={state.code === 1006 ? "aborted" : "ok"} word={`closed ${closeCodeText(state.code)}`} />;
    case "refused":
      return <ToneMark tone={toneOfStatus(state.status)} word={`${state.status} ${state.reason}`} />;
    case "failed":
      return <ToneMark tone="failed" word="failed" />;
    default:
      return state satisfies never;
  }
}

function factsOf(state: Tried): string {
  const facts = [
    `${formatCount(state.sent)} sent`,
    `${formatCount(state.received)} received`,
    state.state === "open" && `opened in ${formatTook(state.openedMs)}`,
    state.state === "open" && state.protocol !== "" && `subprotocol ${shownText(state.protocol)}`,
    state.state === "closed" && formatTook(state.tookMs),
  ];
  return facts.filter(Boolean).join(" · ");
}

function whyNotOpen(state: Extract<Tried, { readonly state: "connecting" | "refused" | "failed" }>): string {
  switch (state.state) {
    case "connecting":
      return "Waiting for the answer to the handshake…";
    case "refused":
      return "The handshake was answered with this status in place of 101. Live has the whole answer.";
    case "failed":
      return shownText(state.problem);
    default:
      return state satisfies never;
  }
}
