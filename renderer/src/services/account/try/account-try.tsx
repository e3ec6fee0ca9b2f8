import { useState } from "react";
import { accountActions, type AccountTry as Tried } from "../../../../../contract/services/account.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { useService } from "../../../control/use-store.ts";
import { useHandover } from "../../../pages/service/handover.ts";
import { attempt } from "../../../ui/status/notify.tsx";
import { originOf } from "../../../ui/texts/address.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { AnswerPane, type TryState } from "../../try/answer-pane.tsx";
import { TryPage } from "../../try/try-page.tsx";
import { sampleLogin } from "../account-service.ts";
import own from "./account-try.module.css";
import { TryAnswer } from "./try-answer.tsx";
import { TryCommandsView } from "./try-commands-view.tsx";
import { draftWithoutCredentials, firstDraft, recordedCalls, type TryDraft, triedParams, tryDraftSchema } from "./try-draft.ts";
import { TryForm } from "./try-form.tsx";

interface Sent {
  readonly tried: Tried;
  readonly username: string;
  /** What was sent, to detect a form that changed since. */
  readonly params: string;
}

/** Login and a call: real requests, their answers, and the same as a program. */
export function AccountTry() {
  const client = useControl();
  const service = useService("account");
  const [draft, setDraft] = useRemembered("try.account", firstDraft, tryDraftSchema, { keeps: draftWithoutCredentials });
  const [password, setPassword] = useState<string>(sampleLogin.password);
  const [code, setCode] = useState("");
  const [state, setState] = useState<TryState<Sent>>({ state: "untried" });
  const running = service?.status.state === "running";
  /** A code belongs to one user. */
  const change = (next: (known: TryDraft) => TryDraft) => {
    if (next(draft).username !== draft.username) setCode("");
    setDraft(next);
  };

  useHandover(recordedCalls, "account", (call) => {
    change((known) => ({ ...known, ...call }));
    setState({ state: "untried" });
  });

  const send = async () => {
    if (!running || state.state === "sending") return;
    setState({ state: "sending" });
    const params = triedParams(draft, password, code);
    try {
      const tried = await client.action(accountActions, "account", "try", params);
      setState({ state: "answered", answer: { tried, username: params.username, params: JSON.stringify(params) } });
    } catch (error) {
      setState({ state: "failed", failure: failureOf(error) });
    }
  };
  /** The current code, from the service. */
  const fillCode = () =>
    attempt(
      (async () => {
        const wanted = draft.username.trim().toLowerCase();
        const { users } = await client.action(accountActions, "account", "user.list", { text: wanted, limit: 500 });
        const user = users.find(({ email }) => email.toLowerCase() === wanted);
        const found = user && (await client.action(accountActions, "account", "totp.code", { id: user.id }));
        if (found) setCode(found.code);
      })(),
    );
  const answer = state.state === "answered" ? state.answer : undefined;
  const codeNeeded = code !== "" || (answer?.tried.codeNeeded === true && answer.username === draft.username.trim());
  return (
    <TryPage
      label="Try a login and a call"
      onSend={() => void send()}
      question={
        <>
          <TryForm
            draft={draft}
            onDraft={change}
            password={password}
            onPassword={setPassword}
            code={code}
            onCode={setCode}
            onFillCode={() => void fillCode()}
            codeNeeded={codeNeeded && draft.scheme === "bearer"}
            onSend={() => void send()}
            running={running}
            sending={state.state === "sending"}
          />
          <TryCommandsView origin={originOf(service)} draft={draft} password={password} code={codeNeeded ? code : ""} />
        </>
      }
    >
      <AnswerPane
        label="Answers"
        state={state}
        running={running}
        untried="Each request and its answer appear here: the login, the token it gave, decoded, and the call. They appear in Live, too."
        stopped="Start the service to log in to it."
      >
        {({ tried, params }) => (
          <>
            {params !== JSON.stringify(triedParams(draft, password, code)) && (
              <p className={own.earlier}>The form has changed since; these answers are to what was sent.</p>
            )}
            <TryAnswer tried={tried} />
          </>
        )}
      </AnswerPane>
    </TryPage>
  );
}
