import { onTestFinished } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";

/** Of one item. Powers of two, so that sums are exact. */
export const itemMs = 0.125;
export const itemsOfShare = 2;
export const itemsOfTurn = 32;

/** Of each item, or of the next one by how many are left. */
type ItemMs = number | ((left: number) => number);

/** Time passes only while a client has work; of an item `othersMs` more, in which other programs have the processor. */
export function openTurns(othersMs = (_name: string) => 0) {
  let nowMs = 0;
  let cpuMs = 0;
  const turns = new WorkTurns(
    () => nowMs,
    () => cpuMs,
  );
  // Some tests leave work for thousands of turns.
  onTestFinished(() => turns.close());
  const done: string[] = [];
  const client = (name: string, items: number, address = name, ms: ItemMs = itemMs, work = turns.connection(address)) => {
    let left = items;
    let each = ms;
    const goOn = () => {
      for (; left > 0; left--) {
        if (share.isOver) {
          share.later();
          return;
        }
        const ms = typeof each === "number" ? each : each(left);
        cpuMs += ms;
        nowMs += ms + othersMs(name);
        done.push(name);
      }
    };
    const share = work.join(goOn);
    goOn();
    return {
      receive(more: number, itemMs = ms) {
        each = itemMs;
        left += more;
        goOn();
      },
    };
  };
  /** A connection is accepted, in so much time. */
  const accept = (address: string, ms: number) => {
    cpuMs += ms;
    nowMs += ms;
    turns.accepted(address);
  };
  return { turns, done, client, accept, count: (name: string) => done.filter((other) => other === name).length };
}
