import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from "vitest/node";

/** What `scripts/test.mjs` reads after a run. */
export interface FailedRun {
  /** Paths of the files with a failed test. */
  readonly files: readonly string[];
  /** Errors outside of any test, or a run that was interrupted: not the fault of these files alone. */
  readonly isIncomplete: boolean;
}

/** Writes the files with failed tests as JSON to the path in FAILED_FILES. */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[], reason: TestRunEndReason): void {
    const target = process.env.FAILED_FILES;
    if (!target) return;
    const files = modules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId);
    const run: FailedRun = { files, isIncomplete: unhandledErrors.length > 0 || reason === "interrupted" };
    writeFileSync(target, JSON.stringify(run));
  }
}
