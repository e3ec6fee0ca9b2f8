import { useState } from "react";
import { httpActions, type TryAnswer } from "../../../contract/http.ts";
import type { Failure } from "../../../contract/service.ts";
import { useRemembered } from "../components/use-remembered.ts";
import { useControl } from "../control/client-context.tsx";
import { failureOf } from "../control/failure-error.ts";
import { useService } from "../control/use-services.ts";
import { isPickedAtStart } from "../format/address.ts";
import { httpOrigin } from "./endpoint.ts";
import styles from "./http-try.module.css";
import { TryAnswerView } from "./try-answer.tsx";
import { TryCommands } from "./try-commands.tsx";
import { TryForm } from "./try-form.tsx";
import { type Tried, withTry } from "./try-history.ts";
import { TryHistory } from "./try-history-list.tsx";
import { firstRequest, sentRequest, type TryRequest } from "./try-request.ts";

export type TryState =
  | { readonly state: "untried" }
  | { readonly state: "sending" }
  | { readonly state: "answered"; readonly request: TryRequest; readonly answer: TryAnswer }
  | { readonly state: "failed"; readonly failure: Failure };

/** With fewer tries than these, routes are suggested. */
const shortHistory = 4;
const noHistory: readonly Tried[] = [];

/** A real request to the service, its answer, and the same request as a command. */
export function HttpTry() {
  const client = useControl();
  const service = useService("http");
  const [request, setRequest] = useRemembered<TryRequest>("try.http", firstRequest);
  const [history, setHistory] = useRemembered<readonly Tried[]>("try.http.history", noHistory);
  const [state, setState] = useState<TryState>({ state: "untried" });
  const origin = httpOrigin(service);
  const running = service?.status.state === "running";

  const send = async () => {
    if (!running || state.state === "sending") return;
    const at = Date.now();
    setState({ state: "sending" });
    try {
      const answer = await client.action(httpActions, "http", "try", sentRequest(request));
      setState({ state: "answered", request, answer });
      setHistory((known) => withTry(known, { at, request, status: answer.status, tookMs: answer.tookMs }));
    } catch (error) {
      setState({ state: "failed", failure: failureOf(error) });
      setHistory((known) => withTry(known, { at, request }));
    }
  };

  return (
    <section className={styles.try} aria-label="Try a request">
      <div className={styles.question}>
        <TryForm
          request={request}
          onChange={setRequest}
          onSend={() => void send()}
          running={running}
          sending={state.state === "sending"}
          suggesting={history.length < shortHistory}
        />
        {!isPickedAtStart(origin) && <TryCommands request={request} origin={origin} />}
        <TryHistory history={history} onPick={setRequest} onClear={() => setHistory(noHistory)} />
      </div>
      <TryAnswerView state={state} running={running} />
    </section>
  );
}
