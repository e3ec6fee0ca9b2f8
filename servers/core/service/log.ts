import { type LogLevel, logLevels } from "../../../contract/log.ts";

export interface LogEntry {
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
  readonly notable?: true;
}

/** Text only. Callers leave out tokens, passwords and keys. */
export interface Log {
  debug(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  error(text: string): void;
  /** Logs at level info and shows the line in "Worth knowing" on the Overview. */
  notable(text: string): void;
  /** Whether a line of this level would be kept: check it before building an expensive line. */
  enabled(level: LogLevel): boolean;
}

const rank = (level: LogLevel) => logLevels.indexOf(level);

export function createLog(options: { level: () => LogLevel; write: (entry: LogEntry) => void; now?: () => number }): Log {
  const now = options.now ?? Date.now;
  const enabled = (level: LogLevel) => rank(level) >= rank(options.level());
  const writer = (level: LogLevel) => (text: string) => {
    if (enabled(level)) options.write({ at: now(), level, text });
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warning: writer("warning"),
    error: writer("error"),
    notable: (text) => {
      if (enabled("info")) options.write({ at: now(), level: "info", text, notable: true });
    },
    enabled,
  };
}

/** One line: f64 time, u8 level and notable bit, u32 bytes of the text, the text as UTF-8; little-endian. */
const lineHead = 13;
const notableBit = 0x80;
const mostBytesPerCharacter = 3;
const startBytes = 16 << 10;
/** A buffer that grew beyond this is not reused. */
const keptBytes = 256 << 10;

/** Log lines as bytes: an object per line would cost two processes several times as much as the line. */
export class LogWriter {
  lines = 0;
  #bytes = Buffer.allocUnsafeSlow(startBytes);
  #length = 0;
  readonly #spare: Buffer<ArrayBuffer>[] = [];

  get bytes(): number {
    return this.#length;
  }

  add({ at, level, text, notable }: LogEntry): void {
    const start = this.#length;
    const needed = start + lineHead + text.length * mostBytesPerCharacter;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(2 * needed);
      this.#bytes.copy(grown, 0, 0, start);
      this.#bytes = grown;
    }
    this.#bytes.writeDoubleLE(at, start);
    this.#bytes[start + 8] = rank(level) | (notable ? notableBit : 0);
    const written = this.#bytes.write(text, start + lineHead);
    this.#bytes.writeUInt32LE(written, start + 9);
    this.#length = start + lineHead + written;
    this.lines++;
  }

  /** What was added; valid until `giveBack`. */
  take(): Buffer<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    if (this.#length > 0) this.#bytes = this.#spare.pop() ?? Buffer.allocUnsafeSlow(startBytes);
    this.#length = 0;
    this.lines = 0;
    return taken;
  }

  giveBack(taken: Buffer<ArrayBuffer>): void {
    if (taken.length > 0 && taken.buffer.byteLength <= keptBytes && this.#spare.length < 2) this.#spare.push(Buffer.from(taken.buffer));
  }
}

/** Lines as bytes, for the few that are written one at a time. */
export function writeLogs(entries: readonly LogEntry[]): Buffer {
  const writer = new LogWriter();
  for (const entry of entries) writer.add(entry);
  return writer.take();
}

/** Reads the lines that a `LogWriter` wrote, one after the other, up to the first that is damaged. */
export class LogReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** Where the next line ends; 0 when there is none. */
  #end = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#find();
  }

  get ended(): boolean {
    return this.#end === 0;
  }

  /** The time of the next line. */
  get nextAt(): number {
    return this.#bytes.readDoubleLE(this.#at);
  }

  read(): LogEntry {
    const packed = this.#bytes[this.#at + 8] as number;
    const entry: LogEntry = {
      at: this.nextAt,
      level: logLevels[packed & ~notableBit] ?? "info",
      text: this.#bytes.toString("utf8", this.#at + lineHead, this.#end),
      ...((packed & notableBit) !== 0 && { notable: true as const }),
    };
    this.#at = this.#end;
    this.#find();
    return entry;
  }

  #find(): void {
    this.#end = 0;
    if (this.#at + lineHead > this.#bytes.length) return;
    const end = this.#at + lineHead + this.#bytes.readUInt32LE(this.#at + 9);
    if (end <= this.#bytes.length) this.#end = end;
  }
}

export function readLogs(written: Uint8Array): LogEntry[] {
  const reader = new LogReader(Buffer.from(written.buffer, written.byteOffset, written.byteLength));
  const logs: LogEntry[] = [];
  while (!reader.ended) logs.push(reader.read());
  return logs;
}
