import { type FSWatcher, watch } from "node:fs";
import path from "node:path";

export interface FolderWatchOptions {
  /** Whether a change of this name in a folder matters. */
  readonly isRelevant: (folder: string, name: string) => boolean;
  readonly onChange: () => void;
  /** Called once for a folder whose changes are not seen. */
  readonly onBlind: (folder: string, reason: string) => void;
}

/** An editor may save in several steps. */
const restMs = 120;
const longestRestMs = 1_000;
const mostFolders = 2_000;

/** Watches folders and not files, because many editors replace a file by a new one. */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #waitsSince = 0;
  readonly #blind = new Set<string>();

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Replaces the watched folders. All are watched anew: a folder may have been replaced by another one. */
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
          // If the folder does not exist yet, its nearest parent is watched for the next part of the path.
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
