/**
 * Milliseconds since the epoch, by a clock that goes on from what the computer's clock said when the process was started: whoever sets that
 * clock ends no session and no message. What is stored, shown or sent to other brokers has the computer's time.
 */
export const steadyNow = (): number => performance.timeOrigin + performance.now();

/** 0 is no time. */
export const toComputerTime = (steadyMs: number): number => (steadyMs === 0 ? 0 : Math.round(steadyMs - steadyNow() + Date.now()));
export const fromComputerTime = (ms: number): number => (ms === 0 ? 0 : ms - Date.now() + steadyNow());
