import type { BinaryPolicy } from "../../../contract/binary.ts";

/** Header of an admitted item: its number, and how many were dropped since the one before it. */
export interface Admission {
  readonly seq: number;
  readonly dropped: number;
}

/** Admits items within a window of unacknowledged bytes and items, and counts the others: admitted + dropped = all. */
export interface CreditGate {
  /** Undefined if the item is dropped. One that is larger than the window is admitted alone. */
  admit(bytes: number, isKey: boolean): Admission | undefined;
  /** Counts items that were dropped before they got here. */
  addDropped(count: number): void;
  /** All items up to `seq` were consumed. */
  ack(seq: number): void;
  /** Drops that no item has reported yet, once all admitted items were consumed: no further item may come to report them. */
  takeDropped(): number;
}

export function createCreditGate({ windowBytes, windowItems, resume }: BinaryPolicy): CreditGate {
  const inFlight: { readonly seq: number; readonly bytes: number }[] = [];
  let bytesInFlight = 0;
  let seq = 0;
  let dropped = 0;
  let needsKey = resume === "key";

  function leaveOut(count: number) {
    dropped += count;
    needsKey = resume === "key";
  }
  return {
    admit(bytes, isKey) {
      const isFull = inFlight.length >= windowItems || (inFlight.length > 0 && bytesInFlight + bytes > windowBytes);
      if (isFull || (needsKey && !isKey)) {
        leaveOut(1);
        return undefined;
      }
      needsKey = false;
      inFlight.push({ seq: ++seq, bytes });
      bytesInFlight += bytes;
      const admission = { seq, dropped };
      dropped = 0;
      return admission;
    },
    addDropped(count) {
      if (count > 0) leaveOut(count);
    },
    ack(upTo) {
      while (inFlight[0] && inFlight[0].seq <= upTo) bytesInFlight -= inFlight.shift()?.bytes ?? 0;
    },
    takeDropped() {
      if (inFlight.length > 0) return 0;
      const count = dropped;
      dropped = 0;
      return count;
    },
  };
}
