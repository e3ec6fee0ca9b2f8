/** RFC 4180: quoted where a comma, a quote or a line end is in it. */
export const csvLine = (cells: readonly (string | number)[]): string => `${cells.map(csvCell).join(",")}\r\n`;

function csvCell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export interface CsvReader {
  /** The records that this piece of text completes. */
  read(text: string): CsvRecord[];
  /** The last record, where the text does not end with a line end. */
  end(): CsvRecord[];
}

export interface CsvRecord {
  /** In which it begins; the first is 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Reads CSV in pieces of any length; a record longer than `longest` characters ends there, so that memory stays bounded. */
export function createCsvReader(longest = 1 << 20): CsvReader {
  let cells: string[] = [];
  let cell = "";
  let quoted = false;
  /** A quote inside quotes: it may end them or, doubled, stand for itself. */
  let closing = false;
  let afterReturn = false;
  let line = 1;
  let startedAt = 1;
  let length = 0;

  function finish(records: CsvRecord[]): void {
    cells.push(cell);
    // An empty line is no record.
    if (cells.length > 1 || cell !== "") records.push({ line: startedAt, cells });
    cells = [];
    cell = "";
    length = 0;
    quoted = false;
    closing = false;
  }

  function read(text: string): CsvRecord[] {
    const records: CsvRecord[] = [];
    for (let index = 0; index < text.length; index++) {
      const character = text[index] as string;
      if (character === "\n" && afterReturn) {
        afterReturn = false;
        if (!quoted) continue;
      } else afterReturn = character === "\r";
      if (quoted && closing) {
        closing = false;
        if (character === '"') {
          cell += '"';
          continue;
        }
        quoted = false;
      }
      const endsLine = character === "\n" || character === "\r";
      if (endsLine) line += 1;
      if (quoted) {
        if (character === '"') closing = true;
        else cell += character;
      } else if (character === '"' && cell === "") quoted = true;
      else if (character === ",") {
        cells.push(cell);
        cell = "";
      } else if (endsLine) {
        finish(records);
        startedAt = line;
      } else cell += character;
      if (++length > longest) {
        finish(records);
        startedAt = line;
      }
    }
    return records;
  }

  return {
    read,
    end() {
      const records: CsvRecord[] = [];
      if (cells.length > 0 || cell !== "") finish(records);
      return records;
    },
  };
}
