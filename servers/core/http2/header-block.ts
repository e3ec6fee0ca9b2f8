import { ownCopy } from "../streams/own-copy.ts";
import { errorCodes, Http2Error } from "./frames.ts";

/** CONTINUATION frames of one block, which may be empty. */
const mostFragments = 64;

/** A header block while its frames arrive (RFC 9113 §4.3). */
export class HeaderBlock {
  readonly streamId: number;
  /** The stream ends with it. */
  readonly isEnd: boolean;
  readonly #mostBytes: number;
  readonly #fragments: Buffer[] = [];
  /** So far. */
  bytes = 0;

  constructor(streamId: number, isEnd: boolean, mostBytes: number) {
    this.streamId = streamId;
    this.isEnd = isEnd;
    this.#mostBytes = mostBytes;
  }

  /** One that is not the last gets memory of its own: it would keep all that was read with it. Throws an `Http2Error` for a block without an end. */
  add(fragment: Buffer, isLast: boolean): void {
    this.bytes += fragment.length;
    this.#fragments.push(isLast ? fragment : ownCopy(fragment));
    if (this.bytes > this.#mostBytes || this.#fragments.length > mostFragments) {
      throw new Http2Error(errorCodes.enhanceYourCalm, `a header block has more than ${this.#mostBytes} bytes or ${mostFragments} frames`);
    }
  }

  take(): Buffer {
    return this.#fragments.length === 1 ? (this.#fragments[0] as Buffer) : Buffer.concat(this.#fragments);
  }
}
