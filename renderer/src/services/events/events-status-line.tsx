import { ActionIcon, Loader, Menu, UnstyledButton } from "@mantine/core";
import { IconChevronLeft, IconChevronLeftPipe, IconChevronRight, IconChevronRightPipe } from "@tabler/icons-react";
import type { ServiceView } from "../../../../contract/service.ts";
import type { RateSample } from "../../../../contract/traffic/row.ts";
import { FollowMark } from "../../list/follow-mark.tsx";
import { LeftOut, StatusLink } from "../../list/list-status.tsx";
import { useServiceOperations } from "../../ui/services/use-service-operations.ts";
import { formatCount, formatRate } from "../../ui/texts/quantity.ts";
import { Facts, StatusLine } from "../../ui/toolbar.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import { textNote } from "./event-filter.ts";
import type { EventPages, EventPagesView } from "./event-pages.ts";
import styles from "./events-status-line.module.css";

export const pageSizes = [50, 100, 200, 500] as const;

interface EventsStatusLineProps {
  readonly pages: EventPages;
  readonly view: EventPagesView;
  readonly rate: RateSample | undefined;
  readonly service: ServiceView | undefined;
  /** The service answers calls; also true while it is stopped and its data can be read. */
  readonly available: boolean;
  readonly onFollow: () => void;
  readonly onPageRows: (rows: number) => void;
}

/** One sentence in a fixed place, and the pager. */
export function EventsStatusLine({ pages, view, rate, service, available, onFollow, onPageRows }: EventsStatusLineProps) {
  const running = service?.status.state === "running";
  const lastKnown = view.exact || view.sortedAmong !== undefined;
  const isLast = !view.more || !available;
  const isFirst = view.isFirst || !available;
  const note = textNote(view.filter.text);
  return (
    <StatusLine>
      <Facts>
        {running ? <Following view={view} onFollow={onFollow} /> : <Stopped view={view} available={available} service={service} />}
        {note && <LeftOut title={note.title}>{note.text}</LeftOut>}
        {service && running && <span>{`${formatRate(rate?.itemsPerSecond ?? 0)} ${service.rateUnit}`}</span>}
        {view.sortedAmong !== undefined && (
          <span className={styles.limited} title="A sorted list holds this many rows. Filter to sort others.">
            {`the newest ${formatCount(view.sortedAmong)} of ${formatCount(view.matching)}${view.exact ? "" : "+"}, sorted`}
          </span>
        )}
        {view.reading && (
          <span className={styles.reading}>
            <Loader size={10} aria-hidden="true" /> reading
          </span>
        )}
      </Facts>
      <nav className={styles.pager} aria-label="Pages of events">
        <Menu position="top-end" width={150} withinPortal={false}>
          <Menu.Target>
            <UnstyledButton className={styles.position} title="Rows on a page">
              {pageWords(view)}
            </UnstyledButton>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Label>Rows on a page</Menu.Label>
            <Menu.RadioGroup value={String(view.pageRows)} onChange={(rows) => onPageRows(Number(rows))}>
              {pageSizes.map((rows) => (
                <Menu.RadioItem key={rows} value={String(rows)} closeMenuOnClick>
                  {rows}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Dropdown>
        </Menu>
        <Step label="First page" disabled={isFirst} onClick={() => void pages.first()} icon={IconChevronLeftPipe} />
        <Step label="Previous page" disabled={isFirst} onClick={() => void pages.previous()} icon={IconChevronLeft} />
        <Step label="Next page" disabled={isLast} onClick={() => void pages.next()} icon={IconChevronRight} />
        <Step
          label={lastKnown ? "Last page" : "Last page: not known before all are counted"}
          disabled={isLast || !lastKnown}
          onClick={() => void pages.last()}
          icon={IconChevronRightPipe}
        />
      </nav>
    </StatusLine>
  );
}

interface StepProps {
  readonly label: string;
  readonly disabled: boolean;
  readonly onClick: () => void;
  readonly icon: typeof IconChevronLeft;
}

function Step({ label, disabled, onClick, icon: Icon }: StepProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={disabled} onClick={onClick}>
        <Icon size={15} stroke={1.5} />
      </ActionIcon>
    </Tooltip>
  );
}

function Stopped({ view, available, service }: Pick<EventsStatusLineProps, "view" | "available" | "service">) {
  const { start } = useServiceOperations();
  if (available || view.rows.length === 0)
    return <span className={styles.stopped}>{`stopped; ${view.rows.length > 0 ? "browsing what is stored" : "the events are kept"}`}</span>;
  return (
    <>
      <span className={styles.stopped}>stopped; these rows were read before</span>
      <StatusLink disabled={service?.status.state === "starting"} onClick={() => void start("events")}>
        Start to browse
      </StatusLink>
    </>
  );
}

function Following({ view, onFollow }: { readonly view: EventPagesView; readonly onFollow: () => void }) {
  const isPaused = view.mode === "paused";
  const arrived = `${formatCount(view.arrived)} ${view.mode === "aimed" ? "waiting" : `arrived since${isPaused ? ", all kept" : ""}`}`;
  return <FollowMark mode={view.mode} arrived={isPaused || view.arrived > 0 ? arrived : undefined} onFollow={onFollow} />;
}

/** "1 to 50 of 12,480"; with a plus if not all were counted. */
export function pageWords({
  rows,
  skipped,
  matching,
  exact,
  sortedAmong,
}: Pick<EventPagesView, "rows" | "skipped" | "matching" | "exact" | "sortedAmong">): string {
  if (rows.length === 0) return exact ? "none" : "none so far";
  const last = skipped + rows.length;
  // Only the sorted events have pages.
  if (sortedAmong !== undefined) return `${formatCount(skipped + 1)} to ${formatCount(last)} of ${formatCount(sortedAmong)}`;
  return `${formatCount(skipped + 1)} to ${formatCount(last)} of ${formatCount(Math.max(matching, last))}${exact ? "" : "+"}`;
}
