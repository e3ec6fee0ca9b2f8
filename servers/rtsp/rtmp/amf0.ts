/** Action Message Format 0, in which RTMP has its commands. Classes of values that a publisher does not send are left out. */
export type AmfValue = number | boolean | string | null | AmfObject | readonly AmfValue[];
export interface AmfObject {
  readonly [name: string]: AmfValue;
}

export class AmfError extends Error {}

const marker = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  null: 5,
  undefined: 6,
  array: 8,
  objectEnd: 9,
  list: 10,
  date: 11,
  longString: 12,
} as const;

const mostNesting = 16;
/** Of one message; encoders send some thirty. */
const mostValues = 500;

/** All values of a message. Throws an AmfError. */
export function readAmf(bytes: Buffer): AmfValue[] {
  const reader = new AmfReader(bytes);
  const values: AmfValue[] = [];
  while (!reader.atEnd) values.push(reader.value(0));
  return values;
}

class AmfReader {
  readonly #bytes: Buffer;
  #position = 0;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  value(nesting: number): AmfValue {
    if (++this.#values > mostValues || nesting > mostNesting) throw new AmfError("a message has too many values");
    const type = this.#bytes[this.#take(1)] as number;
    switch (type) {
      case marker.number:
        return this.#bytes.readDoubleBE(this.#take(8));
      case marker.boolean:
        return this.#bytes[this.#take(1)] !== 0;
      case marker.string:
        return this.#text(this.#twoBytes());
      case marker.longString:
        return this.#text(this.#fourBytes());
      case marker.null:
      case marker.undefined:
        return null;
      case marker.object:
        return this.#object(nesting);
      case marker.array:
        // Its count is only a hint.
        this.#take(4);
        return this.#object(nesting);
      case marker.list: {
        const list: AmfValue[] = [];
        for (let left = this.#fourBytes(); left > 0; left--) list.push(this.value(nesting + 1));
        return list;
      }
      case marker.date: {
        const milliseconds = this.#bytes.readDoubleBE(this.#take(8));
        this.#take(2);
        return milliseconds;
      }
      default:
        throw new AmfError(`a value has the unknown type ${type}`);
    }
  }

  #object(nesting: number): AmfObject {
    const entries: [string, AmfValue][] = [];
    for (;;) {
      const length = this.#twoBytes();
      if (length === 0 && this.#bytes[this.#position] === marker.objectEnd) {
        this.#position++;
        // Not by assignment: a name may be "__proto__".
        return Object.fromEntries(entries);
      }
      entries.push([this.#text(length), this.value(nesting + 1)]);
    }
  }

  #text(length: number): string {
    const at = this.#take(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  #twoBytes(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  #fourBytes(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  #take(count: number): number {
    const at = this.#position;
    if (count > this.#bytes.length - at) throw new AmfError("a message ends within a value");
    this.#position = at + count;
    return at;
  }
}

export const writeAmf = (values: readonly AmfValue[]): Buffer => Buffer.concat(values.flatMap(partsOf));

function partsOf(value: AmfValue): Buffer[] {
  if (value === null) return [Buffer.from([marker.null])];
  if (typeof value === "boolean") return [Buffer.from([marker.boolean, value ? 1 : 0])];
  if (typeof value === "number") {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return [bytes];
  }
  if (typeof value === "string") return [Buffer.from([marker.string]), name(value)];
  if (Array.isArray(value)) throw new AmfError("lists are not sent");
  const fields = Object.entries(value).flatMap(([key, field]) => [name(key), ...partsOf(field)]);
  return [Buffer.from([marker.object]), ...fields, Buffer.from([0, 0, marker.objectEnd])];
}

function name(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
