import { ActionIcon, Button, Group, NumberInput, SegmentedControl, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { type MqttReplyRule, mqttActions } from "../../../contract/mqtt.ts";
import { useConfirm } from "../components/confirm.tsx";
import { Dialog } from "../components/dialog.tsx";
import { attempt } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import { formatCount } from "../format/quantity.ts";
import { problemOfTopic } from "./publish-draft.ts";
import styles from "./replies-dialog.module.css";
import { isTopicFilter } from "./topic-scope.ts";

type RuleDraft = Omit<MqttReplyRule, "id" | "answered"> & { readonly id?: string };

const newRule: RuleDraft = { filter: "commands/#", enabled: true, topic: "", payload: "{payload}", qos: 0, retain: false, delayMs: 0 };

interface RepliesDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly rules: readonly MqttReplyRule[];
}

/** Rules by which the broker itself answers; they are kept over a restart. */
export function RepliesDialog({ opened, onClose, rules }: RepliesDialogProps) {
  const [edited, setEdited] = useState<RuleDraft>();
  return (
    <Dialog opened={opened} onClose={onClose} title="Auto-reply rules" size="lg">
      {edited ? (
        <RuleForm rule={edited} onDone={() => setEdited(undefined)} />
      ) : (
        <RuleList rules={rules} onEdit={setEdited} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface RuleListProps {
  readonly rules: readonly MqttReplyRule[];
  readonly onEdit: (rule: RuleDraft) => void;
  readonly onClose: () => void;
}

function RuleList({ rules, onEdit, onClose }: RuleListProps) {
  const client = useControl();
  const confirm = useConfirm();
  const save = ({ answered: _, ...rule }: MqttReplyRule, enabled: boolean) =>
    attempt(client.action(mqttActions, "mqtt", "reply.save", { ...rule, enabled }));
  const remove = async ({ id, filter }: MqttReplyRule) => {
    const isSure = await confirm({
      title: `Remove the rule for “${filter}”?`,
      text: "Messages on it are no longer answered.",
      action: "Remove the rule",
    });
    if (isSure) await attempt(client.action(mqttActions, "mqtt", "reply.remove", { id }));
  };
  return (
    <>
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        A message whose topic matches a rule is answered by the broker. Rules are kept when the service stops.
      </Text>
      {rules.length === 0 ? (
        <p className={styles.none}>No rule yet.</p>
      ) : (
        <ul className={styles.rules}>
          {rules.map((rule) => (
            <li key={rule.id}>
              <Switch
                aria-label={`Answer ${rule.filter}`}
                checked={rule.enabled}
                onChange={(event) => void save(rule, event.currentTarget.checked)}
              />
              <span className={styles.rule}>
                <code>{rule.filter}</code>
                <span className={styles.arrow}>→</span>
                <code>{rule.topic || "response topic"}</code>
                <span className={styles.payload}>{rule.payload}</span>
              </span>
              <span className={styles.answered}>{`${formatCount(rule.answered)} answered`}</span>
              <ActionIcon aria-label={`Change the rule for ${rule.filter}`} onClick={() => onEdit(rule)}>
                <IconPencil size={14} stroke={1.5} />
              </ActionIcon>
              <ActionIcon aria-label={`Remove the rule for ${rule.filter}`} onClick={() => void remove(rule)}>
                <IconTrash size={14} stroke={1.5} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button onClick={onClose}>Close</Button>
        <Button variant="filled" onClick={() => onEdit(newRule)}>
          New rule
        </Button>
      </Group>
    </>
  );
}

function RuleForm({ rule, onDone }: { readonly rule: RuleDraft; readonly onDone: () => void }) {
  const client = useControl();
  const [draft, setDraft] = useState(rule);
  const set = (part: Partial<RuleDraft>) => setDraft({ ...draft, ...part });
  const answerProblem = draft.topic === "" ? undefined : problemOfTopic(draft.topic);
  const isValid = isTopicFilter(draft.filter) && answerProblem === undefined;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isValid) return;
    const { id, filter, enabled, topic, payload, qos, retain, delayMs } = draft;
    const params = { ...(id !== undefined && { id }), filter, enabled, topic, payload, qos, retain, delayMs };
    if (await attempt(client.action(mqttActions, "mqtt", "reply.save", params))) onDone();
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Messages on"
        data-autofocus
        value={draft.filter}
        spellCheck={false}
        error={isTopicFilter(draft.filter) ? undefined : "This is no topic filter."}
        onChange={(event) => set({ filter: event.currentTarget.value })}
      />
      <TextInput
        label="Answer on"
        placeholder="the message's own response topic"
        error={answerProblem}
        value={draft.topic}
        spellCheck={false}
        onChange={(event) => set({ topic: event.currentTarget.value })}
      />
      <Textarea
        label="With"
        description="{topic} and {payload} stand for those of the message."
        autosize
        minRows={2}
        maxRows={8}
        value={draft.payload}
        spellCheck={false}
        onChange={(event) => set({ payload: event.currentTarget.value })}
      />
      <Group gap="lg" align="end">
        <SegmentedControl
          aria-label="Quality of service"
          data={["0", "1", "2"].map((value) => ({ value, label: `QoS ${value}` }))}
          value={String(draft.qos)}
          onChange={(value) => set({ qos: Number(value) as RuleDraft["qos"] })}
        />
        <Switch
          className={styles.retain}
          label="Retain"
          checked={draft.retain}
          onChange={(event) => set({ retain: event.currentTarget.checked })}
        />
        <NumberInput
          size="xs"
          w={120}
          label="After"
          suffix=" ms"
          min={0}
          max={60_000}
          allowDecimal={false}
          clampBehavior="strict"
          value={draft.delayMs}
          onChange={(value) => set({ delayMs: Number(value) || 0 })}
        />
      </Group>
      <Group justify="flex-end" mt="sm" gap="sm">
        <Button onClick={onDone}>Back</Button>
        <Button type="submit" variant="filled" disabled={!isValid}>
          Save the rule
        </Button>
      </Group>
    </form>
  );
}
