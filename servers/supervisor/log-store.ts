import type { LogPage } from "../../contract/control.ts";
import type { ExportPart } from "../../contract/export.ts";
import { isNotable, type LogLevel, type LogLine, type LogSource, logLevels, logText, newestOfEach } from "../../contract/log.ts";
import type { LogEntry } from "../core/service/log.ts";
import { exportCursorText, parseExportCursor } from "../core/service/parse-params.ts";
import { type BoundedRing, createBoundedRing } from "./bounded-ring.ts";
import type { Steps } from "./traffic/turns.ts";

export interface LogQuery {
  readonly source?: LogSource | undefined;
  readonly level: LogLevel;
  readonly text: string;
  readonly notable: boolean;
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface LogStore {
  add(source: LogSource, entry: LogEntry): LogLine;
  /** The newest matching lines, oldest first; of notable ones `newestOfEach`. A step is a fraction of a millisecond, as below. */
  read(query: LogQuery): Steps<LogPage>;
  /** Of all. */
  newest(count: number): readonly LogLine[];
  /** Matching lines as text, oldest first, some hundred kilobytes at a time. */
  exportPart(query: Pick<LogQuery, "source" | "level" | "text">, after: string | undefined): Steps<ExportPart>;
}

const ringLimits = { items: 50_000, bytes: 32 << 20 };
/** Notable lines of a source, kept separately so that a flood of other lines does not evict them, nor those of another service. */
const notableLimits = { items: 500, bytes: 256 << 10 };
/** Memory of a notable line, which is an object, in addition to its text. */
const lineBytes = 150;
const maxLineLength = 8_192;

const partCharacters = 256 << 10;
/** Of the texts of an answer. */
const answeredCharacters = 1 << 20;

export function createLogStore(): LogStore {
  const all = new LineLog(ringLimits);
  const notable = new Map<LogSource, BoundedRing<LogLine>>();
  let seq = 0;

  function notableOf(source: LogSource): BoundedRing<LogLine> {
    const ring = notable.get(source) ?? createBoundedRing<LogLine>(notableLimits);
    notable.set(source, ring);
    return ring;
  }
  const notableKept = () => [...notable.values()].reduce((sum, { size }) => sum + size, 0);
  return {
    add(source, entry) {
      const text =
        entry.text.length > maxLineLength ? `${entry.text.slice(0, maxLineLength)}… (${entry.text.length} characters)` : entry.text;
      const line: LogLine = { seq: ++seq, at: entry.at, source, level: entry.level, text, ...(entry.notable && { notable: true }) };
      all.add(line);
      if (isNotable(line)) notableOf(source).add(line.seq, line, lineBytes + 2 * text.length);
      return line;
    },
    *read(query) {
      const matches = createMatcher(query);
      const lines: LogLine[] = [];
      let before = query.before ?? Number.POSITIVE_INFINITY;
      let characters = 0;
      const isFull = () => lines.length === query.limit || characters >= answeredCharacters;
      const take = (some: Iterable<LogLine>) => {
        for (const line of some) {
          if (line.seq < before && matches(line)) {
            lines.push(line);
            characters += line.text.length;
          }
          before = Math.min(before, line.seq);
          if (isFull()) return;
        }
      };
      if (query.notable) {
        const found = [...notable.values()].flatMap((ring) => [...ring.oldestFirst()]).filter((line) => line.seq < before && matches(line));
        found.sort((one, other) => one.seq - other.seq);
        return { lines: newestOfEach(found, query.limit), hasOlder: false, kept: notableKept() };
      }
      for (let some = all.before(before); some && !isFull(); some = all.before(before)) {
        take(some);
        yield;
      }
      return { lines: lines.reverse(), hasOlder: isFull(), kept: all.size };
    },
    newest(count) {
      const lines: LogLine[] = [];
      for (let some = all.before(seq + 1); some && lines.length < count; some = all.before(lines.at(-1)?.seq ?? 0)) {
        for (const line of some) if (lines.push(line) === count) break;
      }
      return lines.reverse();
    },
    *exportPart(query, after) {
      const matches = createMatcher(query);
      const { from, to } = after === undefined ? { from: 0, to: seq } : parseExportCursor(after);
      let text = "";
      let items = 0;
      let last = from;
      for (let some = all.after(last); some; some = all.after(last)) {
        for (const line of some) {
          if (line.seq > to) return { text, items };
          last = line.seq;
          if (!matches(line)) continue;
          text += logText(line);
          items += 1;
          if (text.length >= partCharacters) return { text, items, next: exportCursorText({ from: last, to }) };
        }
        yield;
      }
      return { text, items };
    },
  };
}

interface LineSegment {
  readonly bytes: Buffer;
  /** Of its first line; those of all lines follow one another. */
  readonly firstSeq: number;
  /** Where its oldest kept line begins. */
  head: number;
  used: number;
  /** Those that were dropped too. */
  lines: number;
}

/**
 * The newest lines as bytes outside the JavaScript heap: as objects, each would be moved to the old generation, which is then
 * collected several times a second under load.
 *
 * One line, numbers little-endian: f64 time, f64 seq, u8 level and notable bit, u8 source, u32 bytes of the text, the text as UTF-8,
 * u32 bytes of the whole line for reading from its end.
 */
class LineLog {
  size = 0;
  readonly #limits: { readonly items: number; readonly bytes: number };
  readonly #sources: LogSource[] = [];
  #segments: LineSegment[] = [];
  #bytes = 0;
  #spare: Buffer | undefined;

