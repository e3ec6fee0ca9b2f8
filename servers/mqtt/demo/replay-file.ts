import { open, rm } from "node:fs/promises";
import path from "node:path";
import type { MqttReplayFile } from "../../../contract/services/mqtt.ts";
import { createLineReader } from "../../core/net/line-reader.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { parseRecordedLine } from "./recorded-line.ts";

/** Prevents a file from filling the disk. */
const largestBytes = 4 * 1024 ** 3;
/** Timeout for the next piece of a file: after it the upload is considered abandoned. */
const patienceMs = 15_000;

export interface ReplayFileOptions {
  readonly folder: () => string;
  readonly longestLine: number;
  readonly patienceMs?: number;
}

export interface ReplayFile {
  readonly state: MqttReplayFile | undefined;
  /** Why the file was discarded, unless the user discarded it. */
  readonly failure: string | undefined;
  /** Path of the complete file. Throws JOB_UNKNOWN. */
  path(): string;
  /** Starts a new file, which replaces the previous one. */
  begin(name: string, sizeBytes: number): Promise<MqttReplayFile>;
  /** Throws CALL_INVALID with the line number, which also discards the file, and JOB_UNKNOWN if another file replaced it. */
  add(id: number, text: string): Promise<MqttReplayFile>;
  end(id: number): Promise<MqttReplayFile>;
  discard(): Promise<void>;
}

/** One file of recorded messages: received in pieces, validated line by line and stored on disk, so that it is never in memory as a whole. */
export function createReplayFile({ folder, longestLine, patienceMs: patience = patienceMs }: ReplayFileOptions): ReplayFile {
  let opened: Opened | undefined;
  let failure: string | undefined;
  let lastId = 0;
  let giveUp: NodeJS.Timeout | undefined;
  /** Pieces are written in the order in which they arrived. */
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  }

  /** Starts the timeout for the next piece. */
  function awaitPiece({ id, name }: Opened): void {
    clearTimeout(giveUp);
    giveUp = setTimeout(() => {
      void inTurn(async () => {
        if (opened?.id !== id || opened.complete) return;
        await drop();
        failure = `${name} is incomplete: its page was closed or lost the connection. Choose it again.`;
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
      throw new ServiceError("JOB_UNKNOWN", "This file is no longer available", "Choose it again: another file replaced it.");
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
        // Always the same name: a file left by a killed service is replaced.
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
            throw new ServiceError("CALL_INVALID", `${file.name} contains no messages`, "Choose a file that Backlot exported.");
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
      throw new ServiceError(
        "CALL_INVALID",
        `Line ${line} of ${file.name} is not an exported message`,
        "Choose a file that Backlot exported.",
      );
    }
    if (file.messages === 0) file.firstAt = parsed.at;
    file.lastAt = parsed.at;
    file.messages++;
  }
  if (lines.length === 0) return;
  await file.handle?.appendFile(lines.map((entry) => `${entry.text}\n`).join(""));
}
