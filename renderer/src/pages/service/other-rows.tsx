import { SegmentedControl } from "@mantine/core";
import { useEffect, useState } from "react";
import { z } from "zod";
import type { ServiceId } from "../../../../contract/service.ts";
import type { DetailKind } from "../../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import type { Inspectors } from "../../inspectors/inspector-frame.tsx";
import type { RowCommands } from "../../inspectors/kind-commands.ts";
import { type FilterTerms, filterHint, filterNote } from "../../list/filter/filter-terms.ts";
import { noFilter, type TrafficFilter } from "../../list/filter/traffic-filter.ts";
import { LeftOut } from "../../list/list-status.tsx";
import { LiveTable } from "../../list/live-table.tsx";
import { findsRows, isSearching } from "../../list/rows/rows-shown.ts";
import type { TrafficRows } from "../../list/rows/traffic-rows.ts";
import { useRowsView } from "../../list/rows/use-list-rows.ts";
import { useTrafficRows } from "../../list/rows/use-traffic-rows.ts";
import { useLiveFilter, useRowNow } from "../../list/use-live-list.ts";
import { type RowChoice, useRowChoice } from "../../list/use-row-choice.ts";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { LowerPanel } from "../../ui/lower-panel.tsx";
import { Caption, Spring } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { otherRowColumns } from "./other-row-columns.tsx";
import styles from "./other-rows.module.css";
import { RowDetails } from "./row-details.tsx";
import { useRowCommands } from "./use-row-commands.ts";

interface OtherRowsOptions {
  /** "Requests" */
  readonly title: string;
  /** Name of those that were not successful: "Refused". */
  readonly unsuccessful: string;
  /** A kind of detail; empty for all. */
  readonly ofKind: DetailKind | "";
  readonly placeholder: string;
  /** That the filter has for these rows. */
  readonly terms: FilterTerms;
  readonly inspectors: Inspectors;
  readonly rowCommands: RowCommands;
}

const shownRows = z.enum(["unsuccessful", "all"]);
const rowId = ({ id }: TrafficRow) => id;

/**
 * What the list of a service's page has no rows of, such as its connections: the page shows it below the list; at first what was refused or
 * has failed. `paused`: no rows come into it.
 */
export function useOtherRows(id: ServiceId, { ofKind, ...texts }: OtherRowsOptions, paused: boolean): OtherRowsState {
  const [shown, setShown] = useRemembered(`${id}.others.shown`, "unsuccessful", shownRows);
  const chosen: TrafficFilter = { ...noFilter, tone: shown, ofKind };
  const rows = useTrafficRows(id, chosen);
  const [text, setText] = useState("");
  const choice = useRowChoice(rowId);
  useLiveFilter(rows, { ...chosen, text });
  useEffect(() => {
    if (paused) rows.pause();
    else rows.resume();
  }, [paused, rows]);
  return { ...texts, id, rows, shown, setShown, text, setText, choice };
}

export interface OtherRowsState extends Omit<OtherRowsOptions, "ofKind"> {
  readonly id: ServiceId;
  readonly rows: TrafficRows;
  readonly shown: z.infer<typeof shownRows>;
  readonly setShown: (shown: z.infer<typeof shownRows>) => void;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly choice: RowChoice<TrafficRow, number>;
}

/** Absent while nothing is kept of the service. `unrecorded`: how many more there were than could have a row each. */
export function OtherRows({ others, unrecorded = 0 }: { readonly others: OtherRowsState; readonly unrecorded?: number }) {
  const { id, title, unsuccessful, placeholder, terms, rows, shown, setShown, text, setText, choice, rowCommands } = others;
  const matching = useRowsView(rows, (view) => view.matching);
  const isEmpty = useRowsView(rows, (view) => !view.loaded || view.kept === 0);
  const searches = useRowsView(rows, isSearching);
  const finds = useRowsView(rows, findsRows);
  const commandsOf = useRowCommands(() => rowCommands, choice.open);
  if (isEmpty) return null;
  const hasNone = matching === 0 && text === "";
  const note = filterNote(text, terms, finds);
  return (
    <LowerPanel
      title={title}
      rememberAs={`${id}.others`}
      heightPx={126}
      heightLabel={`Height of the ${title.toLowerCase()}`}
      isEmpty={matching === 0}
      isOptional={hasNone}
      opensInHigh
      onEscape={choice.release}
      head={(unfold) => (
        <>
          <SegmentedControl
            aria-label={`${title} shown`}
            data={[
              { value: "unsuccessful", label: unsuccessful },
              { value: "all", label: "All" },
            ]}
            value={shown}
            onChange={(next) => {
              setShown(shownRows.parse(next));
              unfold();
            }}
          />
          <Caption className={styles.count}>
            {searches ? "searching…" : hasNone ? "none" : matching === 0 ? "none matches" : formatCount(matching)}
          </Caption>
          {unrecorded > 0 && (
            <LeftOut title="They came too fast to have a row each. All were answered and counted.">
              {`${formatCount(unrecorded)} not recorded`}
            </LeftOut>
          )}
          {note && <LeftOut title={note.title}>{note.text}</LeftOut>}
          <Spring />
          {!hasNone && (
            <FilterInput width={190} slash={false} placeholder={placeholder} hint={filterHint(terms)} value={text} onChange={setText} />
          )}
        </>
      )}
    >
      <LiveTable
        rows={rows}
        choice={choice}
        items={title.toLowerCase()}
        columns={otherRowColumns}
        onFollow={() => {
          choice.table.current?.toTop();
          rows.resume();
        }}
        commandsOf={commandsOf}
        isSecondary
      />
    </LowerPanel>
  );
}

/** The row that was opened, as in the lists of other services. */
export const OtherRowInspector = ({ others }: { readonly others: OtherRowsState }) =>
  others.choice.opened?.row && <OpenedRow others={others} row={others.choice.opened.row} />;

function OpenedRow({ others, row }: { readonly others: OtherRowsState; readonly row: TrafficRow }) {
  const { id, rows, inspectors, choice } = others;
  const live = useRowNow(rows, row);
  return (
    <InspectorSlot shows={row.id}>
      <RowDetails service={id} row={row.id} live={live} opened={row} inspectors={inspectors} onClose={choice.close} />
    </InspectorSlot>
  );
}
