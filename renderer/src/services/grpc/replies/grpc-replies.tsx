import { Button } from "@mantine/core";
import { IconFileText, IconPlus, IconRestore } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { useService } from "../../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../../list/column-choice.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { Fact } from "../../../list/list-status.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
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
import { FileDialog } from "./file-dialog.tsx";
import { ruleColumns } from "./rule-columns.tsx";
import { newRuleText } from "./rule-draft.ts";
import { RuleInspector } from "./rule-inspector.tsx";
import { type RuleRow, ruleRows } from "./rule-rows.ts";
import { WaitingPanel } from "./waiting-panel.tsx";

const rowId = ({ key }: RuleRow) => key;
const nothing: readonly never[] = [];

/** The rules that answer calls, with their counts, and the calls that wait for a release. */
export function GrpcReplies() {
  const client = useControl();
  const service = useService("grpc");
  const view = useGrpcView("replies");
  const counts = useGrpcView("replyCounts", (value) => value.counts) ?? nothing;
  const waiting = useGrpcView("waitingCalls", ({ calls }) => calls) ?? nothing;
  const firstMethod = useGrpcView(
    "services",
    ({ services }) => services[0] && `${services[0].name}/${services[0].methods[0]?.name ?? "*"}`,
  );
  const running = service?.status.state === "running";
  const texts = useAnswer({
    key: ["grpc", "replies"],
    ask: () => client.action(grpcActions, "grpc", "replies.read", {}),
    enabled: running && view !== undefined,
    version: view?.revision,
  }).value;
  const [text, setText] = useRemembered("grpc.replies.filter", "");
  const columns = useColumnChoice("grpc-replies", ruleColumns);
  const choice = useRowChoice(rowId);
  const [isAdding, setAdding] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const rows = useMemo(() => ruleRows(view?.rules ?? nothing, counts, text), [view?.rules, counts, text]);
  if (!running) return <ServiceStopped id="grpc" text="Start the service to see and change its replies." />;
  const problems = view?.problems ?? nothing;
  const isBroken = problems.length > 0;
  const opened = isAdding ? undefined : rows.find(({ key }) => key === choice.opened?.id);
  const openedText = texts?.rules.find(({ key }) => key === opened?.key)?.text;
  const add = () => setAdding(true);
  const close = () => {
    setAdding(false);
    choice.close();
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
            {waiting.length > 0 && <Fact>{`${formatCount(waiting.length)} waiting`}</Fact>}
            {view && (
              <Fact title={view.isConfigured ? "Set by GRPC_REPLIES" : "In the data folder; GRPC_REPLIES sets another one"}>
                {shownText(view.file)}
              </Fact>
            )}
          </Facts>
        </StatusLine>
      }
      below={
        <>
          {waiting.length > 0 && <WaitingPanel calls={waiting} />}
          {isEditing && view && texts && <FileDialog file={view.file} texts={texts} onClose={() => setEditing(false)} />}
          {isAdding && view && (
            <InspectorSlot shows="new">
              <RuleInspector
                key="new"
                rule={undefined}
                text={newRuleText(firstMethod ?? "example.Greeter/SayHello")}
                rules={view.rules.length}
                onSaved={(key) => {
                  setAdding(false);
                  choice.openId(key);
                }}
                onClose={close}
              />
            </InspectorSlot>
          )}
          {opened && openedText !== undefined && view && (
            <InspectorSlot shows={opened.key}>
              <RuleInspector
                key={`${opened.key} ${openedText}`}
                rule={opened}
                text={openedText}
                rules={view.rules.length}
                onSaved={choice.openId}
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
      {view ? (
        <DataTable
          {...choice.tableProps}
          onOpen={(row) => {
            setAdding(false);
            choice.open(row);
          }}
          label="Rules"
          count={rows.length}
          rowAt={(index) => rows[index]}
          columns={columns.columns}
          empty={
            view.rules.length === 0 ? (
              <EmptyState
                title="No rules yet."
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
      ) : (
        <Loading what="the rules" />
      )}
    </ListPage>
  );
}
