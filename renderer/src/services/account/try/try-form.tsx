import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { PasswordField } from "../../../ui/forms/password-field.tsx";
import { JsonBodyField } from "../../try/json-body-field.tsx";
import { SendButton } from "../../try/send-button.tsx";
import { MethodField, TargetField } from "../../try/try-fields.tsx";
import { checkJson } from "../../try/try-request.ts";
import { TrySection, TrySectionHead } from "../../try/try-section.tsx";
import own from "./account-try.module.css";
import {
  type CallMethod,
  callMethods,
  callName,
  calls,
  type Scheme,
  schemes,
  schemeTitles,
  type TryDraft,
  takesBody,
} from "./try-draft.ts";

interface TryFormProps {
  readonly draft: TryDraft;
  /** Takes an update function, because choosing a suggestion makes two changes in one event. */
  readonly onDraft: (change: (draft: TryDraft) => TryDraft) => void;
  readonly password: string;
  readonly onPassword: (password: string) => void;
  readonly code: string;
  readonly onCode: (code: string) => void;
  readonly onFillCode: () => void;
  readonly codeNeeded: boolean;
  readonly onSend: () => void;
  readonly running: boolean;
  readonly sending: boolean;
}

const callNames = calls.map(callName);
const jsonHeaders = [["content-type", "application/json"]] as const;

export function TryForm(props: TryFormProps) {
  const { draft, onDraft, running, sending, onSend } = props;
  const set = (part: Partial<TryDraft>) => onDraft((known) => ({ ...known, ...part }));
  const takeCall = (name: string) => {
    const call = calls.find((other) => callName(other) === name);
    if (call) set({ method: call.method, target: call.target, body: call.body ?? draft.body });
  };
  return (
    <div>
      <div className={own.kinds}>
        <SegmentedControl
          aria-label="Credentials"
          data={schemes.map((value) => ({ value, label: schemeTitles[value] }))}
          value={draft.scheme}
          onChange={(scheme) => set({ scheme: scheme as Scheme })}
        />
        <span className={own.spring} />
        <SendButton running={running} sending={sending} onSend={onSend} />
      </div>
      <TrySection label="Who">
        <div className={own.who}>
          <TextInput
            label="User"
            value={draft.username}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => set({ username: event.currentTarget.value })}
          />
          <PasswordField label="Password" value={props.password} autoComplete="off" onChange={props.onPassword} />
        </div>
        {props.codeNeeded && (
          <div className={own.code}>
            <TextInput
              label="Code of the second factor"
              className={own.codeInput}
              value={props.code}
              inputMode="numeric"
              autoComplete="off"
              maxLength={20}
              onChange={(event) => props.onCode(event.currentTarget.value)}
            />
            <Button onClick={props.onFillCode}>Fill in the current code</Button>
          </div>
        )}
      </TrySection>
      <TrySection label="Call">
        <TrySectionHead title={draft.scheme === "bearer" ? "Then, with the token" : "Call"} />
        <div className={own.call}>
          <MethodField
            methods={callMethods}
            value={draft.method}
            onChange={(method) => set({ method: (method as CallMethod | null) ?? "GET" })}
          />
          <TargetField
            label="Path"
            value={draft.target}
            suggestions={callNames}
            offersAll
            onChange={(target) => {
              if (!callNames.includes(target)) set({ target });
            }}
            onPick={takeCall}
          />
        </div>
        {takesBody(draft.method) && (
          <JsonBodyField
            title="Body"
            label="Body to send"
            value={draft.body}
            check={checkJson({ method: "POST", target: draft.target, headers: jsonHeaders, body: draft.body })}
            rows={{ least: 4, most: 12 }}
            onChange={(body) => set({ body })}
          />
        )}
      </TrySection>
    </div>
  );
}
