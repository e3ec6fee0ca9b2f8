import { useMemo } from "react";
import { z } from "zod";
import { type EventColumn, type EventRow, eventColumns } from "../../../../contract/services/events.ts";
import type { ColumnChoice } from "../../list/column-choice.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { eventTableColumns, firstShown } from "./event-columns.tsx";

/** Which of the many columns are shown: remembered are those that are, for most are not. */
export function useEventColumns(): ColumnChoice<EventRow> {
  const [shown, setShown] = useRemembered<readonly EventColumn[]>("shown-columns.events", firstShown, z.array(z.enum(eventColumns)));
  return useMemo(() => {
    const isShown = (id: string) => shown.some((other) => other === id);
    return {
      columns: eventTableColumns.filter((column) => column.widest === undefined || isShown(column.id)),
      isShown,
      toggle: (id) => setShown(isShown(id) ? shown.filter((other) => other !== id) : [...shown, id as EventColumn]),
    };
  }, [shown, setShown]);
}
