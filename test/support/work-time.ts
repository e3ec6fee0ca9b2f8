import { onTestFinished } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";

/** Of one item. A power of two, so that sums are exact. */
const itemMs = 1 / 16;
/** Most items in a turn of the event loop: those that wait, and as much again that comes meanwhile. */
export const itemsOfTurn = 8 / itemMs;
/** Of one connection, before others have theirs. */
export const itemsOfShare = 0.25 / itemMs;

/** Turns whose time passes only with the items that are done. */
export function workTime() {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  // Some tests leave work for thousands of turns.
  onTestFinished(() => turns.close());
  return {
    turns,
    /** To be called for each item. */
    pass() {
      nowMs += itemMs;
    },
  };
}
