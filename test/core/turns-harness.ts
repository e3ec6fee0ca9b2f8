import { WorkTurns } from "../../servers/core/turns/work-turns.ts";

/** Of one item. Powers of two, so that sums are exact. */
export const itemMs = 0.125;
export const itemsOfShare = 2;
export const itemsOfTurn = 32;

/** Time passes only while a client has work. */
export function openTurns() {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const done: string[] = [];
  const client = (name: string, items: number, address = name, ms = itemMs, work = turns.connection(address)) => {
    let left = items;
    let each = ms;
    const goOn = () => {
      for (; left > 0; left--) {
        if (share.isOver) {
          share.later();
          return;
        }
        nowMs += each;
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
  return { turns, done, client, count: (name: string) => done.filter((other) => other === name).length };
}
