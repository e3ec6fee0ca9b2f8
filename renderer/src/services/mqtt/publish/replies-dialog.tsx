import { ActionIcon, Button, Switch, Text } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttReplyRule } from "../../../../../contract/services/mqtt-reply.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { Dialog, DialogButtons } from "../../../ui/forms/dialog.tsx";
import { Caption, Note } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useMqttView } from "../broker/use-broker.ts";
import styles from "./publish.module.css";
import { conditionText, draftOfRule, newReply, type ReplyDraft } from "./reply-draft.ts";
import { ReplyForm } from "./reply-form.tsx";

const noRules: readonly MqttReplyRule[] = [];

interface RepliesDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Rules by which the broker replies by itself; they survive a restart. */
export function RepliesDialog({ opened, onClose }: RepliesDialogProps) {
  const rules = useMqttView("replies")?.rules ?? noRules;
  const [edited, setEdited] = useState<ReplyDraft>();
  const isFormLeft = !opened && edited !== undefined;
  // Opened again it begins with the list.
  if (isFormLeft) setEdited(undefined);
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
  const save = ({ answered: _, dropped: _1, ...rule }: MqttReplyRule, enabled: boolean) =>
    attempt(client.action(mqttActions, "mqtt", "reply.save", { ...rule, enabled }));
  const remove = async ({ id, filter }: MqttReplyRule) => {
    const isSure = await confirm({
      title: `Remove the rule for “${filter}”?`,
      text: "The broker no longer replies to messages that match it.",
      action: "Remove the rule",
    });
    if (isSure) await attempt(client.action(mqttActions, "mqtt", "reply.remove", { id }));
  };
  return (
    <>
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        The broker replies to messages that match a rule. Rules survive a restart.
      </Text>
      {rules.length === 0 ? (
        <Note>No rule yet.</Note>
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
                <span className={styles.ruleLine}>
                  <code>{shownText(rule.filter)}</code>
                  <span>{conditionText(rule.when)}</span>
                </span>
                <span className={styles.ruleLine}>
                  <span>→</span>
                  <code>{shownText(rule.topic) || "response topic"}</code>
                  <span className={styles.rulePayload}>{rule.payload}</span>
                </span>
              </span>
              <Caption>{`${formatCount(rule.answered)} answered${rule.dropped > 0 ? `, ${formatCount(rule.dropped)} dropped` : ""}`}</Caption>
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
      <DialogButtons>
        <Button onClick={onClose}>Close</Button>
        <Button variant="filled" onClick={() => onEdit(newReply)}>
          New rule
        </Button>
      </DialogButtons>
    </>
  );
}
