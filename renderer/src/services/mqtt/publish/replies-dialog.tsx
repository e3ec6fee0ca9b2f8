import { ActionIcon, Badge, Button, Switch, Text } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttReplyRule } from "../../../../../contract/services/mqtt-reply.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useStore } from "../../../control/use-store.ts";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { Dialog, DialogButtons } from "../../../ui/forms/dialog.tsx";
import { createUnsavedDrafts } from "../../../ui/forms/unsaved-drafts.ts";
import { Caption, Note, Notice } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useMqttView } from "../broker/use-broker.ts";
import styles from "./publish.module.css";
import { changedMeanwhile, conditionText, draftOfRule, isSameReply, newReply, type ReplyDraft, type UnsavedReply } from "./reply-draft.ts";
import { ReplyForm } from "./reply-form.tsx";

const noRules: readonly MqttReplyRule[] = [];

interface RepliesDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Of the rule that is not saved yet, among the identifiers of rules. */
const newId = "";

const unsavedReplies = createUnsavedDrafts<UnsavedReply>();
const { keep } = unsavedReplies;

/** Rules by which the broker replies by itself; they survive a restart. What was typed is kept until it is saved or discarded. */
export function RepliesDialog({ opened, onClose }: RepliesDialogProps) {
  const known = useMqttView("replies")?.rules;
  const rules = known ?? noRules;
  const [editedId, setEditedId] = useState<string>();
  const unsaved = useStore(unsavedReplies);
  const isFormLeft = !opened && editedId !== undefined;
  // Opened again it begins with the list.
  if (isFormLeft) setEditedId(undefined);
  const edited = rules.find(({ id }) => id === editedId);
  // One that is removed meanwhile is saved as it was typed.
  const saved = editedId === newId ? newReply : edited && draftOfRule(edited);
  const before = saved ?? unsaved.get(editedId ?? newId)?.draft;
  const isRemoved = known !== undefined && editedId !== undefined && !saved;
  const removed = known === undefined ? [] : [...unsaved].filter(([id]) => id !== newId && !known.some((rule) => rule.id === id));
  const leave = () => setEditedId(undefined);
  const formOf = (id: string, before: ReplyDraft) => {
    const typed = unsaved.get(id);
    const discard = () => {
      keep(id, undefined);
      if (isRemoved) leave();
    };
    return (
      <ReplyForm
        // The list may have switched it on or off since.
        draft={typed ? { ...typed.draft, enabled: before.enabled } : before}
        meanwhile={known && changedMeanwhile(typed, saved)}
        onDraft={(draft) => keep(id, saved && isSameReply(draft, saved) ? undefined : { base: typed?.base ?? before, draft })}
        onDiscard={typed && discard}
        onBack={leave}
        onSaved={() => {
          discard();
          leave();
        }}
      />
    );
  };
  return (
    <Dialog opened={opened} onClose={onClose} title="Auto-reply rules" size="lg">
      {editedId !== undefined && before ? (
        formOf(editedId, before)
      ) : (
        <RuleList rules={rules} removed={removed} isOpenedRemoved={isRemoved} onEdit={setEditedId} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface RuleListProps {
  readonly rules: readonly MqttReplyRule[];
  /** Of which there are changes that are not saved. */
  readonly removed: readonly (readonly [id: string, unsaved: UnsavedReply])[];
  /** The rule whose form was open is gone, and nothing was typed into it. */
  readonly isOpenedRemoved: boolean;
  readonly onEdit: (id: string) => void;
  readonly onClose: () => void;
}

function RuleList({ rules, removed, isOpenedRemoved, onEdit, onClose }: RuleListProps) {
  const client = useControl();
  const unsaved = useStore(unsavedReplies);
  const confirm = useConfirm();
  const save = ({ answered: _, dropped: _1, ...rule }: MqttReplyRule, enabled: boolean) =>
    attempt(client.action(mqttActions, "mqtt", "reply.save", { ...rule, enabled }));
  const remove = async ({ id, filter }: MqttReplyRule) => {
    const isSure = await confirm({
      title: `Remove the rule for “${filter}”?`,
      text: "The broker no longer replies to messages that match it.",
      action: "Remove the rule",
    });
    if (isSure && (await attempt(client.action(mqttActions, "mqtt", "reply.remove", { id })))) keep(id, undefined);
  };
  return (
    <>
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        The broker replies to messages that match a rule. Rules survive a restart.
      </Text>
      {isOpenedRemoved && (
        <Notice tone="warn" role="status">
          The rule that was shown was removed meanwhile.
        </Notice>
      )}
      {rules.length + removed.length === 0 ? (
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
              {unsaved.has(rule.id) && <Badge className={styles.unsaved}>not saved</Badge>}
              <Caption>{`${formatCount(rule.answered)} answered${rule.dropped > 0 ? `, ${formatCount(rule.dropped)} dropped` : ""}`}</Caption>
              <ActionIcon aria-label={`Change the rule for ${rule.filter}`} onClick={() => onEdit(rule.id)}>
                <IconPencil size={14} stroke={1.5} />
              </ActionIcon>
              <ActionIcon aria-label={`Remove the rule for ${rule.filter}`} onClick={() => void remove(rule)}>
                <IconTrash size={14} stroke={1.5} />
              </ActionIcon>
            </li>
          ))}
          {removed.map(([id, { draft }]) => (
            <li key={id}>
              <span className={styles.rule}>
                <span className={styles.ruleLine}>
                  <code>{shownText(draft.filter)}</code>
                </span>
              </span>
              <Badge className={styles.unsaved}>removed, not saved</Badge>
              <ActionIcon aria-label={`Change the rule for ${draft.filter}`} onClick={() => onEdit(id)}>
                <IconPencil size={14} stroke={1.5} />
              </ActionIcon>
              <ActionIcon aria-label={`Discard the rule for ${draft.filter}`} onClick={() => keep(id, undefined)}>
                <IconTrash size={14} stroke={1.5} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
      {unsaved.has(newId) && <Note className={styles.aside}>A new rule is not saved: “New rule” opens it again.</Note>}
      <DialogButtons>
        <Button onClick={onClose}>Close</Button>
        <Button variant="filled" onClick={() => onEdit(newId)}>
          New rule
        </Button>
      </DialogButtons>
    </>
  );
}
