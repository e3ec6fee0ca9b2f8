import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Makes the folder and those above it, each for the user alone, where they are missing. Throws as `mkdirSync` does. Node's own `recursive` tries for
 * ever in a file system that says ENOENT for each new folder, as /proc does.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const above = path.dirname(folder);
    switch ((error as NodeJS.ErrnoException).code) {
      case "EEXIST":
        if (statSync(folder).isDirectory()) return;
        throw error;
      case "ENOENT":
        if (statSync(above, { throwIfNoEntry: false })) throw error;
        makeFolder(above);
        makeFolder(folder);
        return;
      default:
        // A file system that cannot be written to says so before it looks.
        if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
        throw error;
    }
  }
}
