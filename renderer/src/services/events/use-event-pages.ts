import { useEffect, useState, useSyncExternalStore } from "react";
import type { ServiceView } from "../../../../contract/service.ts";
import { eventsActions } from "../../../../contract/services/events.ts";
import { useControl } from "../../control/client-context.tsx";
import { filterAt, type ShownFilter } from "./event-filter.ts";
import { createEventPages, type EventPages, type EventPagesView, type StoreTotals } from "./event-pages.ts";

const filterAfterMs = 160;
const tickMs = 10_000;

/**
 * The table's page: read again when the filter or the store changes, when the service starts, after a reconnect, and when a changed
 * configuration of a service that does not run may name another database.
 */
export function useEventPages(options: {
  readonly filter: ShownFilter;
  readonly pageRows: number;
  readonly totals: StoreTotals | undefined;
  readonly service: ServiceView | undefined;
}): readonly [EventPages, EventPagesView] {
  const { filter, pageRows, totals, service } = options;
  const client = useControl();
  const [pages] = useState(() =>
    createEventPages({
      read: (shown, query) => client.action(eventsActions, "events", "page", { filter: filterAt(shown, Date.now()), ...query }),
      filter,
      pageRows,
    }),
  );
  const state = service?.status.state;
  const settled = state === "running" || state === "stopped" || state === "failed";

  useEffect(() => {
    if (!settled) return;
    return client.onOpen(() => void pages.reload());
  }, [client, pages, settled]);
  const browsed = state === "running" ? undefined : service?.configRevision;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each of these changes may change which process answers.
  useEffect(() => {
    if (settled && pages.view().loaded) void pages.reload();
  }, [pages, state, browsed]);
  useEffect(() => {
    if (totals) pages.totals(totals);
  }, [pages, totals]);
  useEffect(() => {
    const timer = setInterval(() => pages.tick(), tickMs);
    return () => {
      clearInterval(timer);
      pages.dispose();
    };
  }, [pages]);
  useEffect(() => {
    if (filter === pages.view().filter) return;
    const timer = setTimeout(() => void pages.setFilter(filter), filterAfterMs);
    return () => clearTimeout(timer);
  }, [filter, pages]);
  useEffect(() => {
    if (pageRows !== pages.view().pageRows) void pages.setPageRows(pageRows);
  }, [pageRows, pages]);

  return [pages, useSyncExternalStore(pages.subscribe, pages.view)];
}
