import { useEffect, useRef, useState } from "react";
import type { TrafficPage } from "../../../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { compareValues, sortPlaceOf, type TimedRowSort } from "../../../../contract/traffic/row-sort.ts";
import { useControl } from "../../control/client-context.tsx";
import type { ControlClient } from "../../control/control-client.ts";
import { pacedFrame } from "../../control/frame-store.ts";
import type { TrafficFilter } from "../filter/traffic-filter.ts";
import type { MatchRows } from "./detail-search.ts";
import { createTrafficRows, joinedId, type RowPlace, type TrafficQuery, type TrafficRows } from "./traffic-rows.ts";
import { useReceived } from "./use-list-rows.ts";

const recountMs = 5_000;
const passedMs = 1_000;

/** The rows of a service's live view: received while shown, read again when shown again and after a reconnect. */
export function useTrafficRows(id: ServiceId, filter: TrafficFilter): TrafficRows {
  const client = useControl();
  const [rows] = useState(() =>
    createTrafficRows({
      read: (query) => client.call("traffic.read", { id, ...query }),
      match: matchesOf(client),
      nextFrame: pacedFrame,
      filter,
    }),
  );
  useTraffic(rows, id);
  return rows;
}

/** The rows of several services on one clock; `idKey` is their ids, joined with commas. */
export function useJoinedTrafficRows(idKey: string, filter: TrafficFilter): TrafficRows {
  const client = useControl();
  const shown = useRef(idKey);
  const [rows] = useState(() =>
    createTrafficRows({
      read: async (query) =>
        joinPages(await Promise.all(idsOf(shown.current).map((id) => client.call("traffic.read", { id, ...query }))), query),
      match: matchesOf(client),
      nextFrame: pacedFrame,
      filter,
      order: byTime,
      readsOlder: false,
    }),
  );
  useEffect(() => {
    if (shown.current === idKey) return;
    shown.current = idKey;
    void rows.replaced();
  }, [rows, idKey]);
  useTraffic(rows, idKey);
  return rows;
}

const matchesOf =
  (client: ControlClient): MatchRows =>
  (id, rows, filter) =>
    client.call("traffic.match", { id, rows: [...rows], ...filter });

const idsOf = (idKey: string): readonly ServiceId[] => serviceIds.filter((id) => idKey.split(",").includes(id));

function useTraffic(rows: TrafficRows, idKey: string): void {
  useReceived(
    rows,
    idsOf(idKey)
      .map((id) => `traffic/${id}` as const)
      .join(),
  );
  useEffect(() => {
    const end = onReplaced((replaced) => void (idsOf(idKey).includes(replaced) && rows.replaced()));
    const timers = [setInterval(() => void rows.recount(), recountMs), setInterval(() => void rows.passed(), passedMs)];
    return () => {
      for (const timer of timers) clearInterval(timer);
      end();
    };
  }, [idKey, rows]);
}

/** Sorted by start time; the order of rows with the same time is stable. */
export const byTime = (one: RowPlace, other: RowPlace): number => one.at - other.at || joinedId(one) - joinedId(other);

/** The newest rows of several services as one page, or the first ones of all in the order of a query. */
export function joinPages(pages: readonly TrafficPage[], { sort, limit }: Partial<Pick<TrafficQuery, "sort" | "limit">> = {}): TrafficPage {
  const sum = (of: (page: TrafficPage) => number) => pages.reduce((all, page) => all + of(page), 0);
  const joined = pages.flatMap((page) => page.rows);
  return {
    // Behind its last row a service may have others.
    rows: sort ? joined.sort(bySort(sort)).slice(0, limit) : joined.sort((one, other) => byTime(other, one)),
    matching: sum((page) => page.matching),
    searchedInPart: sum((page) => page.searchedInPart ?? 0),
    kept: sum((page) => page.kept),
    total: sum((page) => page.total),
    dropped: sum((page) => page.dropped),
  };
}

const bySort = (sort: TimedRowSort) => (one: TrafficRow, other: TrafficRow) =>
  compareValues(sortPlaceOf(one, sort).value, sortPlaceOf(other, sort).value, sort.direction) || byTime(other, one);

/** Clearing and its undo can be requested anywhere in the window; every list of the service's rows then reads again. */
const listeners = new Set<(id: ServiceId) => void>();

export function announceReplaced(id: ServiceId): void {
  for (const listener of [...listeners]) listener(id);
}

function onReplaced(listener: (id: ServiceId) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
