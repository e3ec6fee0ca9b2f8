import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Registers what is done at the end: of a test, of a file. */
export type OnEnd = (release: () => void | Promise<void>) => void;

/** A folder that is removed after the test, or when `onEnd` says so. */
export function temporaryDir(onEnd: OnEnd = onTestFinished): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), "backlot-test-"));
  onEnd(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
