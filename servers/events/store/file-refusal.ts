import { statSync } from "node:fs";
import { ServiceError } from "../../core/service/service-error.ts";

/** After a full disk the file is tried again after this time, even if it did not change. */
const fullAgainAfterMs = 5_000;

/**
 * Remembers that a file could not be used, so that it is not opened again with each request: only after the file has changed or,
 * if the disk was full, after some seconds.
 */
export function createFileRefusal(file: string, now: () => number) {
  let refused: { readonly error: ServiceError; readonly state: string; readonly until: number } | undefined;

  return {
    /** To be called after the file was closed. */
    remember(error: unknown): void {
      if (!(error instanceof ServiceError)) return;
      const { code } = error;
      if (code !== "STORE_DAMAGED" && code !== "STORE_OUTDATED" && code !== "STORE_FULL") return;
      const until = code === "STORE_FULL" ? now() + fullAgainAfterMs : Number.POSITIVE_INFINITY;
      refused = { error, state: stateOf(file), until };
    },
    /** Throws the remembered error. */
    check(): void {
      if (!refused) return;
      if (now() < refused.until && stateOf(file) === refused.state) throw refused.error;
      refused = undefined;
    },
  };
}

const stateOf = (file: string): string =>
  ["", "-wal"]
    .map((end) => statSync(file + end, { throwIfNoEntry: false }))
    .map((stat) => stat && [stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(":"))
    .join(" ");
