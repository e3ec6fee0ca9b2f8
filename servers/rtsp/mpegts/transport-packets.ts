/** One access unit or frame of sound with its times, in ticks of 90 kHz. */
export interface TimedUnit {
  readonly pid: number;
  readonly streamId: number;
  readonly parts: readonly Buffer[];
  readonly pts: number;
  readonly dts: number;
  readonly clockReference: number | undefined;
  /** The clock reference does not go on from the one before (§2.4.3.5, discontinuity_indicator). */
  readonly isClockAnew: boolean;
  readonly isRandomAccess: boolean;
  /** Its PES packet has a length; pictures may be longer than that can say. */
  readonly isBounded: boolean;
}

const packetBytes = 188;
const headBytes = 4;
const mostPayload = packetBytes - headBytes;
/** 33 bits. */
const timeModulus = 2 ** 33;

/** Cuts PES packets into the packets of a transport stream, ISO/IEC 13818-1 §2.4.3, and counts their continuity. */
export class TransportPackets {
  readonly #counters = new Map<number, number>();

  /** The tables, then the unit. */
  write(unit: TimedUnit, tables: readonly Buffer[]): Buffer {
    const header = pesHeader(unit);
    const parts = [header, ...unit.parts];
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    const fieldBytes = unit.clockReference !== undefined ? 8 : unit.isRandomAccess ? 2 : 0;
    const count = Math.ceil((size + fieldBytes) / mostPayload);
    const bytes = Buffer.allocUnsafe((tables.length + count) * packetBytes);
    let position = 0;
    for (const table of tables) {
      bytes.set(table, position);
      const pid = table.readUInt16BE(1) & 0x1fff;
      bytes[position + 3] = 0x10 | this.#count(pid);
      position += packetBytes;
    }
    const source = new PartReader(parts);
    let left = size;
    for (let index = 0; index < count; index++) {
      const end = position + packetBytes;
      const least = index === 0 ? fieldBytes : 0;
      const payload = Math.min(left, mostPayload - least);
      const field = mostPayload - payload;
      bytes[position] = 0x47;
      bytes[position + 1] = (index === 0 ? 0x40 : 0) | (unit.pid >> 8);
      bytes[position + 2] = unit.pid & 0xff;
      bytes[position + 3] = (field > 0 ? 0x30 : 0x10) | this.#count(unit.pid);
      if (field > 0) writeField(bytes, position + headBytes, field, index === 0 ? unit : undefined);
      source.copy(bytes, end - payload, payload);
      left -= payload;
      position = end;
    }
    return bytes;
  }

  #count(pid: number): number {
    const counter = this.#counters.get(pid) ?? 0;
    this.#counters.set(pid, (counter + 1) & 0x0f);
    return counter;
  }
}

/** Adaptation field, §2.4.3.4, filled up to `size` bytes. */
function writeField(bytes: Buffer, start: number, size: number, unit: TimedUnit | undefined): void {
  bytes[start] = size - 1;
  if (size === 1) return;
  const reference = unit?.clockReference;
  bytes[start + 1] = (unit?.isClockAnew ? 0x80 : 0) | (unit?.isRandomAccess ? 0x40 : 0) | (reference === undefined ? 0 : 0x10);
  let position = start + 2;
  if (reference !== undefined) {
    const base = wrapped(reference);
    position = bytes.writeUInt32BE(Math.floor(base / 2), position);
    bytes[position++] = ((base % 2) << 7) | 0x7e;
    bytes[position++] = 0;
  }
  bytes.fill(0xff, position, start + size);
}

/** §2.4.3.6. */
function pesHeader({ streamId, parts, pts, dts, isBounded }: TimedUnit): Buffer {
  const hasDts = dts !== pts;
  const timeBytes = hasDts ? 10 : 5;
  const header = Buffer.alloc(9 + timeBytes);
  header.set([0, 0, 1, streamId]);
  const length = 3 + timeBytes + parts.reduce((sum, part) => sum + part.length, 0);
  if (isBounded && length <= 0xffff) header.writeUInt16BE(length, 4);
  // The data is aligned: it begins with an access unit.
  header[6] = 0x84;
  header[7] = hasDts ? 0xc0 : 0x80;
  header[8] = timeBytes;
  writeTime(header, 9, hasDts ? 3 : 2, pts);
  if (hasDts) writeTime(header, 14, 1, dts);
  return header;
}

function writeTime(bytes: Buffer, at: number, prefix: number, ticks: number): void {
  const time = wrapped(ticks);
  const high = Math.floor(time / 2 ** 30);
  const low = time % 2 ** 30;
  bytes[at] = (prefix << 4) | (high << 1) | 1;
  bytes.writeUInt16BE(((low >> 15) << 1) | 1, at + 1);
  bytes.writeUInt16BE(((low & 0x7fff) << 1) | 1, at + 3);
}

const wrapped = (ticks: number): number => ((ticks % timeModulus) + timeModulus) % timeModulus;

/** Reads several buffers as one. */
class PartReader {
  readonly #parts: readonly Buffer[];
  #part = 0;
  #position = 0;

  constructor(parts: readonly Buffer[]) {
    this.#parts = parts;
  }

  copy(target: Buffer, at: number, count: number): void {
    let left = count;
    while (left > 0) {
      const part = this.#parts[this.#part];
      if (!part) throw new RangeError("The parts are shorter than they were.");
      const copied = part.copy(target, at + count - left, this.#position, Math.min(part.length, this.#position + left));
      left -= copied;
      this.#position += copied;
      if (this.#position < part.length) continue;
      this.#part++;
      this.#position = 0;
    }
  }
}
