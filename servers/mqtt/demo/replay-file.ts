import { open, rm } from "node:fs/promises";
import path from "node:path";
import type { MqttReplayFile } from "../../../contract/services/mqtt.ts";
import { createLineReader } from "../../core/net/line-reader.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { parseRecordedLine } from "./recorded-line.ts";

/** A disk is not filled by mistake. */
const largestBytes = 4 * 1024 ** 3;
/** The next piece of a file comes much sooner, unless nobody sends it any more. */
const patienceMs = 15_000;

export interface ReplayFileOptions {
  readonly folder: () => string;
  readonly longestLine: number;
  readonly patienceMs?: number;
}

export interface ReplayFile {
  readonly state: MqttReplayFile | undefined;
  /** Why there is none any more, where nobody asked for that. */
  readonly failure: string | undefined;
  /** Where its lines are, once it is whole. Throws JOB_UNKNOWN. */
  path(): string;
  /** A new file in place of the one before. */
  begin(name: string, sizeBytes: number): Promise<MqttReplayFile>;
  /** Throws CALL_INVALID, naming the line, and JOB_UNKNOWN where another file took its place; it is gone then. */
  add(id: number, text: string): Promise<MqttReplayFile>;
  end(id: number): Promise<MqttReplayFile>;
  discard(): Promise<void>;
}

/** One file of recorded messages, taken in pieces, checked line by line and kept on disk: the size of it is nowhere in memory. */
export function createReplayFile({ folder, longestLine, patienceMs: patience = patienceMs }: ReplayFileOptions): ReplayFile {
  let opened: Opened | undefined;
  let failure: string | undefined;
  let lastId = 0;
  let giveUp: NodeJS.Timeout | undefined;
  /** Pieces are written in the order in which they came. */
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  }

  /** For its next piece. */
  function awaitPiece({ id, name }: Opened): void {
    clearTimeout(giveUp);
    giveUp = setTimeout(() => {
      void inTurn(async () => {
        if (opened?.id !== id || opened.complete) return;
        await drop();
        failure = `${name} did not come whole: its page was closed or lost the connection. Choose it again.`;
      });
    }, patience);
  }

  async function drop(): Promise<void> {
    clearTimeout(giveUp);
    const dropped = opened;
    opened = undefined;
    if (!dropped) return;
    await dropped.handle?.close();
    await rm(dropped.path, { force: true });
  }

  function known(id: number | undefined, complete: boolean): Opened {
    if (!opened || (id !== undefined && opened.id !== id) || opened.complete !== complete) {
      throw new ServiceError("JOB_UNKNOWN", "This file is not there any more", "Choose it again: another one took its place.");
    }
    return opened;
  }

  async function take(id: number, work: (file: Opened) => Promise<void>): Promise<MqttReplayFile> {
    const file = known(id, false);
    clearTimeout(giveUp);
    try {
      await work(file);
    } catch (error) {
      await drop();
      throw error;
    }
    if (!file.complete) awaitPiece(file);
    return stateOf(file);
  }

  return {
    get state() {
      return opened && stateOf(opened);
    },
    get failure() {
      return failure;
    },
    path: () => known(undefined, true).path,
    begin: (name, sizeBytes) =>
      inTurn(async () => {
        await drop();
        failure = undefined;
        const id = ++lastId;
        // The same each time: one that a killed service left is replaced.
        const file = path.join(folder(), "replay.jsonl");
        const handle = await open(file, "w", 0o600);
        const reader = createLineReader(longestLine);
        opened = { id, name, path: file, handle, reader, sizeBytes, receivedBytes: 0, messages: 0, firstAt: 0, lastAt: 0, complete: false };
        awaitPiece(opened);
        return stateOf(opened);
      }),
    add: (id, text) =>
      inTurn(() =>
        take(id, async (file) => {
          file.receivedBytes += Buffer.byteLength(text);
          if (file.receivedBytes > largestBytes)
            throw new ServiceError("STORE_FULL", `${file.name} is larger than 4 GiB`, "Export fewer topics.");
          await write(file, file.reader.read(text));
        }),
      ),
    end: (id) =>
      inTurn(() =>
        take(id, async (file) => {
          await write(file, file.reader.end());
          if (file.messages === 0)
            throw new ServiceError("CALL_INVALID", `${file.name} holds no message`, "Choose a file that Backlot exported.");
          await file.handle?.close();
          file.handle = undefined;
          file.complete = true;
        }),
      ),
    discard: () =>
      inTurn(async () => {
        await drop();
        failure = undefined;
      }),
  };
}

interface Opened {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  handle: Awaited<ReturnType<typeof open>> | undefined;
  readonly reader: ReturnType<typeof createLineReader>;
  readonly sizeBytes: number;
  receivedBytes: number;
  messages: number;
  firstAt: number;
  lastAt: number;
  complete: boolean;
}

const stateOf = ({ id, name, sizeBytes, receivedBytes, messages, firstAt, lastAt, complete }: Opened): MqttReplayFile => ({
  id,
  name,
  sizeBytes,
  receivedBytes,
  messages,
  firstAt,
  lastAt,
  complete,
});

async function write(file: Opened, lines: readonly { readonly line: number; readonly text: string }[]): Promise<void> {
  for (const { line, text } of lines) {
    const parsed = parseRecordedLine(text);
    if (!parsed) {
      throw new ServiceError("CALL_INVALID", `Line ${line} of ${file.name} is no exported message`, "Choose a file that Backlot exported.");
    }
    if (file.messages === 0) file.firstAt = parsed.at;
    file.lastAt = parsed.at;
    file.messages++;
  }
  if (lines.length === 0) return;
  await file.handle?.appendFile(lines.map((entry) => `${entry.text}\n`).join(""));
}
