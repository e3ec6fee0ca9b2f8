import { type CsvError, Parser } from "csv-parse";
import { countOf, countText } from "../../core/service/quantity.ts";

/** RFC 4180: quoted where a comma, a quote or a line end is in it. */
export const csvLine = (cells: readonly (string | number)[]): string => `${cells.map(csvCell).join(",")}\r\n`;

function csvCell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet treats a cell that starts like this as a formula, which a client could have sent. */
const formula = /^'*[=+\-@\t\r]/;

/** What would lose an apostrophe that it begins with in an import. */
const likeNeutralized = /^'+[=+\-@\t\r]/;

/** Neutralizes a formula with an apostrophe; `withoutApostrophe` reverses it. `raw` leaves formulas as they are. */
export const withApostrophe = (value: string | number, raw: boolean): string | number =>
  typeof value === "string" && (raw ? likeNeutralized : formula).test(value) ? `'${value}` : value;

export const withoutApostrophe = (cell: string): string => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell);

export interface CsvReader {
  /** The records that this piece of text completes. */
  read(text: string): Promise<CsvRecord[]>;
  /** The last record, if the text does not end with a line end. */
  end(): Promise<CsvRecord[]>;
}

export interface CsvRecord {
  /** Number of its first line, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Why this record, or this one and the rest, cannot be parsed. */
  readonly problem?: string;
}

const longestRecord = 1 << 20;
/** An event has some twenty columns. */
const mostCells = 1_000;

const problems: Readonly<Partial<Record<string, string>>> = {
  CSV_MAX_RECORD_SIZE: `a record of more than ${longestRecord} bytes`,
  CSV_QUOTE_NOT_CLOSED: "a quote is not closed",
};

/** Reads CSV in pieces of any length; empty lines are ignored. */
export function createCsvReader(): CsvReader {
  let records: CsvRecord[] = [];
  let line = 1;
  const parser = new Parser({
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: longestRecord,
    // The parser emits synchronously: the records that a piece completes are here after the write.
    on_record(cells: string[], { lines }) {
      if (cells.length > mostCells) {
        records.push({ line, cells: [], problem: `${countOf(cells.length, "cell")}: at most ${countText(mostCells)} are read` });
        line = lines + 1;
        return null;
      }
      const within = cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
      records.push({ line: lines - within, cells });
      line = lines + 1;
      return null;
    },
  });
  parser.on("error", (error: CsvError) => {
    records.push({ line, cells: [], problem: problems[error.code] ?? error.message });
  });
  function taken(): CsvRecord[] {
    const complete = records;
    records = [];
    return complete;
  }
  return {
    async read(text) {
      if (!parser.destroyed) await new Promise<void>((resolve) => parser.write(text, () => resolve()));
      return taken();
    },
    async end() {
      if (!parser.destroyed) await new Promise<void>((resolve) => parser.end(() => resolve()));
      return taken();
    },
  };
}
