import type { EventColumn } from "../../../../contract/services/events.ts";
import { eventColumns } from "../../../../contract/services/events.ts";
import { type EventOrder, newestFirst } from "./event-pages.ts";

/** The time's column stands for the id: events are stored in the order in which they come. */
const timeColumn: EventColumn = "created_at";

export const columnOfOrder = ({ column }: EventOrder): EventColumn => (column === "id" ? timeColumn : column);

/** A column's head sorts descending first, then ascending, then not any more. */
export function orderAfter(order: EventOrder, head: string): EventOrder {
  const column = eventColumns.find((known) => known === head);
  if (column === undefined) return order;
  const wanted: EventColumn = column === timeColumn ? "id" : column;
  if (order.column !== wanted) return { column: wanted, direction: "descending" };
  if (order.direction === "descending") return { column: wanted, direction: "ascending" };
  return newestFirst;
}
