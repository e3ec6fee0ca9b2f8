import { SegmentedControl, UnstyledButton } from "@mantine/core";
import { memo, useState } from "react";
import { z } from "zod";
import type { ServiceId } from "../../../../contract/service.ts";
import type { DetailKind } from "../../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { statusWord } from "../../../../contract/traffic/row-filter.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import type { Inspectors } from "../../inspectors/inspector-frame.tsx";
import { ClientName } from "../../list/client-name.tsx";
import { LeftOut } from "../../list/list-status.tsx";
import { rowMark, ToneMark } from "../../list/tone-mark.tsx";
import { noFilter, type TrafficFilter } from "../../list/traffic-filter.ts";
import type { TrafficRows } from "../../list/traffic-rows.ts";
import { useRowsView } from "../../list/use-list-rows.ts";
import { useLiveFilter, useRowNow } from "../../list/use-live-list.ts";
import { useTrafficRows } from "../../list/use-traffic-rows.ts";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { LowerPanel, LowerRow } from "../../ui/lower-panel.tsx";
import { Caption, Spring } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import styles from "./other-rows.module.css";
import { RowDetails } from "./row-details.tsx";

/** The list is not virtual; the filter and the Timeline show older ones. */
const mostRows = 200;

interface OtherRowsOptions {
  /** "Requests" */
  readonly title: string;
  /** Name of those that were not successful: "Refused". */
  readonly unsuccessful: string;
  /** A kind of detail; empty for all. */
  readonly ofKind: DetailKind | "";
  readonly placeholder: string;
  readonly inspectors: Inspectors;
}

const shownRows = z.enum(["unsuccessful", "all"]);

/** What the list of a service's page has no rows of, such as its connections: the page shows it below the list; at first what was refused or has failed. */
export function useOtherRows(id: ServiceId, { ofKind, ...texts }: OtherRowsOptions): OtherRowsState {
  const [shown, setShown] = useRemembered(`${id}.others.shown`, "unsuccessful", shownRows);
  const chosen: TrafficFilter = { ...noFilter, tone: shown, ofKind };
  const rows = useTrafficRows(id, chosen);
  const [text, setText] = useState("");
  const [opened, open] = useState<TrafficRow>();
  useLiveFilter(rows, { ...chosen, text });
  return { ...texts, id, rows, shown, setShown, text, setText, opened, open };
}

export interface OtherRowsState extends Omit<OtherRowsOptions, "ofKind"> {
  readonly id: ServiceId;
  readonly rows: TrafficRows;
  readonly shown: z.infer<typeof shownRows>;
  readonly setShown: (shown: z.infer<typeof shownRows>) => void;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** The row in the inspector. */
  readonly opened: TrafficRow | undefined;
  readonly open: (row: TrafficRow | undefined) => void;
}

/** Absent while nothing is kept of the service. `unrecorded`: how many more there were than could have a row each. */
export function OtherRows({ others, unrecorded = 0 }: { readonly others: OtherRowsState; readonly unrecorded?: number }) {
  const { id, title, unsuccessful, placeholder, rows, shown, setShown, text, setText, opened, open } = others;
  const matching = useRowsView(rows, (view) => view.matching);
  const isEmpty = useRowsView(rows, (view) => !view.loaded || view.kept === 0);
  useRowsView(rows, (view) => view.version);
  if (isEmpty) return null;
  const hasNone = matching === 0 && text === "";
  return (
    <LowerPanel
      title={title}
      rememberAs={`${id}.others`}
      heightPx={110}
      listLabel={`${title}, newest first`}
      heightLabel={`Height of the ${title.toLowerCase()}`}
      isEmpty={matching === 0}
      isOptional={hasNone}
      onEscape={() => open(undefined)}
      head={
        <>
          <SegmentedControl
            aria-label={`${title} shown`}
            data={[
              { value: "unsuccessful", label: unsuccessful },
              { value: "all", label: "All" },
            ]}
            value={shown}
            onChange={(next) => setShown(shownRows.parse(next))}
          />
          <Caption className={styles.count}>{hasNone ? "none" : matching === 0 ? "none matches" : formatCount(matching)}</Caption>
          {unrecorded > 0 && (
            <LeftOut title="They came too fast to have a row each. All were answered and counted.">
              {`${formatCount(unrecorded)} not recorded`}
            </LeftOut>
          )}
          <Spring />
          {!hasNone && <FilterInput width={190} slash={false} placeholder={placeholder} value={text} onChange={setText} />}
        </>
      }
    >
      {rows
        .toArray()
        .slice(0, mostRows)
        .map((row) => (
          <OtherRow key={row.id} row={row} opened={row.id === opened?.id && row.at === opened.at} onOpen={open} />
        ))}
    </LowerPanel>
  );
}

/** Without a reason of its own the outcome is the reason. */
const toneWord = ({ tone }: TrafficRow): string => (tone === "aborted" ? "failed" : tone);

const OtherRow = memo(function OtherRow({
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
      <span className={styles.target} title={shownText(row.target)}>
        {shownText(`${row.verb} ${row.target}`)}
      </span>
      <UnstyledButton className={styles.reason} title={reason} onClick={() => onOpen(row)}>
        {reason}
      </UnstyledButton>
      <span className={styles.client}>
        <ClientName client={row.client || row.peer} />
      </span>
    </LowerRow>
  );
});

/** The row that was opened, as in the lists of other services. */
export const OtherRowInspector = ({ others }: { readonly others: OtherRowsState }) =>
  others.opened && <OpenedRow others={others} row={others.opened} />;

function OpenedRow({ others, row }: { readonly others: OtherRowsState; readonly row: TrafficRow }) {
  const { id, rows, inspectors, open } = others;
  const live = useRowNow(rows, row);
  return (
    <InspectorSlot shows={row.id}>
      <RowDetails service={id} row={row.id} live={live} opened={row} inspectors={inspectors} onClose={() => open(undefined)} />
    </InspectorSlot>
  );
}
