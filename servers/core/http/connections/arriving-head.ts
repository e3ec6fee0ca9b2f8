import { ByteQueue } from "../../net/byte-queue.ts";
import type { ChunkedBody } from "./chunked-body.ts";
import type { LengthBody } from "./paced-body.ts";
import type { ClientError } from "./parsed-socket.ts";

/** RFC 9113 §6.5.2: what a field takes beside its name and value. */
const fieldBytes = 32;
/** Of a name or a value, which Node's parser keeps as strings: in memory, beside its characters. */
export const stringBytes = 40;
const keptFieldBytes = 2 * stringBytes;
const lineFeed = 10;

/** What the parser of a connection has got of a head (RFC 9112 §3), or of trailers, that come in more than one piece. */
export class ArrivingHead {
  readonly #hold: (bytes: number) => void;
  /** A client may send them byte by byte. */
  readonly #bytes = new ByteQueue();
  /** As `hold` was told. */
  #held = 0;
  #lines = 0;
  #hasEnded = false;
  /** Of the request before, while it arrives. */
  #body: LengthBody | undefined;

  /** `hold` is told of the memory that it takes more, or less. */
  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  /** In bytes, with what its fields take besides: Node's own limit counts their characters only. */
  get size(): number {
    return this.#bytes.length + fieldBytes * this.#lines;
  }

  /** So far. A view. */
  get bytes(): Buffer {
    return this.#bytes.all();
  }

  /** Of the body that arrives. */
  get bodyBytesLeft(): number {
    return this.#body?.bytesLeft ?? 0;
  }

  /** In the piece that is being parsed. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The parser tells of a request. */
  ended(): void {
    this.#hasEnded = true;
    this.#body = undefined;
  }

  /** Behind the head comes a body with a length. */
  precedes(body: LengthBody): LengthBody {
    this.#body = body;
    return body;
  }

  /** The parser has got a piece; `chunked` is the body that arrives, if it is in chunks. */
  parsed(piece: Buffer, chunked: ChunkedBody | undefined): void {
    const body = this.#body;
    const hasEnded = this.#hasEnded;
    this.#hasEnded = false;
    const bodyBytes = body?.bytesInPiece ?? 0;
    body?.passed(hasEnded ? 0 : piece.length);
    if (body?.isComplete) this.#body = undefined;
    // What comes behind the data of chunks is trailers, which are fields as well.
    if (hasEnded || body || chunked?.takeHasData()) this.#clear();
    else this.#add(piece);
    if (body?.isComplete && bodyBytes > 0 && !hasEnded) this.#add(piece.subarray(bodyBytes));
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#bytes.push(piece);
    this.#bytes.keepRestOnly();
    for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) this.#lines++;
    this.#holdAll(this.#bytes.heldBytes + keptFieldBytes * this.#lines);
  }

  #clear(): void {
    if (this.#held === 0) return;
    this.#bytes.clear();
    this.#lines = 0;
    this.#holdAll(0);
  }

  #holdAll(bytes: number): void {
    this.#hold(bytes - this.#held);
    this.#held = bytes;
  }

  /** Node tells of the piece with the fault: a body may end in it, and the head have begun in those before. */
  complete(error: ClientError): void {
    const { rawPacket, bytesParsed = 0 } = error;
    if (!rawPacket || this.#hasEnded) return;
    const bodyBytes = this.#body?.bytesInPiece ?? 0;
    error.rawPacket = bodyBytes > 0 ? rawPacket.subarray(bodyBytes) : Buffer.concat([this.#bytes.all(), rawPacket]);
    error.bytesParsed = Math.max(0, bytesParsed - bodyBytes) + (bodyBytes > 0 ? 0 : this.#bytes.length);
  }
}
