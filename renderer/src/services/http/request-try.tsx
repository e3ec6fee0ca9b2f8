import { type ReactNode, useState } from "react";
import { httpActions, type TryAnswer } from "../../../../contract/services/http.ts";
import { goTo, servicePage } from "../../app/route.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";
import { useService } from "../../control/use-store.ts";
import { requestedRows, useHandover } from "../../pages/service/handover.ts";
import { isPickedAtStart, originOf } from "../../ui/texts/address.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { AnswerPane, type TryState } from "../try/answer-pane.tsx";
import { HttpAnswer } from "../try/http-answer.tsx";
import { TryCommands } from "../try/same-as.tsx";
import { TryPage } from "../try/try-page.tsx";
import { firstRequest, recordedTries, sentRequest, type TryRequest, tryRequestSchema, withoutCredentials } from "../try/try-request.ts";
import { TryForm } from "./try-form.tsx";
import { type Tried, triesSchema, triesWithoutCredentials, withTry } from "./try-history.ts";
import { TryHistory } from "./try-history-list.tsx";

interface Answered {
  readonly request: TryRequest;
  readonly answer: TryAnswer;
}

const noHistory: readonly Tried[] = [];

/** Sends a real request to the service, and shows the response and the same request as a command. */
export function RequestTry({ kinds }: { readonly kinds: ReactNode }) {
  const client = useControl();
  const service = useService("http");
  const [request, setRequest] = useRemembered("try.http", firstRequest, tryRequestSchema, { keeps: withoutCredentials });
  const [history, setHistory] = useRemembered("try.http.history", noHistory, triesSchema, { keeps: triesWithoutCredentials });
  const [state, setState] = useState<TryState<Answered>>({ state: "untried" });
  useHandover(recordedTries, "http", (taken) => {
    setRequest(taken);
    setState({ state: "untried" });
  });
  const origin = originOf(service);
  const running = service?.status.state === "running";

  const send = async () => {
    if (!running || state.state === "sending") return;
    const at = Date.now();
    setState({ state: "sending" });
    try {
      const answer = await client.action(httpActions, "http", "try", sentRequest(request));
      setState({ state: "answered", answer: { request, answer } });
      setHistory((known) => withTry(known, { at, request, status: answer.status, tookMs: answer.tookMs }));
    } catch (error) {
      setState({ state: "failed", failure: failureOf(error) });
      setHistory((known) => withTry(known, { at, request }));
    }
  };

  return (
    <TryPage
      label="Try a request"
      onSend={() => void send()}
      question={
        <>
          {kinds}
          <TryForm
            request={request}
            onChange={setRequest}
            onSend={() => void send()}
            running={running}
            sending={state.state === "sending"}
          />
          {!isPickedAtStart(origin) && <TryCommands request={request} origin={origin} />}
          <TryHistory history={history} onPick={setRequest} onClear={() => setHistory(noHistory)} />
        </>
      }
    >
      <AnswerPane
        label="Answer"
        state={state}
        running={running}
        untried="The answer appears here: status, headers, body and time. The request appears in Live, too."
        stopped="Start the service to send it a request."
      >
        {({ request: { method, target }, answer }) => (
          <HttpAnswer
            answer={answer}
            route={`${method} ${target}`}
            emptyText={method === "HEAD" ? "HEAD is answered without a body." : "The answer has no body."}
            onShowInLive={answer.row === undefined ? undefined : () => showInLive(answer.row)}
          />
        )}
      </AnswerPane>
    </TryPage>
  );
}

export function showInLive(row: number | undefined): void {
  if (row !== undefined) requestedRows.give("http", row);
  goTo(servicePage("http", "live"));
}
