import { open, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** What is done in turns takes milliseconds: a process that has its turn for longer was ended in it. */
const longestTurnMs = 2_000;
const retryMs = 5;

/**
 * Does this while no other process does anything in turns at the same file: it reads, changes and saves it. `file` is not opened; the turn is a file
 * beside it, which is there for as long. Where none can be made there is no turn: saving then fails too, and says why.
 */
export async function inTurnsOfProcesses<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  const turn = `${file}.saving`;
  const hasTurn = await takeTurn(turn);
  try {
    return await act();
  } finally {
    if (hasTurn) await rm(turn, { force: true });
  }
}

async function takeTurn(turn: string): Promise<boolean> {
  const endMs = performance.now() + longestTurnMs;
  for (;;) {
    try {
      await (await open(turn, "wx", 0o600)).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
    }
    if (performance.now() >= endMs) return true;
    await delay(retryMs);
  }
}
