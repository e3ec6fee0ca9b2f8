import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import { grpcActions } from "../../../../contract/services/grpc.ts";
import type { Pushed } from "../../../../contract/services/grpc-replies.ts";
import { type GrpcCall, type GrpcStatusName, grpcStatusNames } from "../../../../contract/traffic/grpc.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";
import { Section } from "../../inspectors/section.tsx";
import { CodeArea } from "../../ui/forms/code-area.tsx";
import { FormColumns, FormStack } from "../../ui/forms/draft-form.tsx";
import { onCtrlEnter } from "../../ui/keys.ts";
import { Caption } from "../../ui/panel.tsx";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import styles from "./replies/replies.module.css";
import { detailsOf } from "./replies/rule-draft.ts";
import { useGrpcSchema } from "./schema/use-grpc-schema.ts";
import { detailsExample, StatusSelect } from "./status-select.tsx";
import { checkMessage, sentText, templateText } from "./try/try-call.ts";

const kinds = [
  { value: "message", label: "Message" },
  { value: "status", label: "Status" },
  { value: "end", label: "End" },
];
/** What the button does. */
const actions: Readonly<Record<Pushed["kind"], string>> = { message: "Send message", status: "End with status", end: "End the call" };

/** Whether messages can be sent into the call. */
export const canPush = ({ method, path, status, aborted }: GrpcCall): boolean =>
  status === undefined &&
  aborted === undefined &&
  (method?.pattern === "server stream" || method?.pattern === "bidi stream") &&
  !path.startsWith("/grpc.");

interface PushDraft {
  readonly kind: Pushed["kind"];
  /** JSON; undefined for the template of the type. */
  readonly message: string | undefined;
  readonly code: GrpcStatusName;
  readonly statusMessage: string;
  /** JSON of the list of details. */
  readonly details: string;
}
const firstDraft: PushDraft = { kind: "message", message: undefined, code: "UNAVAILABLE", statusMessage: "", details: "" };
/** By the path of the method: what was typed is there again when the inspector was closed, or shows another of its calls. */
const typedDrafts = new Map<string, PushDraft>();

/** Sends a message, a status or the end into an open call. The method's handler or its rules go on as well. */
export function PushPanel({ row, detail }: { readonly row: number; readonly detail: GrpcCall }) {
  const client = useControl();
  const schema = useGrpcSchema(detail.method?.revision).value;
  const responseType = detail.method?.responseType ?? "";
  const [draft, setDraft] = useState(() => typedDrafts.get(detail.path) ?? firstDraft);
  const { kind, code, statusMessage } = draft;
  const change = (part: Partial<PushDraft>) => {
    const next = { ...draft, ...part };
    typedDrafts.set(detail.path, next);
    setRefused(undefined);
    setDraft(next);
  };
  const [sent, setSent] = useState(0);
  const [refused, setRefused] = useState<string>();
  const template = useMemo(() => templateText(schema, responseType), [schema, responseType]);
  const json = draft.message ?? template;
  const check = useMemo(() => checkMessage(schema, responseType, json), [schema, responseType, json]);
  const details = detailsOf(draft.details);
  const wrong = {
    message: check.state === "invalid" ? check.problem : undefined,
    status: "problem" in details ? details.problem : undefined,
    end: undefined,
  }[kind];
  const push = (): Pushed => {
    switch (kind) {
      case "message":
        return { kind, json: sentText(json) };
      case "status": {
        const values = ("value" in details && details.value) || [];
        return {
          kind,
          status: { code: grpcStatusNames.indexOf(code), message: statusMessage, details: values.map((one) => JSON.stringify(one)) },
        };
      }
      case "end":
        return { kind };
      default:
        return kind satisfies never;
    }
  };
  const send = async () => {
    if (wrong !== undefined) return;
    try {
      await client.action(grpcActions, "grpc", "call.push", { row, push: push() });
      setSent((count) => count + 1);
      setRefused(undefined);
    } catch (error) {
      setRefused(failureOf(error).message);
    }
  };
  const problem = wrong ?? refused;
  return (
    <Section
      title="Send into this stream"
      actions={
        <SegmentedControl
          aria-label="What to send"
          data={kinds}
          value={kind}
          onChange={(value) => change({ kind: value as Pushed["kind"] })}
        />
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl Enter sends from any of its fields. */}
      <div className={styles.pushed} onKeyDown={onCtrlEnter(() => void send())}>
        {kind === "message" && (
          <>
            <div className={styles.head}>
              <Caption grow title={responseType}>
                <code>{responseType}</code>
              </Caption>
              {json !== template && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  title="Every field with its default"
                  onClick={() => change({ message: undefined })}
                >
                  Template
                </Button>
              )}
            </div>
            <CodeArea
              aria-label="Message as JSON"
              minRows={6}
              maxRows={18}
              error={wrong !== undefined}
              value={json}
              onChange={(message) => change({ message })}
            />
          </>
        )}
        {kind === "status" && (
          <FormStack>
            <FormColumns>
              <StatusSelect value={code} onChange={(name) => change({ code: name as GrpcStatusName })} />
              <TextInput
                aria-label="Message of the status"
                placeholder="message"
                value={statusMessage}
                onChange={(event) => change({ statusMessage: event.currentTarget.value })}
              />
            </FormColumns>
            <CodeArea
              aria-label="Details of the status as JSON"
              placeholder={detailsExample}
              minRows={2}
              maxRows={8}
              error={wrong !== undefined}
              value={draft.details}
              onChange={(details) => change({ details })}
            />
          </FormStack>
        )}
        {kind === "end" && <Caption>Ends the call with OK. The client gets what was sent before.</Caption>}
      </div>
      <div className={styles.push}>
        <span className={styles.said} data-bad={problem !== undefined} aria-live="polite">
          {problem ?? (sent > 0 && kind === "message" ? `${formatCountOf(sent, "message")} sent` : "")}
        </span>
        <Button variant="filled" disabled={wrong !== undefined} onClick={() => void send()}>
          {actions[kind]}
        </Button>
      </div>
    </Section>
  );
}
