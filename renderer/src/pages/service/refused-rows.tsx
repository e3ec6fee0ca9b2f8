import { UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { DetailKind } from "../../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { statusWord } from "../../../../contract/traffic/row-filter.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { InspectorFrame, InspectorNote, type Inspectors } from "../../inspectors/inspector-frame.tsx";
import { KindInspector } from "../../inspectors/kind-inspector.tsx";
import { useDetail } from "../../inspectors/use-detail.ts";
import { ClientName } from "../../list/client-name.tsx";
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
import styles from "./refused-rows.module.css";

/** The list is not virtual; the filter and the Timeline show older ones. */
const mostRows = 200;

interface RefusedRowsOptions {
  /** "Refused requests" */
  readonly title: string;
  /** A kind of detail; empty for all. */
  readonly ofKind: DetailKind | "";
  readonly placeholder: string;
  readonly inspectors: Inspectors;
}

/** What was refused or has failed; the page of a service whose list has nothing of it shows it below the list. */
export function useRefusedRows(id: ServiceId, { title, ofKind, placeholder, inspectors }: RefusedRowsOptions): RefusedRowsState {
  const unsuccessful: TrafficFilter = { ...noFilter, tone: "unsuccessful", ofKind };
  const rows = useTrafficRows(id, unsuccessful);
  const [text, setText] = useState("");
  const [opened, open] = useState<TrafficRow>();
  useLiveFilter(rows, { ...unsuccessful, text });
  return { id, title, placeholder, inspectors, rows, text, setText, opened, open };
}

export interface RefusedRowsState extends Omit<RefusedRowsOptions, "ofKind"> {
  readonly id: ServiceId;
  readonly rows: TrafficRows;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** The row in the inspector. */
  readonly opened: TrafficRow | undefined;
  readonly open: (row: TrafficRow | undefined) => void;
}

/** The rows with the reason of each. Absent if there are none. */
export function RefusedRows({ refused }: { readonly refused: RefusedRowsState }) {
  const { id, title, placeholder, rows, text, setText, opened, open } = refused;
  const matching = useRowsView(rows, (view) => view.matching);
  const shown = useRowsView(rows, (view) => (view.loaded ? view.version : undefined));
  if (shown === undefined || (matching === 0 && text === "")) return null;
  return (
    <LowerPanel
      title={title}
      rememberAs={`${id}.refused`}
      heightPx={110}
      listLabel={`${title}, newest first`}
      heightLabel={`Height of the ${title.toLowerCase()}`}
      isEmpty={matching === 0}
      head={
        <>
          <Caption>{matching === 0 ? "none matches" : formatCount(matching)}</Caption>
          <Spring />
          <FilterInput width={190} slash={false} placeholder={placeholder} value={text} onChange={setText} />
        </>
      }
    >
      {rows
        .toArray()
        .slice(0, mostRows)
        .map((row) => (
          <RefusedRow key={row.id} row={row} opened={row.id === opened?.id} onOpen={open} />
        ))}
    </LowerPanel>
  );
}

/** Without a reason of its own the outcome is the reason. */
const toneWord = ({ tone }: TrafficRow): string => (tone === "refused" ? "refused" : "failed");

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
      <ToneMark tone={rowMark(row)} word={row.reason === undefined ? toneWord(row) : statusWord(row)} title={row.outcome} />
      <UnstyledButton className={styles.reason} title={reason} onClick={() => onOpen(row)}>
        {reason}
      </UnstyledButton>
      <span className={styles.target} title={shownText(row.target)}>
        {shownText(`${row.verb} ${row.target}`)}
      </span>
      <span className={styles.client}>
        <ClientName client={row.client || row.peer} />
      </span>
    </LowerRow>
  );
}

/** The row that was opened, as in the lists of other services. */
export const RefusedInspector = ({ refused }: { readonly refused: RefusedRowsState }) =>
  refused.opened && <OpenedRefusal refused={refused} row={refused.opened} />;

function OpenedRefusal({ refused, row }: { readonly refused: RefusedRowsState; readonly row: TrafficRow }) {
  const { id, rows, inspectors } = refused;
  const live = useRowNow(rows, row);
  const answer = useDetail(id, row.id, live);
  const detail = answer.value?.detail;
  const close = () => refused.open(undefined);
  return (
    <InspectorSlot shows={row.id}>
      {detail ? (
        <KindInspector inspectors={inspectors} kind={detail.kind} detail={detail} row={live ?? row} onRow={() => {}} onClose={close} />
      ) : (
        <InspectorFrame title={`${row.verb} ${row.target}`} mono onClose={close}>
          <Answered answer={answer} what="the details" compact>
            {() => <InspectorNote>No longer kept: newer rows replaced it, or the list was cleared.</InspectorNote>}
          </Answered>
        </InspectorFrame>
      )}
    </InspectorSlot>
  );
}
