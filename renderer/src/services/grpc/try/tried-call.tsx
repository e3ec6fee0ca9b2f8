import { type GrpcTried, type GrpcTryMessage, grpcActions, toneOfGrpcStatus } from "../../../../../contract/services/grpc.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { HeaderListView } from "../../../inspectors/header-list.tsx";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, formatTook } from "../../../ui/texts/time.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { AnswerHead, AnswerNote, AnswerSection, AnswerWords } from "../../try/answer-pane.tsx";
import { shownMessages, TriedMessages } from "../../try/tried-messages.tsx";
import { DeadlineLeft } from "../deadline-left.tsx";
import { messagePreview } from "../message-preview.ts";
import { MessageViewer } from "../message-viewer.tsx";
import { useGrpcSchema } from "../schema/use-grpc-schema.ts";
import { StatusDetailsView } from "../status-details-view.tsx";

type Tried = Exclude<GrpcTried, { readonly state: "untried" }>;

const none: readonly GrpcTryMessage[] = [];

interface TriedCallProps {
  readonly state: GrpcTried;
  /** The path of the method that is chosen now. */
  readonly asked: string;
  readonly running: boolean;
}

/** The result of the call: status, messages newest first, headers and trailers. */
export function TriedCall({ state, asked, running }: TriedCallProps) {
  if (state.state === "untried") {
    return (
      <AnswerSection label="Answer">
        <AnswerNote>
          {running
            ? "The call appears here: its messages as they come, status, headers and trailers. It appears in Live, too."
            : "Start the service to call it."}
        </AnswerNote>
      </AnswerSection>
    );
  }
  return <Call key={state.at} state={state} asked={asked} />;
}

function Call({ state, asked }: { readonly state: Tried; readonly asked: string }) {
  return (
    <AnswerSection label="Answer">
      <AnswerHead
        mark={
          state.state === "open" ? (
            <ToneMark tone={state.received > 0 ? "running" : "pending"} word={state.halfClosed ? "open, half-closed" : "open"} />
          ) : (
            <ToneMark tone={toneOfGrpcStatus(state.status.code)} word={`${state.status.code} ${state.status.name}`} />
          )
        }
        facts={
          <>
            {`${formatCount(state.sent)} sent · ${formatCount(state.received)} received`}
            {state.state === "ended" && ` · ${formatTook(state.tookMs)}`}
            {state.state === "open" && state.deadlineMs !== undefined && (
              <>
                {" · "}
                <DeadlineLeft deadlineAt={state.at + state.deadlineMs} />
              </>
            )}
          </>
        }
        onShowInLive={() => goTo(servicePage("grpc", "live"))}
      />
      {state.path !== asked && <AnswerNote>{`Of the call of ${shownText(state.path)} at ${clockTime(state.at)}.`}</AnswerNote>}
      {state.state === "ended" && state.status.message !== "" && <AnswerWords>{shownText(state.status.message)}</AnswerWords>}
      {state.state === "ended" && <StatusDetailsView trailers={state.trailers} revision={state.revision} />}
      <Messages state={state} />
      {state.headers && <HeaderListView title="Response headers" headers={state.headers} />}
      {state.state === "ended" && state.trailers.length > 0 && <HeaderListView title="Trailers" headers={state.trailers} />}
    </AnswerSection>
  );
}

function Messages({ state }: { readonly state: Tried }) {
  const client = useControl();
  const schema = useGrpcSchema(state.revision).value;
  const count = state.sent + state.received;
  const answer = useAnswer({
    key: ["grpc", "try", state.at],
    ask: () => client.action(grpcActions, "grpc", "try.messages", { limit: shownMessages }),
    enabled: count > 0,
    version: count,
    restMs: 100,
    keepsPrevious: false,
  });
  return (
    <TriedMessages
      of="the call"
      messages={count > 0 ? (answer.value?.messages ?? none) : none}
      count={count}
      isOpen={state.state === "open"}
      preview={(message) => messagePreview(schema, message.typeName, message)}
    >
      {(chosen, facts) => (
        <MessageViewer
          bytes={fromBase64(chosen.base64)}
          totalBytes={chosen.bytes}
          typeName={chosen.typeName}
          revision={state.revision}
          rememberAs={state.path}
          facts={facts}
        />
      )}
    </TriedMessages>
  );
}
