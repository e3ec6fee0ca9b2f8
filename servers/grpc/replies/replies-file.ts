import { type BigIntStats, type FSWatcher, statSync, unwatchFile, watch, watchFile } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeSettings } from "../../core/files/atomic-file.ts";
import { openRegularFile } from "../../core/files/regular-file.ts";
import { countOf } from "../../core/service/quantity.ts";
import { errorText } from "../../core/service/service-error.ts";

export interface RepliesFileOptions {
  readonly file: string;
  /** A longer file is not read. */
  readonly mostBytes: number;
  /** Called with the text when it has changed; "" if there is no file. What comes next waits until this has resolved. */
  readonly onText: (text: string) => void | Promise<void>;
  readonly onProblem: (message: string) => void | Promise<void>;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

export interface RepliesFile {
  /**
   * Writes what `next` makes of the file as it is now, and calls `onText`: one change after the other, so each is told of those before it.
   * `hasChanged` is whether the file on disk had changed since it was read. Rejects as `next` does, or if the file cannot be written.
   */
  change(next: (hasChanged: boolean) => Promise<string>): Promise<void>;
}

/** Polling interval: some file systems, such as network drives, report no changes. */
const lookMs = 1_000;
/** Of a change while another program writes the file. */
const mostTries = 10;
/** At a file that is empty and was not. */
const mostLooks = 6;
/** An editor may write a file in several steps. */
const settleMs = 30;

/** Reads a file at once and whenever it changes on disk, also when it is replaced, removed or made again. */
export async function openRepliesFile({ file, mostBytes, onText, onProblem, onStop }: RepliesFileOptions): Promise<RepliesFile> {
  let known: string | undefined;
  let lastProblem: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** Reads and writes, one after the other. */
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(step: () => Promise<Result>): Promise<Result> => {
    const result = queue.then(step);
    queue = result.catch(() => {});
    return result;
  };

  async function read(): Promise<void> {
    let text: string;
    try {
      text = await textOf(file, mostBytes);
    } catch (error) {
      const problem = errorText(error);
      if (known === undefined && problem === lastProblem) return;
      known = undefined;
      lastProblem = problem;
      await onProblem(problem);
      return;
    }
    await take(text);
  }

  async function take(text: string): Promise<void> {
    if (text === known || isStopped) return;
    known = text;
    lastProblem = undefined;
    await onText(text);
  }

  /** Resolves with the state of the file that was read. An editor may have emptied it, to write it a moment later. */
  async function readFrom(target: string, knownBefore: string | undefined): Promise<BigIntStats | undefined> {
    for (let looked = 1; ; looked++) {
      const state = stateOf(target);
      await read();
      if (known !== "" || !knownBefore || looked === mostLooks) return state;
      await sleep(settleMs);
    }
  }

  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void inTurn(read), settleMs);
  };
  let watcher: FSWatcher | undefined;
  try {
    // The folder is watched because many programs replace a file by another one.
    watcher = watch(path.dirname(file), { persistent: false }, (_event, name) => {
      if (name === null || name === path.basename(file)) look();
    });
    watcher.on("error", () => watcher?.close());
  } catch {
    // The folder does not exist yet or cannot be watched: polling finds changes.
  }
  watchFile(file, { interval: lookMs, persistent: false }, look);
  onStop(async () => {
    isStopped = true;
    watcher?.close();
    unwatchFile(file, look);
    clearTimeout(timer);
    await queue;
  });
  await inTurn(read);

  return {
    change(next) {
      return inTurn(async () => {
        const knownBefore = known;
        for (let tried = 0; tried < mostTries; tried++) {
          // Of a symbolic link the target is replaced.
          const target = await realpath(file).catch(() => file);
          const before = await readFrom(target, knownBefore);
          const text = await next(known !== knownBefore);
          // An editor may save the file while the new one is written.
          const mayReplace = () => isSameState(before, stateOf(target));
          if (!(await writeSettings(target, text, { mode: before ? Number(before.mode) & 0o777 : 0o600, mayReplace }))) continue;
          await take(text);
          return;
        }
        throw new Error("another program writes it again and again");
      });
    },
  };
}

const stateOf = (file: string): BigIntStats | undefined => statSync(file, { bigint: true, throwIfNoEntry: false });

const isSameState = (one: BigIntStats | undefined, other: BigIntStats | undefined): boolean =>
  one?.ino === other?.ino && one?.size === other?.size && one?.mtimeNs === other?.mtimeNs;

/** "" if there is no file. */
async function textOf(file: string, mostBytes: number): Promise<string> {
  const handle = await openRegularFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!handle) return "";
  try {
    const { size } = await handle.stat();
    if (size > mostBytes) throw new Error(`the file is longer than ${countOf(mostBytes, "byte")}`);
    const text = await handle.readFile("utf8");
    // A byte order mark is not JSON.
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  } finally {
    await handle.close();
  }
}
