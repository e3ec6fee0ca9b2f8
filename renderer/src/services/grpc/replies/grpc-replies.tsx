import { Button } from "@mantine/core";
import { IconFileText, IconPlus, IconRestore } from "@tabler/icons-react";
import { type KeyboardEvent, useMemo, useState } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { useService, useStore } from "../../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../../list/columns/column-choice.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { Fact } from "../../../list/list-status.tsx";
import { RowMenu } from "../../../list/row-menu.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { useHandover } from "../../../pages/service/handover.ts";
import { type PageCommand, useCommands } from "../../../ui/commands.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { createUnsavedDrafts } from "../../../ui/forms/unsaved-drafts.ts";
import { Notice } from "../../../ui/panel.tsx";
import { ServiceStopped } from "../../../ui/services/start-service-button.tsx";
import { Loading } from "../../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../../ui/status/empty-state.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { Facts, IconButton, StatusLine, ToolbarSeparator } from "../../../ui/toolbar.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { useGrpcView } from "../use-grpc-view.ts";
import { FileDialog, unsavedFiles } from "./file-dialog.tsx";
import { RemovedRules } from "./removed-rules.tsx";
import styles from "./replies.module.css";
import { ruleColumns } from "./rule-columns.tsx";
import { openedRules, requestedRules, useRuleCommands } from "./rule-commands.ts";
import { newRuleText, takesRules, type UnsavedRule } from "./rule-draft.ts";
import { RuleInspector } from "./rule-inspector.tsx";
import { type RuleRow, ruleRows } from "./rule-rows.ts";
import { WaitingPanel } from "./waiting-panel.tsx";

const rowId = ({ key }: RuleRow) => key;
const nothing: readonly never[] = [];
const unsavedRules = createUnsavedDrafts<UnsavedRule>();
const { keep } = unsavedRules;
/** No rule has a key that begins so. */
const newKey = "\n";

const addRule = { id: "grpc-add-rule", title: "Add a rule…", keywords: "reply new create delay answers faults errors status fail slow" };
const editRules = { id: "grpc-edit-rules", title: "Edit the file of rules…", keywords: "replies" };
/** What the palette finds of it. */
export const repliesCommands: readonly PageCommand[] = [addRule, editRules];

