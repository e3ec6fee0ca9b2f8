import type { WorkTurns } from "../turns/work-turns.ts";

const intervalMs = 1_000;
const mostLateMs = 1_000;

/**
 * Runs `work` once a second, with the time of `performance.now()`. Returns the function that ends it. It is for what ends after a time of
 * silence: a process that was kept from running, by a full machine or its sleep, runs its timers before it reads what others have sent
 * meanwhile, so the first turn after that is left out.
 */
export function everySecond(work: (nowMs: number) => void, now: () => number = () => performance.now()): () => void {
  let dueMs = now() + intervalMs;
  let wasLate = false;
  const timer = setInterval(() => {
    const nowMs = now();
    const isLate = nowMs - dueMs > mostLateMs;
    dueMs = nowMs + intervalMs;
    // Twice in a row it is just slow.
    const isLeftOut = isLate && !wasLate;
    wasLate = isLate;
    if (!isLeftOut) work(nowMs);
  }, intervalMs);
  return () => clearInterval(timer);
}

/** As `everySecond`, for each of many, in turns with the work for clients: many may end at once. What takes longer than a second is not begun again meanwhile. */
export function everySecondInTurns<Item>(
  turns: WorkTurns,
  items: () => Iterable<Item>,
  work: (item: Item, nowMs: number) => void,
): () => void {
  let isWorking = false;
  return everySecond((nowMs) => {
    if (isWorking) return;
    isWorking = true;
    void turns.each([...items()], (item) => work(item, nowMs)).finally(() => (isWorking = false));
  });
}
