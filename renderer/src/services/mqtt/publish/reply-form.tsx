import { Button, Input, NumberInput } from "@mantine/core";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { DialogButtons } from "../../../ui/forms/dialog.tsx";
import {
  CheckField,
  ChoiceField,
  type DraftForm,
  draftForm,
  FormColumns,
  FormLine,
  FormStack,
  TextAreaField,
  TextField,
} from "../../../ui/forms/draft-form.tsx";
import { Notice } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { setsProperties } from "./property-draft.ts";
import { PropertySection } from "./property-section.tsx";
import styles from "./publish.module.css";
import { qosChoices } from "./publish-draft.ts";
import { parseReplyDraft, type ReplyDraft } from "./reply-draft.ts";

const conditions = [
  { value: "any payload", label: "Any" },
  { value: "text contains", label: "Contains text" },
  { value: "JSON field equals", label: "JSON field equals" },
] as const;

interface ReplyFormProps {
  readonly draft: ReplyDraft;
  /** What another window has done to the rule since the typing began. */
  readonly meanwhile: string | undefined;
  readonly onDraft: (draft: ReplyDraft) => void;
  /** Back to what is saved; undefined while nothing else was typed. */
  readonly onDiscard: (() => void) | undefined;
  readonly onBack: () => void;
  readonly onSaved: () => void;
}

/** The form of one rule: which messages are answered, and with what. */
export function ReplyForm({ draft, meanwhile, onDraft, onDiscard, onBack, onSaved }: ReplyFormProps) {
  const client = useControl();
  const parsed = parseReplyDraft(draft);
  const form = draftForm(draft, onDraft, parsed);
  const submit = async () => {
    if ("problem" in parsed) return;
    if (await attempt(client.action(mqttActions, "mqtt", "reply.save", parsed.params))) onSaved();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <FormStack>
        <TextField form={form} name="filter" mono label="Topic filter" data-autofocus />
        <Input.Wrapper label="Payload" labelElement="div">
          <div className={styles.conditions}>
            <ChoiceField form={form} name="condition" label="Payload" choices={conditions} />
          </div>
        </Input.Wrapper>
        <Condition form={form} />
        <TextField form={form} name="topic" mono label="Reply topic" placeholder="the message’s response topic" />
        <TextAreaField
          form={form}
          name="payload"
          mono
          label="Reply payload"
          description="{topic} and {payload} are replaced by those of the message."
          minRows={2}
          maxRows={8}
        />
        <FormLine>
          <ChoiceField form={form} name="qos" label="Quality of service" choices={qosChoices} />
          <CheckField form={form} name="retain" label="Retain" />
          <span className={styles.delay}>
            Delay
            <NumberInput
              aria-label="Reply delay"
              size="xs"
              w={100}
              suffix=" ms"
              min={0}
              max={60_000}
              allowDecimal={false}
              clampBehavior="strict"
              value={draft.delayMs}
              onChange={(value) => form.set({ delayMs: Number(value) || 0 })}
            />
          </span>
        </FormLine>
        <PropertySection
          form={form}
          isSet={setsProperties(draft)}
          correlation={
            <CheckField form={form} name="takesCorrelationData" className={styles.correlation} label="Copy the correlation data" />
          }
        />
      </FormStack>
      <div className={styles.stickyButtons}>
        {meanwhile !== undefined && (
          <Notice tone="warn" role="status">
            {meanwhile}
          </Notice>
        )}
        <DialogButtons>
          <Button onClick={onBack}>Back</Button>
          <Button disabled={!onDiscard} onClick={onDiscard}>
            Discard
          </Button>
          <Button type="submit" variant="filled" disabled={"problem" in parsed}>
            Save the rule
          </Button>
        </DialogButtons>
      </div>
    </form>
  );
}

function Condition({ form }: { readonly form: DraftForm<ReplyDraft> }) {
  const { condition } = form.draft;
  switch (condition) {
    case "any payload":
      return null;
    case "text contains":
      return <TextField form={form} name="text" mono label="Text" />;
    case "JSON field equals":
      return (
        <FormColumns>
          <TextField form={form} name="field" mono label="Field" placeholder="position.lat; empty for the whole payload" />
          <TextField form={form} name="value" mono label="Value" placeholder="on, 42, true or null" />
        </FormColumns>
      );
    default:
      return condition satisfies never;
  }
}
