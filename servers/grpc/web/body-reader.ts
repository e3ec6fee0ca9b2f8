import type { GrpcStatusName } from "../../../contract/traffic/grpc.ts";
import { ByteQueue } from "../engine/byte-queue.ts";
import { type BodyLimits, FramedBody, tooLong, type WireMessage } from "../engine/framed-body.ts";
import { StatusError } from "../engine/status.ts";

/** Finds the messages in a request's body. The methods throw a `StatusError` for bytes that are not a message. */
export interface BodyReader {
  push(chunk: Buffer): void;
  /** Bytes that were not taken yet. */
  readonly length: number;
  clear(): void;
  /** A message is complete. */
  readonly hasNext: boolean;
  /** The next complete message. */
  next(): WireMessage | undefined;
  /** To be called when the body has ended and `next` has nothing more. */
  end(): void;
}

/** The body of gRPC-Web's text form: the same in base64, with padding anywhere. */
export class TextBody extends FramedBody {
  readonly #malformed: GrpcStatusName;
  #rest = "";

  constructor(limits: BodyLimits) {
    super(limits);
    this.#malformed = limits.malformed;
  }

  override push(chunk: Buffer): void {
    const text = this.#rest + chunk.toString("latin1");
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    for (const [piece] of text.slice(0, whole).matchAll(/[^=]+={0,2}|=/g)) {
      if (piece.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(piece)) {
        throw new StatusError(this.#malformed, "the request is not base64");
      }
      super.push(Buffer.from(piece, "base64"));
    }
  }

  override end(): void {
    if (this.#rest !== "") throw new StatusError(this.#malformed, "the request is not base64: its length is not a multiple of four");
    super.end();
  }
}

/** Connect's unary calls: the body is the message. */
export class BareBody implements BodyReader {
  readonly #queue = new ByteQueue();
  readonly #limit: number;
  readonly #isCompressed: boolean;
  #hasEnded = false;
  #wasTaken = false;

  constructor(limits: Pick<BodyLimits, "largestMessage">, isCompressed: boolean) {
    this.#limit = limits.largestMessage;
    this.#isCompressed = isCompressed;
  }

  get length(): number {
    return this.#queue.length;
  }

  clear(): void {
    this.#queue.clear();
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
