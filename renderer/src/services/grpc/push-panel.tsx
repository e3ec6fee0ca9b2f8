import { Button, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { grpcActions } from "../../../../contract/services/grpc.ts";
import type { Pushed } from "../../../../contract/services/grpc-replies.ts";
import { type GrpcCall, type GrpcStatusName, grpcStatusNames } from "../../../../contract/traffic/grpc.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";
import { Section } from "../../inspectors/section.tsx";
import { FormColumns } from "../../ui/forms/draft-form.tsx";
import { Caption } from "../../ui/panel.tsx";
import styles from "./replies/replies.module.css";
import { messageTemplate } from "./schema/message-template.ts";
import { useGrpcSchema } from "./schema/use-grpc-schema.ts";
import { StatusSelect } from "./status-select.tsx";

const kinds = [
  { value: "message", label: "Message" },
  { value: "status", label: "Status" },
  { value: "end", label: "End" },
];

/** Whether messages can be sent into the call. */
export const canPush = ({ method, path, status, aborted }: GrpcCall): boolean =>
  status === undefined &&
  aborted === undefined &&
  (method?.pattern === "server stream" || method?.pattern === "bidi stream") &&
  !path.startsWith("/grpc.");

/** Sends a message, a status or the end into an open call. The method's handler or its rules go on as well. */
export function PushPanel({ row, detail }: { readonly row: number; readonly detail: GrpcCall }) {
  const client = useControl();
  const schema = useGrpcSchema(detail.method?.revision).value;
  const responseType = detail.method?.responseType ?? "";
  const type = schema?.getMessage(responseType);
  const [kind, setKind] = useState<Pushed["kind"]>("message");
  const [typed, setTyped] = useState<string>();
  const [code, setCode] = useState<GrpcStatusName>("UNAVAILABLE");
  const [message, setMessage] = useState("");
  const [said, setSaid] = useState<{ readonly text: string; readonly isBad: boolean }>();
  const json = typed ?? (schema && type ? JSON.stringify(messageTemplate(schema, type), null, 2) : "{}");
  const push = (): Pushed => {
    switch (kind) {
      case "message":
        return { kind, json };
      case "status":
        return { kind, status: { code: grpcStatusNames.indexOf(code), message } };
      case "end":
        return { kind };
      default:
        return kind satisfies never;
    }
  };
  const send = async () => {
    try {
      await client.action(grpcActions, "grpc", "call.push", { row, push: push() });
      setSaid({ text: kind === "message" ? "Sent." : "The call was ended.", isBad: false });
    } catch (error) {
      setSaid({ text: failureOf(error).message, isBad: true });
    }
  };
  return (
    <Section
      title="Send into this stream"
      facts={<code>{responseType}</code>}
      actions={
        <SegmentedControl aria-label="What to send" data={kinds} value={kind} onChange={(value) => setKind(value as Pushed["kind"])} />
      }
    >
      <div className={styles.pushed}>
        {kind === "message" && (
          <Textarea
            className={styles.json}
            aria-label="Message as JSON"
            autosize
            minRows={6}
            maxRows={18}
            spellCheck={false}
            value={json}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {kind === "status" && (
          <FormColumns>
            <StatusSelect value={code} onChange={(name) => setCode(name as GrpcStatusName)} />
            <TextInput
              aria-label="Message of the status"
              placeholder="message"
              value={message}
              onChange={(event) => setMessage(event.currentTarget.value)}
            />
          </FormColumns>
        )}
        {kind === "end" && <Caption>Ends the call with OK.</Caption>}
      </div>
      <div className={styles.push}>
        <span className={styles.said} data-bad={said?.isBad === true} aria-live="polite">
          {said?.text}
        </span>
        <Button variant="filled" onClick={() => void send()}>
          Send
        </Button>
      </div>
    </Section>
  );
}
