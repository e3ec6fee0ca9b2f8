import type { DecodedFrame } from "./frame.ts";

/** What the others send ahead is applied in about this time. */
const aheadMs = 200;
/** Until it is known how long entries take, and how many at least and at most. */
const entriesAhead = { first: 64, least: 8, most: 1_024 };
/** After so long it is known also if few were applied. */
const sampleMs = 20;

/** How fast this broker applies what is for its clients: one message may be for one of them, or for thousands. */
export class Pace {
  /** So many entries of all brokers may wait for it. */
  room = entriesAhead.first;
  private entries = 0;
  private takenMs = 0;
  private lastAt = 0;
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Something is to be applied again. */
  begin(): void {
    this.lastAt = this.now();
  }

  /** A frame with so many was applied: since the one before, or `begin`. */
  applied(entries: number): void {
    const now = this.now();
    const took = now - this.lastAt;
    this.lastAt = now;
    if (entries === 0) return;
    this.entries += entries;
    this.takenMs += took;
    const { room } = this;
    if (this.entries < room && this.takenMs < sampleMs) return;
    // One slow frame among many quick ones says little, and many quick ones nothing of the next.
    const [least, most] = [Math.max(entriesAhead.least, room / 4), Math.min(entriesAhead.most, room * 2)];
    this.room = Math.round(Math.min(most, Math.max(least, (this.entries * aheadMs) / this.takenMs)));
    this.entries = this.takenMs = 0;
  }
}

/** Those of a frame that take time: what this broker has published itself is delivered already, but for what comes back. */
export const entriesToApply = ({ entries }: DecodedFrame, isOwn: boolean): number =>
  isOwn ? entries.filter((entry) => entry.type === "message" && entry.message.comesBack).length : entries.length;
