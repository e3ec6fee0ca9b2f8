import { Checkbox, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { PropertySection } from "./property-section.tsx";
import { type ParsedDraft, type PublishDraft, usesVersion5 } from "./publish-draft.ts";
import styles from "./publish-form.module.css";

interface PublishFormProps {
  readonly draft: PublishDraft;
  readonly parsed: ParsedDraft;
  readonly onDraft: (draft: PublishDraft) => void;
}

/** Every option of a PUBLISH in 3.1.1, and the properties of 5.0. */
export function PublishForm({ draft, parsed, onDraft }: PublishFormProps) {
  const set = (part: Partial<PublishDraft>) => onDraft({ ...draft, ...part });
  const problem = (field: string) => ("problem" in parsed && parsed.field === field ? parsed.problem : undefined);
  return (
    <div className={styles.form}>
      <TextInput
        className={styles.mono}
        label="Topic"
        data-autofocus
        value={draft.topic}
        spellCheck={false}
        error={problem("topic")}
        onChange={(event) => set({ topic: event.currentTarget.value })}
      />
      <div className={styles.options}>
        <SegmentedControl
          aria-label="Quality of service"
          data={["0", "1", "2"].map((value) => ({ value, label: `QoS ${value}` }))}
          value={String(draft.qos)}
          onChange={(value) => set({ qos: Number(value) as PublishDraft["qos"] })}
        />
        <Checkbox size="xs" label="Retain" checked={draft.retain} onChange={(event) => set({ retain: event.currentTarget.checked })} />
        <span className={styles.spring} />
        <SegmentedControl
          aria-label="Payload is"
          data={[
            { value: "text", label: "Text" },
            { value: "hex", label: "Hex" },
            { value: "base64", label: "Base64" },
          ]}
          value={draft.encoding}
          onChange={(value) => set({ encoding: value as PublishDraft["encoding"] })}
        />
      </div>
      <Textarea
        className={styles.mono}
        aria-label="Payload"
        placeholder={draft.retain ? "Empty: deletes the retained message" : "Payload"}
        autosize
        minRows={4}
        maxRows={10}
        spellCheck={false}
        value={draft.payload}
        error={problem("payload")}
        onChange={(event) => set({ payload: event.currentTarget.value })}
      />
      <PropertySection
        draft={draft}
        onDraft={set}
        isSet={usesVersion5(draft)}
        problem={problem}
        correlation={
          <TextInput
            label="Correlation data"
            placeholder="text, or 0x and hex"
            value={draft.correlationData}
            spellCheck={false}
            error={problem("correlationData")}
            onChange={(event) => set({ correlationData: event.currentTarget.value })}
          />
        }
      />
    </div>
  );
}
