import { isUtf8 } from "node:buffer";
import { PacketError, reasonCode } from "./reason-code.ts";
import type { TopicCache } from "./topic-cache.ts";

const malformed = (message: string) => new PacketError(reasonCode.malformedPacket, message);

/** §1.5.4: U+0000 must be refused. Other control characters and noncharacters may be refused, and are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for them
const unwanted = /[\u0000-\u001f\u007f-\u009f\ufdd0-\ufdef\p{Noncharacter_Code_Point}]/u;

/** Reads the fields of MQTT §1.5 and checks their length before it reads. Throws PacketError. */
export class ByteReader {
  bytes: Buffer = Buffer.alloc(0);
  position = 0;
  end = 0;
  private mostItems = 0;
  /** That were read so far, as `countItem`. */
  items = 0;
  /**
   * What is read comes from a client: its messages have no subscription identifiers, and user properties of messages and acknowledgements are checked and not
   * read, as each would be some objects.
   */
  isOfClient = false;

  /** Throws above `mostItems` topic filters, subscription identifiers and user properties. */
  open(bytes: Buffer, start: number, end: number, mostItems = Number.POSITIVE_INFINITY, isOfClient = false): void {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
    this.mostItems = mostItems;
    this.items = 0;
    this.isOfClient = isOfClient;
  }

  /** Counts one that is about to be read: few bytes of the packet become an object. */
  countItem(): void {
    if (++this.items <= this.mostItems) return;
    throw new PacketError(
      reasonCode.quotaExceeded,
      `A packet may have at most ${this.mostItems} topic filters, subscription identifiers and user properties.`,
    );
  }

  get remaining(): number {
    return this.end - this.position;
  }

  byte(): number {
    if (this.position >= this.end) throw malformed("The packet ends too early.");
    return this.bytes[this.position++] as number;
  }

  twoBytes(): number {
    const at = this.take(2);
    return ((this.bytes[at] as number) << 8) | (this.bytes[at + 1] as number);
  }

  fourBytes(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  /** [MQTT5-1.5.5-1]: at most four bytes, and as few as possible. */
  variableByteInteger(): number {
    let value = 0;
    let multiplier = 1;
    for (let count = 1; count <= 4; count++) {
      const digit = this.byte();
      value += (digit & 0x7f) * multiplier;
      if (digit < 0x80) {
        if (digit === 0 && count > 1) throw malformed("A length is encoded in more bytes than necessary.");
        return value;
      }
      multiplier *= 128;
    }
    throw malformed("A length has more than four bytes.");
  }

  /** A view, not a copy. */
  binary(): Buffer {
    const length = this.twoBytes();
    const at = this.take(length);
    return this.bytes.subarray(at, at + length);
  }

  /** [MQTT5-1.5.4-1], [MQTT5-1.5.4-2]: well-formed UTF-8 without U+0000; a BOM stays (1.5.4-3). */
  string(): string {
    const length = this.twoBytes();
    if (length === 0) return "";
    const at = this.take(length);
    return this.isAscii(at, at + length) ? this.bytes.toString("latin1", at, at + length) : this.otherText(at, at + length);
  }

  /** The same without the text: it is checked only. */
  skipString(): void {
    const length = this.twoBytes();
    const at = this.take(length);
    if (!this.isAscii(at, at + length)) this.otherText(at, at + length);
  }

  /** Nearly all strings are short and ASCII: checked in JavaScript, which avoids a native call. */
  private isAscii(at: number, end: number): boolean {
    const { bytes } = this;
    let index = at;
    while (index < end && (bytes[index] as number) < 0x7f && (bytes[index] as number) >= 0x20) index++;
    return index === end;
  }

  private otherText(at: number, end: number): string {
    const { bytes } = this;
    if (!isUtf8(bytes.subarray(at, end))) throw malformed("A string is not UTF-8.");
    const text = bytes.toString("utf8", at, end);
    if (unwanted.test(text)) throw malformed("A string contains a control character or a noncharacter.");
    return text;
  }

  /** The next string, if it is in the cache; otherwise nothing is read. */
  cachedString(cache: TopicCache): string | undefined {
    const { position } = this;
    const length = this.twoBytes();
    const known = length <= this.remaining ? cache.find(this.bytes, position + 2, length) : undefined;
    this.position = known === undefined ? position : position + 2 + length;
    return known;
  }

  /** A view, not a copy. */
  view(count: number): Buffer {
    const at = this.take(count);
    return this.bytes.subarray(at, at + count);
  }

  rest(): Buffer {
    const view = this.bytes.subarray(this.position, this.end);
    this.position = this.end;
    return view;
  }

  expectEnd(): void {
    if (this.position !== this.end) throw malformed("The packet is longer than its fields.");
  }

  private take(count: number): number {
    const at = this.position;
    if (at + count > this.end) throw malformed("The packet ends too early.");
    this.position = at + count;
    return at;
  }
}

/** For bytes that are kept: returns a copy if they are a small part of a larger chunk, otherwise the same bytes. */
export function compacted(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length * 2 || bytes.length === 0) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
