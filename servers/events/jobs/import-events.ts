import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFormat, RefusedLine } from "../../../contract/services/events.ts";
import { createLineReader, type TextLine } from "../../core/net/line-reader.ts";
import { eventTime, type NewEvent } from "../completion-event.ts";
import type { EventStore } from "../store/event-store.ts";
import { type CsvRecord, createCsvReader, withoutApostrophe } from "./csv.ts";
import { importedEvent, RefusedEvent } from "./imported-event.ts";
import { createKnownEvents } from "./known-events.ts";

const eventsAtOnce = 1_000;
/** In a turn of the event loop: a piece of a file has thousands, and others are served meanwhile. */
const linesAtOnce = 100;
/** Parsed in a turn of the event loop: a piece of a file may have millions. */
const charactersAtOnce = 16_384;
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
    for await (const parsed of parsedLines(parse, piece, last)) {
      for (const { line, source } of parsed) {
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

/** Lines that a part of a file completes, or what is left at its end. */
interface LineParser {
  read(text: string): Iterable<ParsedLine> | Promise<Iterable<ParsedLine>>;
  end(): Iterable<ParsedLine> | Promise<Iterable<ParsedLine>>;
}

async function* parsedLines(parser: LineParser, text: string, last: boolean): AsyncGenerator<Iterable<ParsedLine>> {
  for (const part of partsOf(text)) {
    yield await parser.read(part);
    await nextTurn();
  }
  if (last) yield await parser.end();
}

/** Both halves of a character outside the basic plane (UTF-16) stay together. */
function* partsOf(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + charactersAtOnce;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield text.slice(start, end);
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

function jsonParser(): LineParser {
  const reader = createLineReader();
  function* parsed(lines: readonly TextLine[]): Generator<ParsedLine> {
    for (const { line, text } of lines) yield { line, source: parsedJson(text) };
  }
  return { read: (text) => parsed(reader.read(text)), end: () => parsed(reader.end()) };
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

function csvParser(): LineParser {
  const reader = createCsvReader();
  let names: readonly string[] | undefined;
  /** The first record names the columns: without it no other can be read. */
  let isUnnamed = false;
  function sourceOf({ cells, problem }: CsvRecord, columns: readonly string[]): ParsedLine["source"] {
    if (problem !== undefined) return problem;
    if (isUnnamed) return "the first line does not name the columns";
    if (cells.length !== columns.length) return `${cells.length} cells under ${columns.length} names`;
    return Object.fromEntries(columns.map((name, index) => [name, withoutApostrophe(cells[index] ?? "")]));
  }
  function* parsed(records: readonly CsvRecord[]): Generator<ParsedLine> {
    for (const record of records) {
      const isFirst = names === undefined;
      names ??= record.cells.map((cell) => cell.trim());
      if (isFirst) isUnnamed = record.problem !== undefined;
      if (!isFirst || isUnnamed) yield { line: record.line, source: sourceOf(record, names) };
    }
  }
  return { read: async (text) => parsed(await reader.read(text)), end: async () => parsed(await reader.end()) };
}
