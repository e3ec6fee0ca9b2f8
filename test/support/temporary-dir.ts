import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** A folder that is removed after the test. */
export function temporaryDir(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), "backlot-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
