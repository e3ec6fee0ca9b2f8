import { ActionIcon, Button, Checkbox, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useRef } from "react";
import { useRemembered } from "../components/use-remembered.ts";
import type { ParsedDraft, PublishDraft } from "./publish-draft.ts";
import { usesVersion5 } from "./publish-draft.ts";
import styles from "./publish-form.module.css";

interface PublishFormProps {
  readonly draft: PublishDraft;
  readonly parsed: ParsedDraft;
  readonly onDraft: (draft: PublishDraft) => void;
}

/** Every option of a PUBLISH in 3.1.1, and the properties of 5.0. */
export function PublishForm({ draft, parsed, onDraft }: PublishFormProps) {
  const [showsProperties, setShowsProperties] = useRemembered("mqtt.publish-properties", false);
  const set = (part: Partial<PublishDraft>) => onDraft({ ...draft, ...part });
  const problem = (field: string) => ("problem" in parsed && parsed.field === field ? parsed.problem : undefined);
  const open = showsProperties || problem("expirySeconds") || problem("responseTopic") || problem("correlationData");
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
      <div className={styles.sectionHead}>
        <h3 className={styles.title}>MQTT 5.0 properties</h3>
        {!open && usesVersion5(draft) && <span className={styles.hint}>some are set</span>}
        <span className={styles.spring} />
        <Button size="compact-xs" variant="subtle" aria-expanded={Boolean(open)} onClick={() => setShowsProperties(!showsProperties)}>
          {open ? "Hide" : "Show"}
        </Button>
      </div>
      {open && <Properties draft={draft} set={set} problem={problem} />}
    </div>
  );
}

interface PropertiesProps {
  readonly draft: PublishDraft;
  readonly set: (part: Partial<PublishDraft>) => void;
  readonly problem: (field: string) => string | undefined;
}

function Properties({ draft, set, problem }: PropertiesProps) {
  return (
    <>
      <div className={styles.pair}>
        <TextInput
          label="Content type"
          placeholder="application/json"
          value={draft.contentType}
          onChange={(event) => set({ contentType: event.currentTarget.value })}
        />
        <TextInput
          label="Message expiry (s)"
          placeholder="never"
          inputMode="numeric"
          value={draft.expirySeconds}
          error={problem("expirySeconds")}
          onChange={(event) => set({ expirySeconds: event.currentTarget.value })}
        />
        <TextInput
          label="Response topic"
          value={draft.responseTopic}
          spellCheck={false}
          error={problem("responseTopic")}
          onChange={(event) => set({ responseTopic: event.currentTarget.value })}
        />
        <TextInput
          label="Correlation data"
          placeholder="text, or 0x and hex"
          value={draft.correlationData}
          spellCheck={false}
          error={problem("correlationData")}
          onChange={(event) => set({ correlationData: event.currentTarget.value })}
        />
      </div>
      <Checkbox
        size="xs"
        label="Payload format: UTF-8"
        checked={draft.isUtf8}
        onChange={(event) => set({ isUtf8: event.currentTarget.checked })}
      />
      <UserProperties properties={draft.userProperties} onChange={(userProperties) => set({ userProperties })} />
    </>
  );
}

interface UserPropertiesProps {
  readonly properties: PublishDraft["userProperties"];
  readonly onChange: (properties: PublishDraft["userProperties"]) => void;
}

/** In their order; a key may repeat. */
function UserProperties({ properties, onChange }: UserPropertiesProps) {
  const list = useRef<HTMLDivElement>(null);
  const put = (place: number, pair: readonly [string, string]) =>
    onChange(properties.map((other, index) => (index === place ? pair : other)));
  return (
    <div ref={list} className={styles.users}>
      {properties.map(([key, value], place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place; keys may repeat.
        <div key={place} className={styles.user}>
          <TextInput
            aria-label={`User property ${place + 1}`}
            placeholder="key"
            value={key}
            onChange={(event) => put(place, [event.currentTarget.value, value])}
          />
          <TextInput
            aria-label={`Value of user property ${place + 1}`}
            placeholder="value"
            value={value}
            onChange={(event) => put(place, [key, event.currentTarget.value])}
          />
          <ActionIcon
            aria-label={`Remove user property ${place + 1}`}
            onClick={() => onChange(properties.filter((_, index) => index !== place))}
          >
            <IconX size={14} stroke={1.5} />
          </ActionIcon>
        </div>
      ))}
      <Button size="compact-xs" leftSection={<IconPlus size={12} stroke={1.5} />} onClick={() => onChange([...properties, ["", ""]])}>
        User property
      </Button>
    </div>
  );
}
