import { ByteQueue } from "../../core/net/byte-queue.ts";
import { type BodyLimits, type BodyReader, FramedBody, tooLong, type WireMessage } from "../engine/framed-body.ts";
import { UnreadableRequest } from "../engine/status.ts";

/** Characters that are decoded at once. */
const charactersAtOnce = 4 << 10;
const padding = "=".charCodeAt(0);
/** Six bits of each character, -1 for those that are none of base64's. */
const base64Values = Int8Array.from({ length: 256 }, (_, code) =>
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".indexOf(String.fromCharCode(code)),
);

/** The body of gRPC-Web's text form: the same in base64, with padding anywhere, or without at its end. */
export class TextBody extends FramedBody {
  readonly #text = new ByteQueue();

  override get length(): number {
    return this.#text.length + super.length;
  }

  override get heldBytes(): number {
    return this.#text.heldBytes + super.heldBytes;
  }

  override clear(): void {
    this.#text.clear();
    super.clear();
  }

  override push(chunk: Buffer): void {
    this.#text.push(chunk);
  }

  override keepRestOnly(): void {
    this.#text.keepRestOnly();
    super.keepRestOnly();
  }

  override get hasNext(): boolean {
    return super.hasNext || this.#text.length >= 4;
  }

  /** Undefined also where some text was decoded, and more is there. */
  override next(): WireMessage | undefined {
    if (!super.hasNext && this.#text.length >= 4) {
      super.push(decoded(this.#text.take(Math.min(charactersAtOnce, this.#text.length - (this.#text.length % 4)))));
    }
    return super.next();
  }

  override end(): void {
    const rest = this.#text.take(this.#text.length);
    if (rest.length > 0) super.push(decoded(Buffer.concat([rest, Buffer.alloc(4 - rest.length, padding)])));
    if (!super.hasNext) super.end();
  }
}

/** Of characters four by four: there may be padding behind each. */
function decoded(text: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe((text.length / 4) * 3);
  let length = 0;
  for (let at = 0; at < text.length; at += 4) {
    const [third, fourth] = [text[at + 2] as number, text[at + 3] as number];
    const count = fourth !== padding ? 3 : third !== padding ? 2 : 1;
    const a = base64Values[text[at] as number] as number;
    const b = base64Values[text[at + 1] as number] as number;
    const c = count > 1 ? (base64Values[third] as number) : 0;
    const d = count > 2 ? (base64Values[fourth] as number) : 0;
    if ((a | b | c | d) < 0) throw new UnreadableRequest("the request is not base64");
    bytes[length] = (a << 2) | (b >> 4);
    bytes[length + 1] = (b << 4) | (c >> 2);
    bytes[length + 2] = (c << 6) | d;
    length += count;
  }
  return bytes.subarray(0, length);
}

/** Connect's unary calls: the body is the message. */
export class BareBody implements BodyReader {
  readonly #queue = new ByteQueue();
  readonly #limit: number;
  readonly #isCompressed: boolean;
  #hasEnded = false;
  #wasTaken = false;

  constructor(limits: BodyLimits, isCompressed: boolean) {
    this.#limit = limits.largestMessage;
    this.#isCompressed = isCompressed;
  }

  get length(): number {
    return this.#queue.length;
  }

  get heldBytes(): number {
    return this.#queue.heldBytes;
  }

  clear(): void {
    this.#queue.clear();
  }

  keepRestOnly(): void {
    this.#queue.keepRestOnly();
  }

  push(chunk: Buffer): void {
    const length = this.#queue.length + chunk.length;
    if (length > this.#limit) throw tooLong(length, this.#limit);
    this.#queue.push(chunk);
  }

  get hasNext(): boolean {
    return this.#hasEnded && !this.#wasTaken;
  }

  next(): WireMessage | undefined {
    if (!this.hasNext) return undefined;
    this.#wasTaken = true;
    const content = this.#queue.take(this.#queue.length);
    // Clients do not compress an empty message.
    return { content, isCompressed: this.#isCompressed && content.length > 0 };
  }

  end(): void {
    this.#hasEnded = true;
  }
}
