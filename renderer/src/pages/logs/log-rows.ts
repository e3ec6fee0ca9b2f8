import type { LogPage } from "../../../../contract/control.ts";
import { type LogLevel, type LogLine, type LogSource, logLevels } from "../../../../contract/log.ts";
import type { ServiceView } from "../../../../contract/service.ts";
import { createListRows } from "../../list/rows/list-rows.ts";
import type { ListRowsOptions } from "../../list/rows/list-source.ts";
import type { ListRows } from "../../list/rows/list-view.ts";

export interface LogFilter {
  readonly source?: LogSource | undefined;
  /** This level and above. */
  readonly level: LogLevel;
  readonly text: string;
}

/** The same as the supervisor's filter. */
export function logMatcher({ source, level, text }: LogFilter): (line: LogLine) => boolean {
  const least = logLevels.indexOf(level);
  const needle = text.trim().toLowerCase();
  return (line) =>
    (source === undefined || line.source === source) &&
    logLevels.indexOf(line.level) >= least &&
    (needle === "" || line.text.toLowerCase().includes(needle));
}

const isFilteringLog = ({ source, level, text }: LogFilter): boolean => source !== undefined || level !== "debug" || text.trim() !== "";

export type LogRows = ListRows<LogLine, LogFilter>;

type Kept = "nextFrame" | "filter" | "pageRows" | "followRows" | "mostRows" | "quietMs";

interface LogRowsOptions extends Pick<ListRowsOptions<LogLine, LogFilter>, Kept> {
  readonly read: (query: LogFilter & { readonly before?: number; readonly limit: number }) => Promise<LogPage>;
}

/** The lines that match, newest first as in all lists; the log shows them the other way around. */
export const createLogRows = ({ read, ...options }: LogRowsOptions): LogRows =>
  createListRows<LogLine, LogFilter>({
    pageRows: 1_000,
    followRows: 5_000,
    ...options,
    order: (one, other) => one.seq - other.seq,
    numberOf: ({ seq }) => ({ lane: "", number: seq }),
    matcher: logMatcher,
    isFiltering: isFilteringLog,
    isSame: () => true,
    async read(filter, { before, limit }) {
      const { lines, hasOlder } = await read({ ...filter, ...(before && { before: before.seq }), limit });
      return { rows: lines.toReversed(), hasOlder };
    },
  });

/** Errors since the drawer was last open, without those of a service that has been started since. */
export function unseenErrors(
  lines: readonly LogLine[],
  seenAt: number,
  services: readonly Pick<ServiceView, "id" | "status">[],
): LogLine[] {
  const runsSince = new Map(services.map(({ id, status }) => [id as string, status.state === "running" ? status.since : 0]));
  return lines.filter(({ level, at, source }) => level === "error" && at > seenAt && at > (runsSince.get(source) ?? 0));
}
