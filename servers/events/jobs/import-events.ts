import type { EventFormat, RefusedLine } from "../../../contract/services/events.ts";
import { createLineReader } from "../../core/net/line-reader.ts";
import { eventTime, type NewEvent } from "../completion-event.ts";
import type { EventStore } from "../store/event-store.ts";
import { createCsvReader, withoutApostrophe } from "./csv.ts";
import { importedEvent, RefusedEvent } from "./imported-event.ts";
import { createKnownEvents } from "./known-events.ts";

const eventsAtOnce = 1_000;
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
    for (const { line, source } of await parse(piece, last)) {
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

function jsonParser(): (text: string, last: boolean) => ParsedLine[] {
  const reader = createLineReader();
  return (text, last) =>
    (last ? reader.end() : reader.read(text)).map(({ line, text: json }) => {
      try {
        const value: unknown = JSON.parse(json);
        return { line, source: isObject(value) ? value : "not a JSON object" };
      } catch {
        return { line, source: "not JSON" };
      }
    });
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
