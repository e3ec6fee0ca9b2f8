import type { ReactNode } from "react";
import { Answered } from "../ui/status/answered.tsx";
import type { ListRowsView } from "./rows/list-view.ts";
import { useRowsView } from "./rows/use-list-rows.ts";

interface ListAnswerProps<Filter> {
  readonly rows: { subscribe(listener: () => void): () => void; view(): ListRowsView<Filter>; reload(): Promise<void> };
  /** "the requests" */
  readonly what: string;
  readonly compact?: boolean;
  readonly children: ReactNode;
}

/** A list that was read; until then that it is loading, or why it could not be read. */
export function ListAnswer<Filter>({ rows, what, compact = false, children }: ListAnswerProps<Filter>) {
  const loaded = useRowsView(rows, (view) => view.loaded);
  const failure = useRowsView(rows, (view) => view.failure);
  return (
    <Answered answer={{ value: loaded || undefined, failure, isReading: false, again: rows.reload }} what={what} compact={compact}>
      {() => children}
    </Answered>
  );
}
