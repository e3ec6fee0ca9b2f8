import { ActionIcon, Button, Group, Switch, Text } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttReplyRule } from "../../../../../contract/services/mqtt-reply.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useConfirm } from "../../../ui/confirm.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/notify.tsx";
import { formatCount } from "../../../ui/quantity.ts";
import styles from "./replies-dialog.module.css";
import { conditionText, draftOfRule, newReply, type ReplyDraft } from "./reply-draft.ts";
import { ReplyForm } from "./reply-form.tsx";

interface RepliesDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly rules: readonly MqttReplyRule[];
}

/** Rules by which the broker itself answers; they are kept over a restart. */
export function RepliesDialog({ opened, onClose, rules }: RepliesDialogProps) {
  const [edited, setEdited] = useState<ReplyDraft>();
  return (
    <Dialog opened={opened} onClose={onClose} title="Auto-reply rules" size="lg">
      {edited ? (
        <ReplyForm rule={edited} onDone={() => setEdited(undefined)} />
      ) : (
        <RuleList rules={rules} onEdit={setEdited} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface RuleListProps {
  readonly rules: readonly MqttReplyRule[];
  readonly onEdit: (rule: ReplyDraft) => void;
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
        A message that matches a rule is answered by the broker. Rules are kept when the service stops.
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
                <span className={styles.line}>
                  <code>{rule.filter}</code>
                  <span className={styles.condition}>{conditionText(rule.when)}</span>
                </span>
                <span className={styles.line}>
                  <span className={styles.arrow}>→</span>
                  <code>{rule.topic || "response topic"}</code>
                  <span className={styles.payload}>{rule.payload}</span>
                </span>
              </span>
              <span className={styles.answered}>{`${formatCount(rule.answered)} answered`}</span>
              <ActionIcon aria-label={`Change the rule for ${rule.filter}`} onClick={() => onEdit(draftOfRule(rule))}>
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
        <Button variant="filled" onClick={() => onEdit(newReply)}>
          New rule
        </Button>
      </Group>
    </>
  );
}
