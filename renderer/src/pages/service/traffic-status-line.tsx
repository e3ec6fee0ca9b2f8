import type { ServiceView } from "../../../../contract/service.ts";
import type { RateSample } from "../../../../contract/traffic/row.ts";
import { useRate } from "../../control/use-store.ts";
import { type FilterTerms, filterNote } from "../../list/filter/filter-terms.ts";
import { FollowMark } from "../../list/follow-mark.tsx";
import { Fact, LeftOut, SinceStart, StatusLink } from "../../list/list-status.tsx";
import { findsRows, rowsShownText } from "../../list/rows/rows-shown.ts";
import type { TrafficRows, TrafficRowsView } from "../../list/rows/traffic-rows.ts";
import { useRowsView } from "../../list/rows/use-list-rows.ts";
import { useSampleTraffic } from "../../ui/services/sample-traffic.tsx";
import { formatCount, formatRate } from "../../ui/texts/quantity.ts";
import { clockMinutes, clockTime, isoTime } from "../../ui/texts/time.ts";
import { Facts, StatusLine } from "../../ui/toolbar.tsx";

interface TrafficStatusLineProps {
  readonly rows: TrafficRows;
  readonly service: ServiceView | undefined;
  /** That the filter has for these rows. */
  readonly terms: FilterTerms;
  readonly onFollow: () => void;
}

/** The state of the list: following or held, the rate, and the numbers of shown and omitted rows. */
export function TrafficStatusLine({ rows, service, terms, onFollow }: TrafficStatusLineProps) {
  const view = useRowsView(rows, (all) => all);
  const rate = useRate(service?.id);
  const running = service?.status.state === "running" ? service.status : undefined;
  const note = filterNote(view.filter.text, terms, findsRows(view));
  return (
    <StatusLine>
      <Facts>
        <FollowState rows={rows} view={view} onFollow={onFollow} />
        <RowsLeftOut view={view} rate={rate} />
        {note && <LeftOut title={note.title}>{note.text}</LeftOut>}
        {service && running && <Fact>{`${formatRate(rate?.itemsPerSecond ?? 0)} ${service.rateUnit}`}</Fact>}
        <Fact title={view.isFull ? "No more rows are loaded. Filter to find others." : undefined}>{rowsShownText(view)}</Fact>
        {view.answered && view.searchedInPart > 0 && <Fact title={searchedInPartHint}>{searchedInPartText(view.searchedInPart)}</Fact>}
        {service && running && <StopSampleTraffic service={service} />}
      </Facts>
      <SinceStart title={rate?.note}>
        {running && <span title={isoTime(running.since)}>{`since ${clockMinutes(running.since)}`}</span>}
        {rate?.note && running && ` · ${rate.note}`}
      </SinceStart>
    </StatusLine>
  );
}

/** "3 were searched in part only" */
export const searchedInPartText = (rows: number): string => `${formatCount(rows)} ${rows === 1 ? "was" : "were"} searched in part only`;
const searchedInPartHint = "Of long bodies and messages the start is kept. Config says how much, under Recorder.";

function FollowState({ rows, view, onFollow }: Pick<TrafficStatusLineProps, "rows" | "onFollow"> & { readonly view: TrafficRowsView }) {
  const scrolled = view.mode === "scrolled";
  return (
    <FollowMark
      mode={scrolled ? "held" : view.mode}
      arrived={arrivedText(view)}
      title={scrolled ? `Held at ${clockTime(rows.rowAt(0)?.at ?? 0)}` : undefined}
      onFollow={onFollow}
    />
  );
}

function arrivedText({ mode, arrived, kept, allKept }: TrafficRowsView): string | undefined {
  switch (mode) {
    case "paused":
      return `${formatCount(arrived)} arrived since${arrived <= kept && allKept ? ", all kept" : ""}`;
    case "aimed":
      return arrived > 0 ? `${formatCount(arrived)} waiting` : undefined;
    case "following":
    case "scrolled":
      return undefined;
    default:
      return mode satisfies never;
  }
}

function StopSampleTraffic({ service }: { readonly service: ServiceView }) {
  const sample = useSampleTraffic(service.id);
  if (!sample.playing) return null;
  return (
    <span>
      <StatusLink onClick={sample.toggle}>Stop sample traffic</StatusLink>
    </span>
  );
}

function RowsLeftOut({ view, rate }: { readonly view: TrafficRowsView; readonly rate: RateSample | undefined }) {
  const lost = rate?.dropped ?? 0;
  const leftOut = lost + view.skipped;
  if (leftOut === 0) return null;
  const skipped = `${formatCount(view.skipped)} arrived too fast for this list. They are kept, and shown when the load falls.`;
  const unrecorded = `${formatCount(lost)} were served and counted, but not recorded.`;
  return (
    <LeftOut title={[view.skipped > 0 && skipped, lost > 0 && unrecorded].filter(Boolean).join(" ")}>
      {`${formatCount(leftOut)} left out under load`}
    </LeftOut>
  );
}