  constructor(limits: { readonly items: number; readonly bytes: number }) {
    this.#limits = limits;
  }

  add({ seq, at, source, level, text, notable }: LogLine): void {
    const segment = this.#segmentFor(lineFrame + text.length * mostBytesPerCharacter, seq);
    segment.lines++;
    const { bytes, used } = segment;
    bytes.writeDoubleLE(at, used);
    bytes.writeDoubleLE(seq, used + 8);
    bytes[used + 16] = logLevels.indexOf(level) | (notable ? notableBit : 0);
    bytes[used + 17] = this.#sourceIndex(source);
    const textBytes = bytes.write(text, used + lineHead);
    bytes.writeUInt32LE(textBytes, used + 18);
    segment.used = bytes.writeUInt32LE(lineFrame + textBytes, used + lineHead + textBytes);
    this.size++;
    this.#bytes += lineFrame + textBytes;
    while (this.size > this.#limits.items || (this.#bytes > this.#limits.bytes && this.size > 1)) this.#dropOldest();
  }

  /** The last lines before this number, newest first: those of a segment. Undefined where none is kept. Good until the next line is added. */
  before(seq: number): Iterable<LogLine> | undefined {
    const segment = this.#segments.findLast(({ firstSeq, bytes, head }) => firstSeq < seq && seqAt(bytes, head) < seq);
    return segment && this.#newestFirst(segment, seq);
  }

  *#newestFirst({ bytes, head, used }: LineSegment, before: number): Generator<LogLine> {
    for (let end = used; end > head; ) {
      end -= bytes.readUInt32LE(end - 4);
      if (seqAt(bytes, end) < before) yield this.#read(bytes, end);
    }
  }

  /** The first lines after this number, oldest first, likewise. */
  after(seq: number): Iterable<LogLine> | undefined {
    const index = this.#segments.findLastIndex(({ firstSeq }) => firstSeq <= seq + 1);
    const segment = this.#segments[Math.max(0, index)];
    return segment && segment.firstSeq + segment.lines > seq + 1 ? this.#oldestFirst(segment, seq) : undefined;
  }

  *#oldestFirst({ bytes, head, used }: LineSegment, after: number): Generator<LogLine> {
    for (let at = head; at < used; at += lineLength(bytes, at)) if (seqAt(bytes, at) > after) yield this.#read(bytes, at);
  }

  #read(bytes: Buffer, at: number): LogLine {
    const packed = bytes[at + 16] as number;
    const textAt = at + lineHead;
    return {
      seq: bytes.readDoubleLE(at + 8),
      at: bytes.readDoubleLE(at),
      source: this.#sources[bytes[at + 17] as number] as LogSource,
      level: logLevels[packed & ~notableBit] as LogLevel,
      text: bytes.toString("utf8", textAt, textAt + bytes.readUInt32LE(at + 18)),
      ...((packed & notableBit) !== 0 && { notable: true as const }),
    };
  }

  #dropOldest(): void {
    const segment = this.#segments[0] as LineSegment;
    const length = lineLength(segment.bytes, segment.head);
    segment.head += length;
    this.#bytes -= length;
    this.size--;
    if (segment.head < segment.used) return;
    this.#segments.shift();
    this.#spare = segment.bytes;
  }

  #segmentFor(needed: number, firstSeq: number): LineSegment {
    const last = this.#segments.at(-1);
    if (last && last.bytes.length - last.used >= needed) return last;
    const segment = { bytes: this.#spare ?? Buffer.allocUnsafeSlow(segmentBytes), firstSeq, head: 0, used: 0, lines: 0 };
    this.#spare = undefined;
    this.#segments.push(segment);
    return segment;
  }

  #sourceIndex(source: LogSource): number {
    const known = this.#sources.indexOf(source);
    return known >= 0 ? known : this.#sources.push(source) - 1;
  }
}

const lineHead = 22;
const lineFrame = lineHead + 4;
const notableBit = 0x80;
const mostBytesPerCharacter = 3;
/** Longer than the longest line. */
const segmentBytes = 256 << 10;

const seqAt = (bytes: Buffer, at: number): number => bytes.readDoubleLE(at + 8);
const lineLength = (bytes: Buffer, at: number): number => lineFrame + bytes.readUInt32LE(at + 18);

function createMatcher({ source, level, text }: Pick<LogQuery, "source" | "level" | "text">): (line: LogLine) => boolean {
  const least = logLevels.indexOf(level);
  const needle = text.trim().toLowerCase();
  return (line) =>
    (source === undefined || line.source === source) &&
    logLevels.indexOf(line.level) >= least &&
    (needle === "" || line.text.toLowerCase().includes(needle));
}