/** The rules that answer calls, with their counts, and the calls that wait for a release. */
export function GrpcReplies() {
  const client = useControl();
  const service = useService("grpc");
  const view = useGrpcView("replies");
  const counts = useGrpcView("replyCounts", (value) => value.counts) ?? nothing;
  const waiting = useGrpcView("waitingCalls", ({ calls }) => calls) ?? nothing;
  const services = useGrpcView("services", (value) => value.services) ?? nothing;
  const running = service?.status.state === "running";
  const ask = () => client.action(grpcActions, "grpc", "replies.read", {});
  const answer = useAnswer({ key: ["grpc", "replies"], ask, enabled: running && view !== undefined, version: view?.revision });
  const texts = answer.value;
  const readNow = async () => {
    const newest = await ask();
    answer.set(newest);
    return newest;
  };
  const [text, setText] = useRemembered("grpc.replies.filter", "");
  const columns = useColumnChoice("grpc-replies", ruleColumns);
  const choice = useRowChoice(rowId);
  const unsaved = useStore(unsavedRules);
  const isFileUnsaved = useStore(unsavedFiles).has(view?.file ?? "");
  /** The method of a rule that is being added. */
  const [adding, setAdding] = useState<string>();
  const [isEditing, setEditing] = useState(false);
  const rows = useMemo(() => ruleRows(view?.rules ?? nothing, counts, text), [view?.rules, counts, text]);
  /** What was typed while it was being saved is a change of the saved rule. */
  const keepSince = (key: string, savedAs: string, base: string, of: UnsavedRule | undefined) => {
    const since = unsavedRules.get().get(key);
    keep(key, undefined);
    if (since && since !== of) keep(savedAs, { ...since, base });
  };
  const commandsOf = useRuleCommands({
    texts,
    services,
    count: view?.rules.length ?? 0,
    onOpen: choice.openId,
    onRemoved(key) {
      keep(key, undefined);
      choice.close();
    },
  });
  useHandover(requestedRules, "grpc", setAdding);
  useHandover(openedRules, "grpc", (key) => {
    setAdding(undefined);
    setText("");
    choice.openId(key);
  });
  const problems = view?.problems ?? nothing;
  const isBroken = problems.length > 0;
  const first = services.find(({ methods }) => methods.some(({ path }) => takesRules(path)))?.methods[0];
  const add = () => setAdding(first?.path.slice(1) ?? "example.Greeter/SayHello");
  useCommands(
    running
      ? [
          ...(choice.chosenRow ? commandsOf(rows.find(({ key }) => key === choice.chosen) ?? choice.chosenRow) : []),
          { ...addRule, enabled: !isBroken, run: add },
          { ...editRules, enabled: texts !== undefined, run: () => setEditing(true) },
        ]
      : [],
  );
  if (!running) return <ServiceStopped id="grpc" text="Start the service to see and change its replies." />;
  const opened = adding !== undefined ? undefined : rows.find(({ key }) => key === choice.opened?.id);
  const removed = view ? [...unsaved].filter(([key]) => !key.startsWith(newKey) && !view.rules.some((rule) => rule.key === key)) : nothing;
  const [removedKey, removedRule] = (adding === undefined && removed.find(([key]) => key === choice.opened?.id)) || [];
  const openedKey = opened?.key ?? removedKey;
  // Of one that was removed meanwhile, as it was when the typing began.
  const openedText = opened ? texts?.rules.find(({ key }) => key === opened.key)?.text : removedRule?.base;
  const close = () => {
    setAdding(undefined);
    choice.close();
  };
  const moveChosen = (event: KeyboardEvent) => {
    const id = event.altKey ? { ArrowUp: "grpc-rule-up", ArrowDown: "grpc-rule-down" }[event.key] : undefined;
    const row = rows.find(({ key }) => key === choice.chosen);
    const command = row && commandsOf(row).find((one) => one.id === id && one.enabled !== false);
    if (!command) return;
    event.preventDefault();
    command.run();
  };
  return (
    <ListPage
      label="Replies"
      toolbarLabel="Replies"
      filter={<FilterInput width={242} placeholder="Method, name, condition, answer" value={text} onChange={setText} />}
      tools={
        <>
          <IconButton
            label="Reset all counts"
            icon={IconRestore}
            onClick={() => void attempt(client.action(grpcActions, "grpc", "reply.reset", {}))}
          />
          <ColumnMenu all={ruleColumns} choice={columns} />
          <ToolbarSeparator />
          <Button leftSection={<IconFileText size={14} stroke={1.5} />} disabled={!texts} onClick={() => setEditing(true)}>
            Edit file
          </Button>
          <Button leftSection={<IconPlus size={14} stroke={1.5} />} disabled={isBroken} onClick={add}>
            Add rule
          </Button>
        </>
      }
      status={
        <StatusLine>
          <Facts>
            {view && <Fact>{formatCountOf(view.rules.length, "rule")}</Fact>}
            {unsaved.size > 0 && <Fact>{`${formatCount(unsaved.size)} not saved`}</Fact>}
            {isFileUnsaved && <Fact>Text of the file not saved</Fact>}
            {waiting.length > 0 && <Fact>{`${formatCount(waiting.length)} waiting`}</Fact>}
            {view && (
              <Fact
                title={`${shownText(view.file)}, ${view.isConfigured ? "set by GRPC_REPLIES" : "in the data folder; GRPC_REPLIES sets another one"}`}
              >
                {shownText(view.file.replace(/^.*[/\\]/, ""))}
              </Fact>
            )}
          </Facts>
        </StatusLine>
      }
      below={
        <>
          {waiting.length > 0 && <WaitingPanel calls={waiting} />}
          {isEditing && view && texts && <FileDialog file={view.file} texts={texts} onClose={() => setEditing(false)} />}
          {adding !== undefined && view && (
            <InspectorSlot shows={newKey + adding}>
              <RuleInspector
                key={newKey + adding}
                rule={undefined}
                text={newRuleText(adding)}
                unsaved={unsaved.get(newKey + adding)}
                commands={nothing}
                onUnsaved={(next) => keep(newKey + adding, next)}
                onRead={readNow}
                onSaved={(key, base, of) => {
                  keepSince(newKey + adding, key, base, of);
                  setAdding(undefined);
                  choice.openId(key);
                }}
                onClose={close}
              />
            </InspectorSlot>
          )}
          {openedKey !== undefined && openedText !== undefined && (
            <InspectorSlot shows={openedKey}>
              <RuleInspector
                key={openedKey}
                rule={opened}
                isRemoved={!opened}
                text={openedText}
                unsaved={unsaved.get(openedKey)}
                commands={opened ? commandsOf(opened) : nothing}
                onUnsaved={(next) => {
                  keep(openedKey, next);
                  if (!opened && next === undefined) close();
                }}
                onRead={readNow}
                onSaved={(key, base, of) => {
                  keepSince(openedKey, key, base, of);
                  choice.openId(key);
                }}
                onClose={close}
              />
            </InspectorSlot>
          )}
        </>
      }
    >
      {isBroken && (
        <Notice tone="bad" role="alert">
          {problems.slice(0, 3).map(({ line, column, message }) => (
            <div key={`${line}:${column} ${message}`}>{`Line ${line}, column ${column}: ${shownText(message)}`}</div>
          ))}
          The file cannot be read. The last valid rules stay in use.
        </Notice>
      )}
      <RemovedRules
        rules={removed}
        onOpen={(key) => {
          setAdding(undefined);
          choice.openId(key);
        }}
        onDiscard={(key) => keep(key, undefined)}
      />
      {view ? (
        <RowMenu commandsOf={commandsOf}>
          {(onRowMenu) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: the table in it has the focus; its other keys are the table's.
            <div className={styles.table} onKeyDown={moveChosen}>
              <DataTable
                {...choice.tableProps}
                onOpen={(row) => {
                  setAdding(undefined);
                  choice.open(row);
                }}
                onRowMenu={onRowMenu}
                label="Rules"
                count={rows.length}
                rowAt={(index) => rows[index]}
                columns={columns.columns}
                empty={
                  view.rules.length === 0 ? (
                    <EmptyState
                      title="No rules yet"
                      text="A rule answers a method with a reply, a scripted stream or a status. Calls that no rule matches go to the method's handler."
                    >
                      <Button leftSection={<IconPlus size={14} stroke={1.5} />} disabled={isBroken} onClick={add}>
                        Add rule
                      </Button>
                    </EmptyState>
                  ) : (
                    <NoRows text="No rule matches the filter." action="Show all" onAction={() => setText("")} />
                  )
                }
              />
            </div>
          )}
        </RowMenu>
      ) : (
        <Loading what="the rules" />
      )}
    </ListPage>
  );
}
