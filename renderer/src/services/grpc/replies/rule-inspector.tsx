import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import type { ReplyTexts } from "../../../../../contract/services/grpc-replies.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { InspectorFrame, InspectorTabs } from "../../../inspectors/inspector-frame.tsx";
import { CommandItems } from "../../../ui/command-items.tsx";
import type { Command } from "../../../ui/commands.ts";
import { CodeArea } from "../../../ui/forms/code-area.tsx";
import { draftForm } from "../../../ui/forms/draft-form.tsx";
import { ruleMeanwhile } from "../../../ui/forms/unsaved-drafts.ts";
import { Note } from "../../../ui/panel.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { useGrpcSchema } from "../schema/use-grpc-schema.ts";
import { useGrpcView } from "../use-grpc-view.ts";
import { titleOfText } from "./removed-rules.tsx";
import styles from "./replies.module.css";
import { goToLine, ReplyProblems, useReplyProblems } from "./reply-problems.tsx";
import { draftOfText, type RuleDraft, rebased, textOfDraft, type UnsavedRule } from "./rule-draft.ts";
import { RuleForm } from "./rule-form.tsx";
import type { RuleRow } from "./rule-rows.ts";

interface RuleInspectorProps {
  /** Undefined for a new one, and for one that was removed meanwhile. */
  readonly rule: RuleRow | undefined;
  readonly isRemoved?: boolean;
  /** As the file has it; of one that was removed, as it was. */
  readonly text: string;
  readonly unsaved: UnsavedRule | undefined;
  readonly commands: readonly Command[];
  readonly onUnsaved: (unsaved: UnsavedRule | undefined) => void;
  /** Reads the rules as they are now, and shows them. */
  readonly onRead: () => Promise<ReplyTexts>;
  /** Called with the key of the rule, its text, and the changes of which that was made. */
  readonly onSaved: (key: string, text: string, of: UnsavedRule | undefined) => void;
  readonly onClose: () => void;
}

const tabKey = "inspector.grpc-rule-tab";
const noServices: readonly never[] = [];

/** A rule as a form and as JSON: both change the same text, which is saved into the file. */
export function RuleInspector({
  rule,
  isRemoved = false,
  text: saved,
  unsaved,
  commands,
  onUnsaved,
  onRead,
  onSaved,
  onClose,
}: RuleInspectorProps) {
  const client = useControl();
  const schema = useGrpcSchema().value;
  const services = useGrpcView("services", (view) => view.services) ?? noServices;
  const [refused, setRefused] = useState<string>();
  const json = useRef<HTMLTextAreaElement>(null);
  /** To be shown as soon as the JSON is. */
  const wantedLine = useRef<number>(undefined);
  const [tab, setTab] = useRemembered(tabKey, "rule");
  const showLine = (line: number) => {
    wantedLine.current = line;
    if (json.current) goToLine(json.current, line);
    else setTab("json");
  };
  const { base, text, typed }: UnsavedRule = unsaved ? rebased(unsaved, saved) : { base: saved, text: saved };
  const draft = typed ?? draftOfText(text);
  const checked = draft && textOfDraft(text, draft);
  const problem = checked && "problem" in checked ? checked.problem : undefined;
  const problems = useReplyProblems("rule", text);
  const change = (next: Pick<UnsavedRule, "text" | "typed">) => {
    setRefused(undefined);
    onUnsaved(next.text === saved && next.typed === undefined && !isRemoved ? undefined : { base, ...next });
  };
  const changeDraft = (next: RuleDraft) => {
    const applied = textOfDraft(text, next);
    // The input stays as typed; the rule gets its value.
    change({ text: "problem" in applied ? text : applied.text, typed: next });
  };
  const isSaving = useRef(false);
  const save = async () => {
    if (isSaving.current) return;
    isSaving.current = true;
    setRefused(undefined);
    try {
      // The rule may have been switched since it was shown; one that was changed otherwise is shown as changed, and replaced then.
      const now = rule && (await onRead()).rules.find(({ key }) => key === rule.key)?.text;
      if (rule && now === undefined) return;
      const next = now === undefined ? { base, text } : rebased({ base, text }, now);
      if (now !== undefined && next.base !== now && now !== saved) return;
      const { key } = await client.action(grpcActions, "grpc", "reply.save", {
        ...(rule && { key: rule.key, before: now }),
        text: next.text,
      });
      // Until these are read, the rule as it was would be shown as saved.
      await onRead();
      onSaved(key, next.text, unsaved);
    } catch (error) {
      setRefused(failureOf(error).message);
    } finally {
      isSaving.current = false;
    }
  };
  const isChanged = rule === undefined || text !== saved || problem !== undefined;
  // Its words are those of the first problem that is shown, with its line.
  const isRefusedForShown = problems[0] !== undefined && refused?.includes(problems[0].message);
  const meanwhile = isRemoved
    ? ruleMeanwhile.removed
    : unsaved !== undefined && base !== saved && text !== saved
      ? ruleMeanwhile.changed
      : undefined;
  return (
    <InspectorFrame
      title={rule ? rule.name || rule.method : isRemoved ? titleOfText(saved) : "New rule"}
      hint={rule?.method}
      actions={rule && <RuleMenu of={rule.name || rule.method} commands={commands} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs={tabKey}
        tabs={[
          {
            name: "rule",
            title: "Rule",
            content: (
              <div className={styles.fields}>
                {draft ? (
                  <RuleForm form={draftForm(draft, changeDraft, checked ?? {})} services={services} schema={schema} />
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
                <CodeArea
                  ref={(area) => {
                    json.current = area;
                    if (area && wantedLine.current !== undefined) goToLine(area, wantedLine.current);
                    wantedLine.current = undefined;
                  }}
                  aria-label="The rule as JSON"
                  minRows={16}
                  value={text}
                  onChange={(next) => change({ text: next })}
                />
              </div>
            ),
          },
        ]}
      />
      <ReplyProblems isInset of={tab === "json" ? "rule" : "form"} problems={problems} onLine={showLine} />
      <div className={styles.foot}>
        <span
          className={styles.said}
          data-bad={(refused ?? problem ?? meanwhile) !== undefined || (!isChanged && problems.length > 0) || undefined}
          aria-live="polite"
        >
          {(isRefusedForShown ? "Not saved: it has the problem above" : refused) ??
            problem ??
            meanwhile ??
            (rule === undefined
              ? "Added at the end. The first matching rule answers."
              : isChanged
                ? "Not saved yet"
                : problems.length > 0
                  ? "Saved, but not used: it has the problem above"
                  : "Saved")}
        </span>
        <Button
          disabled={unsaved === undefined}
          onClick={() => {
            setRefused(undefined);
            onUnsaved(undefined);
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

function RuleMenu({ of, commands }: { readonly of: string; readonly commands: readonly Command[] }) {
  return (
    <Menu position="bottom-end" withinPortal={false} width={208}>
      <Menu.Target>
        <ActionIcon aria-label={`More for ${of}`}>
          <IconDots size={16} stroke={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <CommandItems commands={commands} />
      </Menu.Dropdown>
    </Menu>
  );
}
