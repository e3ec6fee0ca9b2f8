import { ByteQueue } from "../engine/byte-queue.ts";
import { type BodyLimits, FramedBody, tooLong, type WireMessage } from "../engine/framed-body.ts";
import { StatusError, type StatusName } from "../engine/status.ts";

/** Finds the messages in the bytes of a request's body. Its functions throw a `StatusError` for what is no message. */
export interface BodyReader {
  push(chunk: Buffer): void;
  /** The next complete message. */
  next(): WireMessage | undefined;
  /** To be called when the body has ended and `next` has nothing more. */
  end(): void;
}

/** gRPC-Web's text: the same in base64, of which pieces may be padded. */
export class TextBody extends FramedBody {
  readonly #malformed: StatusName;
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
        throw new StatusError(this.#malformed, "the request is no base64");
      }
      super.push(Buffer.from(piece, "base64"));
    }
  }

  override end(): void {
    if (this.#rest !== "") throw new StatusError(this.#malformed, "the request is no base64: it ends within four characters");
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

  push(chunk: Buffer): void {
    const length = this.#queue.length + chunk.length;
    if (length > this.#limit) throw tooLong(length, this.#limit);
    this.#queue.push(chunk);
  }

  next(): WireMessage | undefined {
    if (!this.#hasEnded || this.#wasTaken) return undefined;
    this.#wasTaken = true;
    const content = this.#queue.take(this.#queue.length);
    // Nothing is not the output of any compressor: clients send it as it is.
    return { content, isCompressed: this.#isCompressed && content.length > 0 };
  }

  end(): void {
    this.#hasEnded = true;
  }
}
