import { type FSWatcher, watch } from "node:fs";
import path from "node:path";

export interface FolderWatchOptions {
  /** Whether a change of this name in a folder matters. */
  readonly isRelevant: (folder: string, name: string) => boolean;
  readonly onChange: () => void;
  /** Told once of a folder whose changes are not seen. */
  readonly onBlind: (folder: string, reason: string) => void;
}

/** An editor that saves does several things in a row. */
const restMs = 120;
const longestRestMs = 1_000;
const mostFolders = 2_000;

/** Watches folders and not files: many editors put a new file in the place of the old one. */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #waitsSince = 0;
  readonly #blind = new Set<string>();

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** In place of those before: a folder that was made anew is another one. */
  watch(folders: readonly string[]): void {
    const before = this.#watchers;
    const existing = new Set(folders.slice(0, mostFolders));
    this.#watchers = [...existing].flatMap((folder) => this.#begin(folder) ?? []);
    for (const watcher of before) watcher.close();
    const left = folders[mostFolders];
    if (left !== undefined) this.#tellBlind(left, `there are more than ${mostFolders} folders`);
  }

  #begin(folder: string): FSWatcher | undefined {
    for (let from = folder; ; from = path.dirname(from)) {
      try {
        const watcher = watch(from, { persistent: false }, (_event, name) => {
          // Of a folder that is not there yet, what leads to it.
          const isOnTheWay = name !== null && from !== folder && `${folder}${path.sep}`.startsWith(path.join(from, name) + path.sep);
          if (name === null || isOnTheWay || (from === folder && this.#options.isRelevant(folder, name))) this.#changed();
        });
        watcher.on("error", () => watcher.close());
        return watcher;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if ((code !== "ENOENT" && code !== "ENOTDIR") || from === path.dirname(from)) {
          this.#tellBlind(folder, message);
          return undefined;
        }
      }
    }
  }

  #tellBlind(folder: string, reason: string): void {
    if (this.#blind.has(folder)) return;
    this.#blind.add(folder);
    this.#options.onBlind(folder, reason);
  }

  #changed(): void {
    const now = performance.now();
    if (this.#timer === undefined) this.#waitsSince = now;
    clearTimeout(this.#timer);
    const waitMs = Math.max(0, Math.min(restMs, this.#waitsSince + longestRestMs - now));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#options.onChange();
    }, waitMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }
}
