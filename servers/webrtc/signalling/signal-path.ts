import type { LossReason } from "./held-deliveries.ts";
import type { DeliveryEffect, Signal } from "./signalling-event.ts";

/** A signal on its way from one peer to another, by their numbers. */
export interface PassingSignal {
  readonly from: string;
  readonly to: string;
  readonly kind: Signal["kind"];
  /** What it takes in memory; asked for only where it is held back. */
  readonly bytes: () => number;
}

export interface SignalPath {
  /** Every signal arrives at once, and once. */
  readonly isClear: boolean;
  /**
   * `arrive` is called when the signal arrives, at once or later, and more than once where it is duplicated; `lose` instead where it was held back and never
   * arrives. One that is "dropped" does neither. Says what was done to it.
   */
  pass(signal: PassingSignal, arrive: () => void, lose: (why: LossReason) => void): readonly DeliveryEffect[];
  /** The peer has left: what is held for or of it is lost. */
  forget(peer: string): void;
}

/** Without faults. */
export const clearPath: SignalPath = {
  isClear: true,
  pass(_signal, arrive) {
    arrive();
    return [];
  },
  forget() {},
};
