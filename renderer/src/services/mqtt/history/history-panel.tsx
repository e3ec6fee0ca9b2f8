import { Button } from "@mantine/core";
import { useCallback, useMemo, useRef, useState } from "react";
import type { ServiceView } from "../../../../../contract/service.ts";
import type { MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { DataTable, type DataTableHandle } from "../../../list/data-table.tsx";
import { NewRows } from "../../../list/follow-mark.tsx";
import { ListAnswer } from "../../../list/list-answer.tsx";
import { loadToEnd } from "../../../list/rows/load-to-end.ts";
import { searchedInPartText } from "../../../pages/service/traffic-status-line.tsx";
import { Note } from "../../../ui/panel.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { useRememberedFormat } from "../../../viewer/remembered-format.ts";
import type { PublishDraft } from "../publish/publish-draft.ts";
import { isMixed, scopeFilter, type TopicScope } from "../tree/topic-scope.ts";
import { historyColumns } from "./history-columns.tsx";
import { HistoryHead } from "./history-head.tsx";
import styles from "./history-panel.module.css";
import { comparedWith, historyPageRows, type MessageHistory, type MessageHistoryView } from "./message-history.ts";
import { MessagePanel } from "./message-panel.tsx";
import type { ChosenMessage } from "./use-chosen-message.ts";
import { ValuePlot } from "./value-plot.tsx";

interface HistoryPanelProps {
  readonly scope: TopicScope;
  readonly onScope: (scope: TopicScope) => void;
  readonly isRetained: boolean;
  readonly isBranch: boolean;
  readonly history: MessageHistory;
  readonly view: MessageHistoryView;
  /** Newest first. */
  readonly messages: readonly MqttMessageSummary[];
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly withoutSample: boolean;
  readonly onWithoutSample: (without: boolean) => void;
  readonly chosen: MqttMessageSummary | undefined;
  readonly detail: ChosenMessage;
  readonly onChoose: (id: number | undefined) => void;
  readonly onPublish: (draft: PublishDraft) => void;
  readonly service: ServiceView | undefined;
}

/** The messages of the selected topic: a plot of their numbers, a list, and the selected message in full. */
export function HistoryPanel(props: HistoryPanelProps) {
  const { scope, history, view, messages, chosen, onChoose } = props;
  const [payloadView, setPayloadView] = useRememberedFormat(`mqtt ${scopeFilter(scope)}`);
  const [showsPlot, setShowsPlot] = useRemembered("mqtt.plot", true);
  const [showsDiff, setShowsDiff] = useRemembered("mqtt.diff", true);
  const table = useRef<DataTableHandle>(null);
  const mixed = isMixed(scope);
  const columns = useMemo(() => historyColumns(payloadView, scope), [payloadView, scope]);
  const rowAt = useCallback((index: number) => messages[index], [messages]);
  const pick = useCallback((message: MqttMessageSummary) => onChoose(message.id), [onChoose]);
  const follow = () => {
    table.current?.toTop();
    onChoose(undefined);
    history.scrolled(false);
  };
  /** The older message with which others of its topic are compared, instead of the previous one. */
  const [baseline, setBaseline] = useState<MqttMessageSummary>();
  // Of the message that is shown: until the chosen one was read, that is the one before.
  const { message: shown } = props.detail;
  const before = shown && comparedWith(shown, baseline, messages);
  return (
    <section className={styles.panel} aria-label="History">
      <HistoryHead
        scope={scope}
        onScope={props.onScope}
        isRetained={props.isRetained}
        isBranch={props.isBranch}
        payloadView={payloadView}
        onPayloadView={setPayloadView}
        showsPlot={showsPlot}
        onPlot={() => setShowsPlot(!showsPlot)}
        showsDiff={showsDiff}
        onDiff={() => setShowsDiff(!showsDiff)}
        text={props.text}
        onText={props.onText}
        withoutSample={props.withoutSample}
        onWithoutSample={props.onWithoutSample}
        waiting={view.mode === "aimed" ? view.arrived : 0}
        service={props.service}
      />
      {showsPlot && !mixed && <ValuePlot messages={messages} view={payloadView} />}
      <div className={styles.list}>
        {view.mode === "scrolled" && view.arrived > 0 && (
          <NewRows count={view.arrived} atLeast={view.arrived >= historyPageRows} onFollow={follow} />
        )}
        <DataTable
          ref={table}
          label="Messages, newest first"
          count={messages.length}
          rowAt={rowAt}
          rowId={rowId}
          columns={columns}
          chosen={chosen?.id}
          onChoose={pick}
          onOpen={pick}
          onClose={() => onChoose(undefined)}
          onScrolledAway={history.scrolled}
          onAimed={history.aimed}
          onEndNear={() => void history.loadOlder()}
          loadAll={(isWanted) => loadToEnd(history, isWanted)}
        />
        {messages.length === 0 && (
          <div className={styles.nothing}>
            {props.scope.topic === "" ? (
              "Choose a topic to see its messages."
            ) : (
              <ListAnswer rows={history} what="the messages">
                <NoMessages {...props} />
              </ListAnswer>
            )}
          </div>
        )}
      </div>
      {view.isFull && (
        <Note className={styles.full}>{`The newest ${formatCount(messages.length)} are shown. Filter or export to find older ones.`}</Note>
      )}
      {messages.length > 0 && view.searchedInPart > 0 && <Note className={styles.full}>{inPartText(view.searchedInPart)}</Note>}
      {chosen && (
        <MessagePanel
          detail={props.detail}
          before={before?.id}
          onCompare={setBaseline}
          showsDiff={showsDiff}
          view={payloadView}
          onPublish={props.onPublish}
        />
      )}
    </section>
  );
}

/** Over the table and not in it, because a grid may contain only rows. */
function NoMessages(
  props: Pick<HistoryPanelProps, "text" | "onText" | "withoutSample" | "onWithoutSample" | "view" | "isRetained" | "scope">,
) {
  const { text, onText, withoutSample, onWithoutSample, view } = props;
  const all = () => {
    onText("");
    onWithoutSample(false);
  };
  const which = text === "" ? "of this topic is kept" : "contains this text";
  // It may be older than all that is kept.
  if (props.isRetained && !props.scope.below && text === "" && !withoutSample)
    return "No message of this topic is kept, but its retained message: the list of topics has its value.";
  return (
    <>
      {`No message ${which}${withoutSample ? ", without sample traffic" : ""}.`}
      {view.searchedInPart > 0 && <span>{inPartText(view.searchedInPart)}</span>}
      {(text !== "" || withoutSample) && <Button onClick={all}>Show all</Button>}
    </>
  );
}

/** Until a stop a broker has the whole payloads. */
const inPartText = (messages: number) =>
  `${searchedInPartText(messages)}: of payloads from before the broker's last stop the start is kept (Config, Recorder).`;

const rowId = (message: MqttMessageSummary) => message.id;
