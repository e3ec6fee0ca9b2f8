import { useEffect, useSyncExternalStore } from "react";
import type { Topic } from "../../../../contract/control.ts";
import { useControl } from "../../control/client-context.tsx";
import type { ListRows, ListRowsView } from "./list-view.ts";

/** Rows of topics (joined with commas): received while shown, read again when shown again and after a reconnect. */
export function useReceived<Row extends Place, Filter, Place>(rows: ListRows<Row, Filter, Place>, topics: string): void {
  const client = useControl();
  useEffect(() => {
    const ends = topics
      .split(",")
      .filter((topic) => topic !== "")
      .map((topic) => client.subscribe(topic as Topic, ({ items, dropped }) => rows.receive(items as unknown as readonly Row[], dropped)));
    ends.push(client.onOpen(() => void rows.reload()));
    return () => {
      for (const end of ends) end();
      rows.stop();
    };
  }, [client, topics, rows]);
}

interface Viewed<Filter> {
  subscribe(listener: () => void): () => void;
  view(): ListRowsView<Filter>;
}

/** The value that `select` returns for a list's view; renders only if that changes, so it has to be stable for the same view. */
export const useRowsView = <Filter, Value>(rows: Viewed<Filter>, select: (view: ListRowsView<Filter>) => Value): Value =>
  useSyncExternalStore(rows.subscribe, () => select(rows.view()));
