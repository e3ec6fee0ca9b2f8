import { isUtf8 } from "node:buffer";
import { maySendCloseCode } from "../../../../contract/services/websocket-try.ts";
import { GatheredBytes } from "../../net/gathered-bytes.ts";
import { closeCode } from "./close-code.ts";

/** RFC 6455 §5.2 */
export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const known: ReadonlySet<number> = new Set(Object.values(opcode));

/** What the client has violated; `code` is that of the close frame. */
export class FrameFault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export type FrameEvent =
  | { readonly kind: "message"; readonly data: Buffer; readonly isBinary: boolean }
  | { readonly kind: "ping" | "pong"; readonly data: Buffer }
  | { readonly kind: "close"; readonly code: number; readonly reason: string };

const mostControlBytes = 125;
/** Of the head: the mask. */
const maskBytes = 4;
const noBytes = Buffer.alloc(0);
/** The four bytes of the mask that is being applied, and as a word in the order of this computer. */
const mask = new Uint8Array(maskBytes);
const maskWord = new Uint32Array(mask.buffer);
/** Shorter payloads are faster byte by byte. */
const wordsFrom = 128;

/** Reads the frames of a client (RFC 6455 §5), without extensions. A fault is thrown as `FrameFault`; nothing may be read after it. */
export class FrameParser {
  readonly #mostBytes: number;
  #messageOpcode = 0;
  readonly #message = new GatheredBytes();
  #control: GatheredBytes | undefined;
  /** Of the head: how many bytes were read, and how long it is as far as that is known. */
  #headRead = 0;
  #headLength = 2;
  #flags = 0;
  #mask = 0;
  /** Of the payload, of this frame. */
  #length = 0;
  #read = 0;
  /** Nothing of messages is kept, and no message is handed over. */
  #skipsMessages = false;
  /** What the frame that was read last has completed. */
  event: FrameEvent | undefined;

  /** `mostBytes` of a message. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Memory of the message that has not ended. */
  get heldBytes(): number {
    return this.#message.heldBytes + (this.#control?.heldBytes ?? 0);
  }

  skipMessages(): void {
    this.#skipsMessages = true;
    this.#message.clear();
  }

  /** Reads from `at` on to the end of a frame, or of the bytes, which it changes. Returns where it ended; `event` has what was completed. */
  read(bytes: Buffer, at: number): number {
    this.event = undefined;
    while (this.#headRead < this.#headLength) {
      const byte = bytes[at];
      if (byte === undefined) return at;
      this.#readHead(byte);
      at++;
    }
    const end = Math.min(bytes.length, at + this.#length - this.#read);
    this.#readPayload(bytes.subarray(at, end));
    return end;
  }

  get #opcode(): number {
    return this.#flags & 0x0f;
  }

  get #isFinal(): boolean {
    return (this.#flags & 0x80) !== 0;
  }

  get #isControl(): boolean {
    return (this.#flags & 0x08) !== 0;
  }

