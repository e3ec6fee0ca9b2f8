import { type Ranked, RankedHeap } from "../engine/session/ranked-heap.ts";
import type { MessageRecord } from "./message-record.ts";

interface Aside extends Ranked {
  readonly record: MessageRecord;
}

/** Records looked at in a tick. */
const mostOfTick = 1_000;

/** Records of earlier processes whose sessions are stored, and that no process has now: their rows say so, and when their time is over. */
export class AsideRecords {
  private due = new RankedHeap<Aside>();
  private readonly changed: (record: MessageRecord) => void;

  constructor(changed: (record: MessageRecord) => void) {
    this.changed = changed;
  }

  add(record: MessageRecord): void {
    this.changed(record);
    const { leftMs } = record;
    if (leftMs > 0 && Number.isFinite(leftMs)) this.due.put({ record, rank: 0, order: 0, place: -1 }, performance.now() + leftMs);
  }

  /** Those whose time is over now. */
  tick(): void {
    const now = performance.now();
    for (let left = mostOfTick; left > 0; left--) {
      const { first } = this.due;
      if (!first || first.rank > now) return;
      this.due.remove(first);
      this.changed(first.record);
    }
  }

  clear(): void {
    this.due = new RankedHeap();
  }
}
