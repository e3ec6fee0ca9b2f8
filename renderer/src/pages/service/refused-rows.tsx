import { UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { statusWord } from "../../../../contract/traffic/row-filter.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { HttpInspector } from "../../inspectors/http/http-inspector.tsx";
import { InspectorFrame, InspectorNote } from "../../inspectors/inspector-frame.tsx";
import { useDetail } from "../../inspectors/use-detail.ts";
import { rowMark, ToneMark } from "../../list/tone-mark.tsx";
import { noFilter, type TrafficFilter } from "../../list/traffic-filter.ts";
import type { TrafficRows } from "../../list/traffic-rows.ts";
import { useRowsView } from "../../list/use-list-rows.ts";
import { useLiveFilter, useRowNow } from "../../list/use-live-list.ts";
import { useTrafficRows } from "../../list/use-traffic-rows.ts";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { LowerPanel, LowerRow } from "../../ui/lower-panel.tsx";
import { Caption, Spring } from "../../ui/panel.tsx";
import { Answered } from "../../ui/status/answered.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";
import styles from "./refused-requests.module.css";

const unsuccessful: TrafficFilter = { ...noFilter, tone: "unsuccessful" };
/** The list is not virtual; the filter and the Timeline show older ones. */
const mostRows = 200;

export const useRefusedRows = (): TrafficRows => useTrafficRows("events", unsuccessful);

interface RefusedRequestsProps {
  readonly rows: TrafficRows;
  /** The request in the inspector. */
  readonly opened: number | undefined;
  readonly onOpen: (row: TrafficRow) => void;
}

/** The requests that stored no event, with the reason: the table of events has nothing of them. Absent if there are none. */
export function RefusedRequests({ rows, opened, onOpen }: RefusedRequestsProps) {
  const [text, setText] = useState("");
  const matching = useRowsView(rows, (view) => view.matching);
  const shown = useRowsView(rows, (view) => (view.loaded ? view.version : undefined));
  useLiveFilter(rows, { ...unsuccessful, text });
  if (shown === undefined || (matching === 0 && text === "")) return null;
  return (
    <LowerPanel
      title="Refused requests"
      rememberAs="events.refused"
      heightPx={110}
      listLabel="Refused requests, newest first"
      heightLabel="Height of the refused requests"
      isEmpty={matching === 0}
      head={
        <>
          <Caption>{matching === 0 ? "none matches" : formatCount(matching)}</Caption>
          <Spring />
          <FilterInput width={190} slash={false} placeholder="Reason, client, path" value={text} onChange={setText} />
        </>
      }
    >
      {rows
        .toArray()
        .slice(0, mostRows)
        .map((row) => (
          <RefusedRow key={row.id} row={row} opened={row.id === opened} onOpen={onOpen} />
        ))}
    </LowerPanel>
  );
}

function RefusedRow({
  row,
  opened,
  onOpen,
}: {
  readonly row: TrafficRow;
  readonly opened: boolean;
  readonly onOpen: (row: TrafficRow) => void;
}) {
  const reason = shownText(row.reason ?? row.outcome);
  return (
    <LowerRow className={styles.request} data-opened={opened || undefined}>
      <span className={styles.time} title={isoTime(row.at)}>
        {clockTime(row.at)}
      </span>
      <ToneMark tone={rowMark(row)} word={statusWord(row)} title={row.outcome} />
      <UnstyledButton className={styles.reason} title={reason} onClick={() => onOpen(row)}>
        {reason}
      </UnstyledButton>
      <span className={styles.target} title={shownText(row.target)}>
        {shownText(`${row.verb} ${row.target}`)}
      </span>
      <span className={styles.client}>{shownText(row.client || row.peer)}</span>
    </LowerRow>
  );
}

interface RefusedInspectorProps {
  readonly rows: TrafficRows;
  readonly row: TrafficRow;
  readonly onClose: () => void;
}

/** The request and its answer, as on the pages of the other services. */
export function RefusedInspector({ rows, row, onClose }: RefusedInspectorProps) {
  const live = useRowNow(rows, row);
  const answer = useDetail("events", row.id, live);
  const detail = answer.value?.detail;
  return (
    <InspectorSlot shows={row.id}>
      {detail?.kind === "http" ? (
        <HttpInspector row={live ?? row} detail={detail} onRow={() => {}} onClose={onClose} />
      ) : (
        <InspectorFrame title={`${row.verb} ${row.target}`} mono onClose={onClose}>
          <Answered answer={answer} what="the request" compact>
            {() => <InspectorNote>No longer kept: newer requests replaced it, or the list was cleared.</InspectorNote>}
          </Answered>
        </InspectorFrame>
      )}
    </InspectorSlot>
  );
}
