import { useEffect, useRef, useState } from "react";
import type { TrafficPage } from "../../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../../contract/service.ts";
import { useControl } from "../control/client-context.tsx";
import type { ControlClient } from "../control/control-client.ts";
import { pacedFrame } from "../control/frame-store.ts";
import type { MatchRows } from "./detail-search.ts";
import type { TrafficFilter } from "./traffic-filter.ts";
import { createTrafficRows, type RowPlace, type TrafficRows } from "./traffic-rows.ts";
import { useReceived } from "./use-list-rows.ts";

const recountMs = 5_000;

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
      read: async (query) => joinPages(await Promise.all(idsOf(shown.current).map((id) => client.call("traffic.read", { id, ...query })))),
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
    const timer = setInterval(() => void rows.recount(), recountMs);
    return () => {
      clearInterval(timer);
      end();
    };
  }, [idKey, rows]);
}

/** Rows of several services on one clock. */
const idsPerService = 2 ** 44;

/** One number for a row of any service. */
export const joinedId = ({ service, id }: Pick<RowPlace, "service" | "id">): number => serviceIds.indexOf(service) * idsPerService + id;

/** Sorted by start time; the order of rows with the same time is stable. */
export const byTime = (one: RowPlace, other: RowPlace): number => one.at - other.at || joinedId(one) - joinedId(other);

/** The newest rows of several services as one page. */
export function joinPages(pages: readonly TrafficPage[]): TrafficPage {
  const sum = (of: (page: TrafficPage) => number) => pages.reduce((all, page) => all + of(page), 0);
  return {
    rows: pages.flatMap((page) => page.rows).sort((one, other) => byTime(other, one)),
    matching: sum((page) => page.matching),
    searchedInPart: sum((page) => page.searchedInPart ?? 0),
    kept: sum((page) => page.kept),
    total: sum((page) => page.total),
    dropped: sum((page) => page.dropped),
  };
}

/** Clearing and its undo can be requested anywhere in the window; every list of the service's rows then reads again. */
const listeners = new Set<(id: ServiceId) => void>();

export function announceReplaced(id: ServiceId): void {
  for (const listener of [...listeners]) listener(id);
}

function onReplaced(listener: (id: ServiceId) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
