import { errorCodes, Http2Error } from "./frames.ts";
import type { DecodedFields, HpackDecoder } from "./hpack-decoder.ts";

/** CONTINUATION frames of one block, which may be empty. */
const mostFragments = 64;

/** A header block while its frames arrive (RFC 9113 §4.3). What has come is decoded, so that what is too much is refused at its begin. */
export class HeaderBlock {
  readonly streamId: number;
  /** The stream ends with it. */
  readonly isEnd: boolean;
  readonly #decoder: HpackDecoder;
  readonly #mostBytes: number;
  #fragments = 0;
  #bytes = 0;

  /** `mostBytes`: of its fields. */
  constructor(streamId: number, isEnd: boolean, decoder: HpackDecoder, mostBytes: number) {
    this.streamId = streamId;
    this.isEnd = isEnd;
    this.#decoder = decoder;
    this.#mostBytes = mostBytes;
    decoder.begin(mostBytes);
  }

  /** So far. */
  get heldBytes(): number {
    return this.#decoder.heldBytes;
  }

  /** Steps that read the next fragment. Throws an `Http2Error`, also for a block without an end. */
  add(fragment: Buffer, isLast: boolean): Generator<void, DecodedFields> {
    this.#bytes += fragment.length;
    const most = 2 * this.#mostBytes;
    if (this.#bytes > most || ++this.#fragments > mostFragments) {
      throw new Http2Error(errorCodes.enhanceYourCalm, `a header block has more than ${most} bytes or ${mostFragments} frames`);
    }
    return this.#decoder.add(fragment, isLast);
  }
}
