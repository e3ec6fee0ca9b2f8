import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFormat, RefusedLine } from "../../../contract/services/events.ts";
import { createLineReader } from "../../core/net/line-reader.ts";
import { eventTime, type NewEvent } from "../completion-event.ts";
import type { EventStore } from "../store/event-store.ts";
import { createCsvReader, withoutApostrophe } from "./csv.ts";
import { importedEvent, RefusedEvent } from "./imported-event.ts";
import { createKnownEvents } from "./known-events.ts";

const eventsAtOnce = 1_000;
/** In a turn of the event loop: a piece of a file has thousands, and others are served meanwhile. */
const linesAtOnce = 100;
const reportedLines = 200;

export interface EventImport {
  /** Resolves when all events that this piece completes are stored. */
  add(text: string): Promise<void>;
  end(): Promise<void>;
  readonly added: number;
  /** Were stored before the import began. */
  readonly existing: number;
  readonly refused: number;
  readonly refusedLines: readonly RefusedLine[];
}

export type ImportStore = Pick<EventStore, "add" | "newestId" | "countEqual">;

/** Stores the lines that are events, unless they were stored before, and reports the others. */
export function createEventImport({ store, format }: { store: ImportStore; format: EventFormat }): EventImport {
  const received = eventTime(Date.now());
  const refusedLines: RefusedLine[] = [];
  const parse = format === "csv" ? csvParser() : jsonParser();
  const known = createKnownEvents(store);
  let added = 0;
  let existing = 0;
  let refused = 0;
  let first = true;

  function refuse(line: number, reason: string): void {
    refused += 1;
    if (refusedLines.length < reportedLines) refusedLines.push({ line, reason });
  }

  async function keep(group: readonly NewEvent[]): Promise<void> {
    if (group.length === 0) return;
    const unknown = await known.unknownOf(group);
    if (unknown.length > 0) await store.add(unknown);
    added += unknown.length;
    existing += group.length - unknown.length;
  }

  async function take(text: string, last: boolean): Promise<void> {
    const piece = first && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    if (text !== "") first = false;
    let group: NewEvent[] = [];
    let lines = 0;
    for (const { line, source } of await parse(piece, last)) {
      if (++lines % linesAtOnce === 0) await nextTurn();
      try {
        if (typeof source === "string") throw new RefusedEvent(source);
        group.push(importedEvent(source, received));
      } catch (error) {
        if (!(error instanceof RefusedEvent)) throw error;
        refuse(line, error.message);
      }
      if (group.length < eventsAtOnce) continue;
      await keep(group);
      group = [];
    }
    await keep(group);
  }

  return {
    add: (text) => take(text, false),
    end: () => take("", true),
    get added() {
      return added;
    },
    get existing() {
      return existing;
    },
    get refused() {
      return refused;
    },
    refusedLines,
  };
}

interface ParsedLine {
  readonly line: number;
  /** Columns with their values, or why the line is refused. */
  readonly source: Readonly<Record<string, unknown>> | string;
}

function jsonParser(): (text: string, last: boolean) => Iterable<ParsedLine> {
  const reader = createLineReader();
  return function* (text, last) {
    for (const { line, text: json } of last ? reader.end() : reader.read(text)) yield { line, source: parsedJson(json) };
  };
}

function parsedJson(json: string): ParsedLine["source"] {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : "not a JSON object";
  } catch {
    return "not JSON";
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function csvParser(): (text: string, last: boolean) => Promise<ParsedLine[]> {
  const reader = createCsvReader();
  let names: readonly string[] | undefined;
  return async (text, last) => {
    const records = await (last ? reader.end() : reader.read(text));
    const lines: ParsedLine[] = [];
    for (const { line, cells, problem } of records) {
      if (problem !== undefined) lines.push({ line, source: problem });
      else if (!names) names = cells.map((cell) => cell.trim());
      else if (cells.length !== names.length) lines.push({ line, source: `${cells.length} cells under ${names.length} names` });
      else lines.push({ line, source: Object.fromEntries(names.map((name, index) => [name, withoutApostrophe(cells[index] ?? "")])) });
    }
    return lines;
  };
}
