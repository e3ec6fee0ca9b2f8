import { formatCount, formatCountOf } from "../../ui/quantity.ts";
import { filterWords, isFiltering, type ShownFilter } from "./event-filter.ts";

/** Names what goes and how much of it. */
export function deletionQuestion(filter: ShownFilter, { matching, exact }: { readonly matching: number; readonly exact: boolean }) {
  const least = exact ? "" : "at least ";
  const events = `${least}${formatCountOf(matching, "event")}`;
  return {
    title: isFiltering(filter) ? `Delete ${events} ${filterWords(filter)}?` : `Delete all events, ${least}${formatCount(matching)}?`,
    text: `${isFiltering(filter) ? "The others stay. " : ""}Events that arrive meanwhile stay. This cannot be undone: export them first if you may need them.`,
    action: matching === 1 && exact ? "Delete 1 event" : `Delete ${exact ? formatCountOf(matching, "event") : "them"}`,
  };
}
