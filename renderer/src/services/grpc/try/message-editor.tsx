import { Button, SegmentedControl } from "@mantine/core";
import { z } from "zod";
import { Note } from "../../../ui/panel.tsx";
import { Boundary } from "../../../ui/status/boundary.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { JsonBodyField } from "../../try/json-body-field.tsx";
import type { JsonCheck } from "../../try/try-request.ts";
import { TryProblem, TrySection, TrySectionHead } from "../../try/try-section.tsx";
import type { GrpcSchema } from "../schema/use-grpc-schema.ts";
import { MessageForm } from "./form/message-form.tsx";
import styles from "./grpc-try.module.css";
import { formValue } from "./try-call.ts";

interface MessageEditorProps {
  readonly schema: GrpcSchema | undefined;
  readonly typeName: string;
  /** ProtoJSON as typed: the form shows and changes the same text. */
  readonly json: string;
  readonly check: JsonCheck;
  readonly template: string;
  readonly onChange: (json: string) => void;
}

const editors = ["form", "json"] as const;
const choices = [
  { value: "form", label: "Form" },
  { value: "json", label: "JSON" },
];

/** The message to send, as a form of its type or as JSON. */
export function MessageEditor({ schema, typeName, json, check, template, onChange }: MessageEditorProps) {
  const [editor, setEditor] = useRemembered<(typeof editors)[number]>("grpc.try-editor", "form", z.enum(editors));
  const type = schema?.getMessage(typeName);
  const tools = (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        title="Every field with its default"
        disabled={!type || json === template}
        onClick={() => onChange(template)}
      >
        Template
      </Button>
      <SegmentedControl
        aria-label="Edit the message as"
        data={choices}
        value={editor}
        onChange={(value) => setEditor(value as typeof editor)}
      />
    </>
  );
  if (editor === "json" || !type) {
    return (
      <TrySection label="Message to send">
        <JsonBodyField title="Message" label="Message to send" value={json} check={check} rows={{ least: 6, most: 16 }} onChange={onChange}>
          {tools}
        </JsonBodyField>
      </TrySection>
    );
  }
  const value = formValue(json);
  return (
    <TrySection label="Message to send">
      <TrySectionHead
        title="Message"
        isLive
        state={
          check.state === "invalid" ? (
            <TryProblem>not valid</TryProblem>
          ) : (
            <>
              <StatusShape shape="running" /> {type.name}
            </>
          )
        }
      >
        {tools}
      </TrySectionHead>
      {check.state === "invalid" && <p className={styles.problem}>{check.problem}</p>}
      <Boundary region="Try a call: message">
        {value ? (
          <MessageForm type={type} value={value} onChange={(next) => onChange(JSON.stringify(next, null, 2))} />
        ) : (
          <Note>The text is not a JSON object. Correct it as JSON, or start again from the template.</Note>
        )}
      </Boundary>
    </TrySection>
  );
}
