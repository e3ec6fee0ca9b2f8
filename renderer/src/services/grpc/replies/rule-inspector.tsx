import { ActionIcon, Button, Menu, Textarea } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useState } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { InspectorFrame, InspectorTabs } from "../../../inspectors/inspector-frame.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { draftForm } from "../../../ui/forms/draft-form.tsx";
import { Note } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useGrpcSchema } from "../schema/use-grpc-schema.ts";
import { useGrpcView } from "../use-grpc-view.ts";
import styles from "./replies.module.css";
import { draftOfText, type RuleDraft, textOfDraft } from "./rule-draft.ts";
import { RuleForm } from "./rule-form.tsx";
import type { RuleRow } from "./rule-rows.ts";

interface RuleInspectorProps {
  /** Undefined for a new one. */
  readonly rule: RuleRow | undefined;
  /** As the file has it. */
  readonly text: string;
  readonly rules: number;
  /** Called with the key of the rule. */
  readonly onSaved: (key: string) => void;
  readonly onClose: () => void;
}

const noServices: readonly never[] = [];

/** A rule as a form and as JSON: both change the same text, which is saved into the file. */
export function RuleInspector({ rule, text: saved, rules, onSaved, onClose }: RuleInspectorProps) {
  const client = useControl();
  const schema = useGrpcSchema().value;
  const services = useGrpcView("services", (view) => view.services) ?? noServices;
  const [text, setText] = useState(saved);
  /** Input that is not valid yet. */
  const [typed, setTyped] = useState<RuleDraft>();
  const [refused, setRefused] = useState<string>();
  const draft = typed ?? draftOfText(text);
  const checked = draft && textOfDraft(text, draft);
  const problem = checked && "problem" in checked ? checked.problem : undefined;
  const change = (next: RuleDraft) => {
    setRefused(undefined);
    const applied = textOfDraft(text, next);
    if ("problem" in applied) setTyped(next);
    else {
      // The input stays as typed; the rule gets its value.
      setTyped(next);
      setText(applied.text);
    }
  };
  const save = async () => {
    try {
      const { key } = await client.action(grpcActions, "grpc", "reply.save", { ...(rule && { key: rule.key, before: saved }), text });
      onSaved(key);
    } catch (error) {
      setRefused(failureOf(error).message);
    }
  };
  const isChanged = rule === undefined || text !== saved;
  return (
    <InspectorFrame
      title={rule ? rule.name || rule.method : "New rule"}
      hint={rule?.method}
      actions={rule && <RuleMenu rule={rule} rules={rules} onClose={onClose} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="inspector.grpc-rule-tab"
        tabs={[
          {
            name: "rule",
            title: "Rule",
            content: (
              <div className={styles.fields}>
                {draft ? (
                  <RuleForm form={draftForm(draft, change, checked ?? {})} services={services} schema={schema} />
                ) : (
                  <Note>The text of the rule is not a JSON object. Correct it as JSON.</Note>
                )}
              </div>
            ),
          },
          {
            name: "json",
            title: "JSON",
            content: (
              <div className={styles.fields}>
                <Textarea
                  className={styles.json}
                  aria-label="The rule as JSON"
                  autosize
                  minRows={16}
                  spellCheck={false}
                  value={text}
                  onChange={(event) => {
                    setRefused(undefined);
                    setTyped(undefined);
                    setText(event.currentTarget.value);
                  }}
                />
              </div>
            ),
          },
        ]}
      />
      <div className={styles.foot}>
        <span className={styles.said} data-bad={(refused ?? problem ?? rule?.problem) !== undefined} aria-live="polite">
          {refused ?? problem ?? rule?.problem?.message ?? (isChanged ? "" : "Saved")}
        </span>
        <Button
          disabled={!isChanged || rule === undefined}
          onClick={() => {
            setTyped(undefined);
            setText(saved);
            setRefused(undefined);
          }}
        >
          Discard
        </Button>
        <Button variant="filled" disabled={!isChanged || problem !== undefined} onClick={() => void save()}>
          Save the rule
        </Button>
      </div>
    </InspectorFrame>
  );
}

function RuleMenu({ rule, rules, onClose }: { readonly rule: RuleRow; readonly rules: number; readonly onClose: () => void }) {
  const client = useControl();
  const confirm = useConfirm();
  const { key, place, name, method } = rule;
  const move = (to: number) => void attempt(client.action(grpcActions, "grpc", "reply.move", { key, to }));
  const remove = async () => {
    const isSure = await confirm({
      title: `Remove the rule “${name || method}”?`,
      text: "It is removed from the file. Its calls are answered by the next matching rule, or by the method's handler.",
      action: "Remove the rule",
    });
    if (isSure && (await attempt(client.action(grpcActions, "grpc", "reply.remove", { key })))) onClose();
  };
  return (
    <Menu position="bottom-end" withinPortal={false} width={168}>
      <Menu.Target>
        <ActionIcon aria-label={`More for ${name || method}`}>
          <IconDots size={16} stroke={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={place === 1} onClick={() => move(place - 2)}>
          Move up
        </Menu.Item>
        <Menu.Item disabled={place === rules} onClick={() => move(place)}>
          Move down
        </Menu.Item>
        <Menu.Item onClick={() => void attempt(client.action(grpcActions, "grpc", "reply.reset", { key }))}>Reset its count</Menu.Item>
        <Menu.Item onClick={() => void remove()}>Remove…</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
