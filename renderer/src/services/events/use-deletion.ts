import { useRef, useState } from "react";
import { useControl } from "../../control/client-context.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { deletionQuestion } from "./deletion-question.ts";
import { filterAt, type ShownFilter } from "./event-filter.ts";
import { eventsAsk } from "./import-file.ts";

export interface Deletion {
  /** What matches is being counted, for longer than a moment. */
  readonly counting: boolean;
  /** Counts, asks, and begins the deletion. */
  start(): Promise<void>;
  /** Nobody waits for the count any more. */
  drop(): void;
}

/** Sooner than this it needs no word. */
const toldAfterMs = 300;

export function useDeletion(filter: ShownFilter): Deletion {
  const ask = eventsAsk(useControl());
  const confirm = useConfirm();
  const [counting, setCounting] = useState(false);
  /** Only the newest count leads to a question. */
  const newest = useRef(0);

  return {
    counting,
    async start() {
      const mine = ++newest.current;
      // The same moment for the count and for the deletion, so that the question tells the truth.
      const wanted = filterAt(filter, Date.now());
      const timer = setTimeout(() => mine === newest.current && setCounting(true), toldAfterMs);
      const counted = await ask("delete.count", { filter: wanted }).finally(() => {
        clearTimeout(timer);
        if (mine === newest.current) setCounting(false);
      });
      if (mine !== newest.current) return;
      if (await confirm(deletionQuestion(filter, counted))) await ask("delete.start", { filter: wanted });
    },
    drop() {
      newest.current++;
      setCounting(false);
    },
  };
}
