import { Button, Checkbox, Group, Input, NumberInput, SegmentedControl, Switch, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { attempt } from "../../../ui/notify.tsx";
import { setsProperties } from "./property-draft.ts";
import { PropertySection } from "./property-section.tsx";
import styles from "./replies-dialog.module.css";
import { parseReplyDraft, type ReplyDraft } from "./reply-draft.ts";

const conditions = [
  { value: "any payload", label: "Any" },
  { value: "text contains", label: "Contains a text" },
  { value: "JSON field equals", label: "JSON field equals" },
];

interface ReplyFormProps {
  readonly rule: ReplyDraft;
  readonly onDone: () => void;
}

/** One rule: what is answered, and with what. */
export function ReplyForm({ rule, onDone }: ReplyFormProps) {
  const client = useControl();
  const [draft, setDraft] = useState(rule);
  const set = (part: Partial<ReplyDraft>) => setDraft({ ...draft, ...part });
  const parsed = parseReplyDraft(draft);
  const problem = (field: string) => ("problem" in parsed && parsed.field === field ? parsed.problem : undefined);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if ("problem" in parsed) return;
    if (await attempt(client.action(mqttActions, "mqtt", "reply.save", parsed.params))) onDone();
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        className={styles.mono}
        label="Messages on"
        data-autofocus
        value={draft.filter}
        spellCheck={false}
        error={problem("filter")}
        onChange={(event) => set({ filter: event.currentTarget.value })}
      />
      <Input.Wrapper label="Their payload" labelElement="div">
        <SegmentedControl
          aria-label="Their payload"
          className={styles.conditions}
          data={conditions}
          value={draft.condition}
          onChange={(value) => set({ condition: value as ReplyDraft["condition"] })}
        />
      </Input.Wrapper>
      <Condition draft={draft} set={set} problem={problem} />
      <TextInput
        className={styles.mono}
        label="Answer on"
        placeholder="the message's own response topic"
        error={problem("topic")}
        value={draft.topic}
        spellCheck={false}
        onChange={(event) => set({ topic: event.currentTarget.value })}
      />
      <Textarea
        className={styles.mono}
        label="With"
        description="{topic} and {payload} stand for those of the message."
        autosize
        minRows={2}
        maxRows={8}
        value={draft.payload}
        spellCheck={false}
        onChange={(event) => set({ payload: event.currentTarget.value })}
      />
      <Group gap="lg">
        <SegmentedControl
          aria-label="Quality of service"
          data={["0", "1", "2"].map((value) => ({ value, label: `QoS ${value}` }))}
          value={String(draft.qos)}
          onChange={(value) => set({ qos: Number(value) as ReplyDraft["qos"] })}
        />
        <Switch
          className={styles.retain}
          label="Retain"
          checked={draft.retain}
          onChange={(event) => set({ retain: event.currentTarget.checked })}
        />
        <span className={styles.after}>
          After
          <NumberInput
            aria-label="Answer after"
            size="xs"
            w={100}
            suffix=" ms"
            min={0}
            max={60_000}
            allowDecimal={false}
            clampBehavior="strict"
            value={draft.delayMs}
            onChange={(value) => set({ delayMs: Number(value) || 0 })}
          />
        </span>
      </Group>
      <PropertySection
        draft={draft}
        onDraft={set}
        isSet={setsProperties(draft)}
        problem={problem}
        correlation={
          <Checkbox
            size="xs"
            className={styles.correlation}
            label="Take over the correlation data"
            checked={draft.takesCorrelationData}
            onChange={(event) => set({ takesCorrelationData: event.currentTarget.checked })}
          />
        }
      />
      <div className={styles.actions}>
        <Button onClick={onDone}>Back</Button>
        <Button type="submit" variant="filled" disabled={"problem" in parsed}>
          Save the rule
        </Button>
      </div>
    </form>
  );
}

interface ConditionProps {
  readonly draft: ReplyDraft;
  readonly set: (part: Partial<ReplyDraft>) => void;
  readonly problem: (field: string) => string | undefined;
}

function Condition({ draft, set, problem }: ConditionProps) {
  switch (draft.condition) {
    case "any payload":
      return null;
    case "text contains":
      return (
        <TextInput
          className={styles.mono}
          label="Text"
          value={draft.text}
          spellCheck={false}
          error={problem("text")}
          onChange={(event) => set({ text: event.currentTarget.value })}
        />
      );
    case "JSON field equals":
      return (
        <div className={styles.pair}>
          <TextInput
            className={styles.mono}
            label="Field"
            placeholder="position.lat; empty for the whole payload"
            value={draft.field}
            spellCheck={false}
            onChange={(event) => set({ field: event.currentTarget.value })}
          />
          <TextInput
            className={styles.mono}
            label="Value"
            placeholder="on, 42, true or null"
            value={draft.value}
            spellCheck={false}
            onChange={(event) => set({ value: event.currentTarget.value })}
          />
        </div>
      );
    default:
      return draft.condition satisfies never;
  }
}
