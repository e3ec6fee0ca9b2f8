import { useRef, useState } from "react";
import { useControl } from "../../../control/client-context.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { notifyDone } from "../../../ui/status/notify.tsx";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { filterAt, filterWords, isFiltering, noFilter, type ShownFilter } from "../event-filter.ts";
import { eventsAsk } from "./import-file.ts";

export interface Deletion {
  /** The matching events are being counted, and that takes long enough to show. */
  readonly counting: boolean;
  /** Counts, asks for confirmation, and starts the deletion. */
  start(): Promise<void>;
  /** The same for the sample events, whatever is filtered. */
  startSample(): Promise<void>;
  /** The count was cancelled. */
  drop(): void;
}

/** Shorter counts are not announced. */
const announceAfterMs = 300;

export function useDeletion(filter: ShownFilter): Deletion {
  const ask = eventsAsk(useControl());
  const confirm = useConfirm();
  const [counting, setCounting] = useState(false);
  /** Only the newest count is followed by the confirmation. */
  const newest = useRef(0);

  async function begin(shown: ShownFilter): Promise<void> {
    const mine = ++newest.current;
    // The same time for the count and the deletion, so that the confirmation shows the right number.
    const wanted = filterAt(shown, Date.now());
    const timer = setTimeout(() => mine === newest.current && setCounting(true), announceAfterMs);
    const counted = await ask("delete.count", { filter: wanted }).finally(() => {
      clearTimeout(timer);
      if (mine === newest.current) setCounting(false);
    });
    if (mine !== newest.current) return;
    if (counted.matching === 0 && counted.exact) notifyDone("No such event is stored");
    else if (await confirm(deletionQuestion(shown, counted))) await ask("delete.start", { filter: wanted });
  }

  return {
    counting,
    start: () => begin(filter),
    startSample: () => begin({ ...noFilter, sample: "only" }),
    drop() {
      newest.current++;
      setCounting(false);
    },
  };
}

/** Names what is deleted and how many. */
export function deletionQuestion(filter: ShownFilter, { matching, exact }: { readonly matching: number; readonly exact: boolean }) {
  const least = exact ? "" : "at least ";
  const events = `${least}${formatCountOf(matching, "event")}`;
  return {
    title: isFiltering(filter)
      ? `Delete ${events} ${filterWords(filter)}?`
      : exact
        ? `Delete all ${events}?`
        : `Delete all events (${least}${formatCount(matching)})?`,
    text: `${isFiltering(filter) ? "The others stay. " : ""}Events that arrive meanwhile stay. This cannot be undone: export them first if you may need them.`,
    action: matching === 1 && exact ? "Delete 1 event" : `Delete ${exact ? formatCountOf(matching, "event") : "them"}`,
  };
}