  #readHead(byte: number): void {
    const place = this.#headRead++;
    if (place === 0) {
      this.#flags = byte;
      this.#checkFlags();
    } else if (place === 1) {
      if ((byte & 0x80) === 0) throw new FrameFault(closeCode.protocolError, "A frame without a mask");
      const length = byte & 0x7f;
      const extended = length < 126 ? 0 : length === 126 ? 2 : 8;
      this.#length = extended === 0 ? length : 0;
      this.#headLength = 2 + extended + maskBytes;
      if (this.#isControl && length > mostControlBytes)
        throw new FrameFault(closeCode.protocolError, "A control frame of more than 125 bytes");
    } else if (place < this.#headLength - maskBytes) this.#length = this.#length * 256 + byte;
    else this.#mask = (this.#mask << 8) | byte;
    // Also one whose mask follows.
    if (place === this.#headLength - maskBytes - 1) this.#checkLength();
  }

  #checkFlags(): void {
    if ((this.#flags & 0x70) !== 0) throw new FrameFault(closeCode.protocolError, "A frame with reserved bits");
    if (!known.has(this.#opcode)) throw new FrameFault(closeCode.protocolError, `A frame with the opcode ${this.#opcode}`);
    if (this.#isControl) {
      if (!this.#isFinal) throw new FrameFault(closeCode.protocolError, "A fragment of a control frame");
    } else if ((this.#opcode === opcode.continuation) !== (this.#messageOpcode !== 0)) {
      const problem = this.#messageOpcode === 0 ? "A continuation without a message" : "A message within another one";
      throw new FrameFault(closeCode.protocolError, problem);
    }
  }

  #checkLength(): void {
    if (this.#isControl) return;
    if (this.#message.length + this.#length > this.#mostBytes)
      throw new FrameFault(closeCode.tooBig, `A message of more than ${this.#mostBytes} bytes`);
  }

  #readPayload(piece: Buffer): void {
    const isWhole = piece.length === this.#length;
    const kept = this.#isControl || !this.#skipsMessages;
    let whole: Buffer | undefined;
    if (piece.length > 0 && kept) {
      // One that is a whole message is not copied.
      const isAlone = isWhole && (this.#isControl || (this.#isFinal && this.#message.length === 0));
      if (isAlone) {
        unmask(piece, this.#mask, 0);
        whole = piece;
      } else {
        let at = this.#read;
        const following = this.#isFinal ? this.#length - this.#read - piece.length : Number.POSITIVE_INFINITY;
        for (const part of this.#gathered.add(piece, following)) {
          unmask(part, this.#mask, at);
          at += part.length;
        }
      }
    }
    this.#read += piece.length;
    if (this.#read < this.#length) return;
    this.#headRead = 0;
    this.#headLength = 2;
    this.#read = 0;
    if (this.#isControl) this.event = this.#endControl(whole ?? this.#control?.take() ?? noBytes);
    else this.#endFrame(whole);
  }

  get #gathered(): GatheredBytes {
    if (!this.#isControl) return this.#message;
    this.#control ??= new GatheredBytes();
    return this.#control;
  }

  #endFrame(whole: Buffer | undefined): void {
    if (this.#opcode !== opcode.continuation) this.#messageOpcode = this.#opcode;
    if (!this.#isFinal) return;
    const isBinary = this.#messageOpcode === opcode.binary;
    this.#messageOpcode = 0;
    if (this.#skipsMessages) return;
    const data = whole ?? this.#message.take();
    if (!isBinary && !isUtf8(data)) throw new FrameFault(closeCode.invalidData, "A text that is not UTF-8");
    this.event = { kind: "message", data, isBinary };
  }

  #endControl(data: Buffer): FrameEvent {
    if (this.#opcode === opcode.close) return closeOf(data);
    return { kind: this.#opcode === opcode.ping ? "ping" : "pong", data };
  }
}

/** RFC 6455 §5.3; `from` is where the bytes begin in the payload. */
function unmask(bytes: Buffer, key: number, from: number): void {
  if (key === 0) return;
  // Words begin at multiples of four.
  const start = bytes.length < wordsFrom ? bytes.length : -bytes.byteOffset & 3;
  unmaskEach(bytes, key, from, 0, start);
  if (start === bytes.length) return;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, (bytes.length - start) >> 2);
  for (let index = 0; index < maskBytes; index++) mask[index] = maskByte(key, from + start + index);
  const word = maskWord[0] as number;
  for (let index = 0; index < words.length; index++) words[index] = (words[index] as number) ^ word;
  unmaskEach(bytes, key, from, start + 4 * words.length, bytes.length);
}

function unmaskEach(bytes: Buffer, key: number, from: number, start: number, end: number): void {
  for (let index = start; index < end; index++) bytes[index] = (bytes[index] as number) ^ maskByte(key, from + index);
}

const maskByte = (key: number, place: number): number => (key >>> (24 - 8 * (place & 3))) & 0xff;

/** RFC 6455 §5.5.1, §7.4 */
function closeOf(data: Buffer): FrameEvent {
  if (data.length === 0) return { kind: "close", code: closeCode.noStatus, reason: "" };
  if (data.length === 1) throw new FrameFault(closeCode.protocolError, "A close frame of one byte");
  const code = data.readUInt16BE(0);
  if (!maySendCloseCode(code)) throw new FrameFault(closeCode.protocolError, `A close frame with the code ${code}`);
  const reason = data.subarray(2);
  if (!isUtf8(reason)) throw new FrameFault(closeCode.invalidData, "A reason that is not UTF-8");
  return { kind: "close", code, reason: reason.toString() };
}

/** Of a frame that a server sends: without a mask. */
export function frameHead(kind: number, length: number): Buffer {
  const extended = length < 126 ? 0 : length < 1 << 16 ? 2 : 8;
  const head = Buffer.allocUnsafe(2 + extended);
  head[0] = 0x80 | kind;
  head[1] = extended === 0 ? length : extended === 2 ? 126 : 127;
  if (extended === 2) head.writeUInt16BE(length, 2);
  else if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
