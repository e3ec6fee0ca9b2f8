import {
  Autocomplete,
  Button,
  type OptionsFilter,
  PasswordInput,
  SegmentedControl,
  Select,
  Textarea,
  TextInput,
  Tooltip,
} from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import { StatusShape } from "../components/status-shape.tsx";
import styles from "../http/http-try.module.css";
import { checkJson } from "../http/try-request.ts";
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
  /** By a change, not a value: choosing a suggestion makes two of them at once. */
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

/** Within the page's landmarks, and not cut off by the column that scrolls. */
const inPlace = { withinPortal: false, floatingStrategy: "fixed" } as const;
const all: OptionsFilter = ({ options }) => options;
const callNames = calls.map(callName);

export function TryForm(props: TryFormProps) {
  const { draft, onDraft, running, sending, onSend } = props;
  const set = (part: Partial<TryDraft>) => onDraft((known) => ({ ...known, ...part }));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSend();
  };
  const takeCall = (name: string) => {
    const call = calls.find((other) => callName(other) === name);
    if (call) set({ method: call.method, target: call.target, body: call.body ?? draft.body });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Ctrl Enter sends from any of its fields.
    <div onKeyDown={onKeyDown}>
      <div className={own.kinds}>
        <SegmentedControl
          aria-label="Credentials"
          data={schemes.map((value) => ({ value, label: schemeTitles[value] }))}
          value={draft.scheme}
          onChange={(scheme) => set({ scheme: scheme as Scheme })}
        />
        <span className={own.spring} />
        <Tooltip withinPortal={false} label={running ? "Send (Ctrl Enter)" : "Start the service first"}>
          <Button
            variant="filled"
            w={86}
            loading={sending}
            data-disabled={!running}
            aria-disabled={!running}
            onClick={onSend}
            leftSection={<IconSend size={14} stroke={1.5} />}
          >
            Send
          </Button>
        </Tooltip>
      </div>
      <section className={styles.section} aria-label="Who">
        <div className={own.who}>
          <TextInput
            label="User"
            value={draft.username}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => set({ username: event.currentTarget.value })}
          />
          <PasswordInput
            label="Password"
            size="xs"
            value={props.password}
            autoComplete="off"
            visibilityToggleButtonProps={{ "aria-label": "Reveal the password", tabIndex: 0, "aria-hidden": false }}
            onChange={(event) => props.onPassword(event.currentTarget.value)}
          />
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
            <Button onClick={props.onFillCode}>Fill in the code of now</Button>
          </div>
        )}
      </section>
      <section className={styles.section} aria-label="Call">
        <div className={styles.sectionHead}>
          <h2 className={styles.title}>{draft.scheme === "bearer" ? "Then, with the token" : "Call"}</h2>
        </div>
        <div className={own.call}>
          <Select
            aria-label="Method"
            className={styles.method}
            data={[...callMethods]}
            value={draft.method}
            allowDeselect={false}
            withCheckIcon={false}
            comboboxProps={{ ...inPlace, width: 120, position: "bottom-start" }}
            withScrollArea={false}
            onChange={(method) => set({ method: (method as CallMethod | null) ?? "GET" })}
          />
          <Autocomplete
            aria-label="Path"
            className={styles.target}
            data={callNames}
            value={draft.target}
            withScrollArea={false}
            styles={{ options: { maxHeight: 360, overflowY: "auto" }, option: { padding: "4px 10px" } }}
            comboboxProps={inPlace}
            spellCheck={false}
            filter={all}
            onChange={(target) => {
              if (!callNames.includes(target)) set({ target });
            }}
            onOptionSubmit={takeCall}
            renderOption={({ option }) => <span className={styles.option}>{option.value}</span>}
          />
        </div>
        {takesBody(draft.method) && <BodyEditor draft={draft} onBody={(body) => set({ body })} />}
      </section>
    </div>
  );
}

function BodyEditor({ draft, onBody }: { readonly draft: TryDraft; readonly onBody: (body: string) => void }) {
  const check = checkJson({ method: "POST", target: draft.target, headers: [["content-type", "application/json"]], body: draft.body });
  return (
    <>
      <div className={styles.sectionHead}>
        <h2 className={styles.title}>Body</h2>
        <span className={styles.check} aria-live="polite">
          {check.state === "valid" && (
            <>
              <StatusShape shape="running" /> JSON
            </>
          )}
          {check.state === "invalid" && (
            <span className={styles.problem}>
              <StatusShape shape="failed" /> {check.problem}
            </span>
          )}
        </span>
      </div>
      <Textarea
        aria-label="Body to send"
        className={styles.bodyInput}
        value={draft.body}
        autosize
        minRows={4}
        maxRows={12}
        spellCheck={false}
        error={check.state === "invalid"}
        onChange={(event) => onBody(event.currentTarget.value)}
      />
    </>
  );
}
