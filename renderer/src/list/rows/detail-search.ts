import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { parseRowQuery } from "../../../../contract/traffic/row-query.ts";
import { noFilter, searchesDetails, type TrafficFilter, trafficMatcher } from "../filter/traffic-filter.ts";

/** Ids of those rows of a service that match, also in their details. */
export type MatchRows = (service: ServiceId, rows: readonly number[], filter: TrafficFilter) => Promise<readonly number[]>;

/** More than a list holds. */
const mostFound = 40_000;
/** As many as one call takes; older ones of a flood are left to the next reading of the list. */
const mostWaiting = 1_000;

export interface DetailSearch {
  /** Decides by the texts of a row, and by what the supervisor answered for it. */
  matcher(filter: TrafficFilter): (row: TrafficRow) => boolean;
  /** Rows that the supervisor returned for the filter. */
  found(filter: TrafficFilter, rows: readonly TrafficRow[]): void;
  /** Asks for rows whose texts do not decide. */
  received(rows: readonly TrafficRow[]): void;
  /** Ignores pending answers. */
  stop(): void;
}

/** For lists that search details: these are in the supervisor only. `onFound` gets arrived rows that match. */
export function createDetailSearch(match: MatchRows, onFound: (rows: readonly TrafficRow[]) => void, now = Date.now): DetailSearch {
  const known = new Set<string>();
  const waiting = new Map<ServiceId, Map<number, TrafficRow>>();
  const asking = new Set<ServiceId>();
  let current = noFilter;
  let hasText = trafficMatcher(current);
  let mayMatch = trafficMatcher(current);
  /** Incremented when pending answers become stale. */
  let generation = 0;
  const keyOf = ({ service, id }: Pick<TrafficRow, "service" | "id">) => `${service} ${id}`;

  function remember(rows: readonly TrafficRow[]): void {
    for (const row of rows) known.add(keyOf(row));
    for (const key of known) {
      if (known.size <= mostFound) break;
      known.delete(key);
    }
  }

  async function ask(service: ServiceId): Promise<void> {
    const rows = waiting.get(service);
    if (!rows || asking.has(service)) return;
    waiting.delete(service);
    asking.add(service);
    const mine = generation;
    // Without an answer, the next reading of the list finds them.
    const ids = await match(service, [...rows.keys()], current).catch(() => []);
    asking.delete(service);
    if (mine === generation) {
      const found = ids.flatMap((id) => rows.get(id) ?? []);
      remember(found);
      if (found.length > 0) onFound(found);
    }
    void ask(service);
  }

  function stop(): void {
    generation++;
    waiting.clear();
  }

  return {
    matcher(filter) {
      stop();
      known.clear();
      current = filter;
      hasText = trafficMatcher(filter, now);
      mayMatch = trafficMatcher({ ...filter, text: parseRowQuery(filter.text).termText }, now);
      if (!searchesDetails(filter)) return hasText;
      return (row) => mayMatch(row) && (hasText(row) || known.has(keyOf(row)));
    },
    found(filter, rows) {
      if (filter === current && searchesDetails(current)) remember(rows);
    },
    received(rows) {
      if (!searchesDetails(current)) return;
      for (const row of rows) {
        if (!mayMatch(row) || hasText(row) || known.has(keyOf(row))) continue;
        const ofService = waiting.get(row.service) ?? new Map<number, TrafficRow>();
        waiting.set(row.service, ofService.set(row.id, row));
        const [oldest] = ofService.keys();
        if (ofService.size > mostWaiting && oldest !== undefined) ofService.delete(oldest);
      }
      for (const service of [...waiting.keys()]) void ask(service);
    },
    stop,
  };
}
