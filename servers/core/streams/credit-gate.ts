import type { BinaryPolicy } from "../../../contract/binary.ts";

/** What goes before an item that may pass: how many were left out since the one before it. */
export interface Admission {
  readonly seq: number;
  readonly dropped: number;
}

/** Lets items pass within a window of unacknowledged bytes and items, and counts the others: passed + dropped = all. */
export interface CreditGate {
  /** Undefined where the item is left out. One that is larger than the window passes alone. */
  admit(bytes: number, isKey: boolean): Admission | undefined;
  /** Items that were left out before they came here. */
  addDropped(count: number): void;
  /** All items up to `seq` were taken. */
  ack(seq: number): void;
  /** What no item has carried yet, once all that passed was taken: nothing may follow that could carry it. */
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
