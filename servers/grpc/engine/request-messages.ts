import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { CallEvents, CallHead } from "./call-transport.ts";
import type { BodyReader, WireMessage } from "./framed-body.ts";
import { inflateMessage } from "./message-coding.ts";

/** Where the body comes from. */
interface BodySource {
  /** The client may send no more than is on its way. */
  pause(): void;
  resume(): void;
}

export interface RequestMessagesOptions {
  readonly head: Pick<CallHead, "connection" | "requestEncoding">;
  readonly body: BodyReader;
  readonly largestMessage: number;
  readonly source: BodySource;
}

/** The messages of a request on their way from its body to the call, each when it is asked for: in the turns of all clients, decompressed, and counted. */
export class RequestMessages {
  readonly #options: RequestMessagesOptions;
  readonly #body: BodyReader;
  readonly #share: WorkShare;
  #events: Pick<CallEvents, "onMessage" | "onHalfClose" | "fail"> | undefined;
  /** A message or the half-close is asked for. */
  #isWanted = false;
  #isDelivering = false;
  /** For its turn. */
  #isWaiting = false;
  #isInflating = false;
  #inflatedBytes = 0;
  /** Of the last message, for which the handler may wait for the end of the request. */
  #messageBytes = 0;
  /** The client has sent its last byte. */
  #hasEnded = false;
  /** Nothing more is read. */
  #isDone = false;
  #onClosed: (() => void) | undefined;
  /** Memory of messages that are incomplete, being decompressed, or wait for the end of the request. */
  receivedBytes = 0;

  constructor(options: RequestMessagesOptions) {
    this.#options = options;
    this.#body = options.body;
    this.#share = options.head.connection.work.join(() => this.#goOn());
  }

  /** To be called before the others. */
  start(events: Pick<CallEvents, "onMessage" | "onHalfClose" | "fail">): void {
    this.#events = events;
  }

  /** Asks for the next message or the half-close. */
  read(): void {
    this.#isWanted = true;
    this.#deliver();
  }

  /** The next piece of the body. */
  push(chunk: Buffer): void {
    if (this.#isDone) return;
    try {
      this.#body.push(chunk);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#deliver();
    this.#body.keepRestOnly();
    this.#count();
  }

  /** The body is complete. */
  end(): void {
    this.#hasEnded = true;
    this.#deliver();
    this.#count();
  }

  /** The client sent something that is not a message. Does nothing once all was read. */
  fail(error: unknown): void {
    if (this.#isDone) return;
    this.stop();
    this.#events?.fail(error);
  }

  /** Nothing more is read. */
  stop(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#body.clear();
    this.#count();
  }

  /** The same, and calls back in a turn of the connection: hundreds of calls may be reset by one piece. */
  close(onClosed: () => void): void {
    this.stop();
    this.#onClosed = onClosed;
    this.#closeInTurn(onClosed);
  }

  #closeInTurn(onClosed: () => void): void {
    if (this.#share.isOver) this.#share.later();
    else onClosed();
  }

  #goOn(): void {
    if (this.#onClosed) {
      this.#closeInTurn(this.#onClosed);
      return;
    }
    this.#isWaiting = false;
    this.#deliver();
    this.#count();
  }

  /** Delivers what was asked for, as much as there is time for in a turn. The call may ask again meanwhile. */
  #deliver(): void {
    if (this.#isDelivering || this.#isWaiting) return;
    this.#isDelivering = true;
    while (this.#isWanted && !this.#isInflating && !this.#isDone) {
      if (this.#body.hasNext && this.#share.isOver) {
        this.#isWaiting = true;
        this.#share.later();
        break;
      }
      const message = this.#next();
      if (message) this.#take(message);
      // Some of the body was decoded, or its end made a message of it.
      else if (!this.#body.hasNext) break;
    }
    this.#isDelivering = false;
    const { source } = this.#options;
    if ((this.#isWanted && !this.#isWaiting) || this.#isDone) source.resume();
    else if (this.#body.length > 0) source.pause();
  }

  /** Undefined also at the end of the request. */
  #next(): WireMessage | undefined {
    try {
      const message = this.#body.next();
      if (message || !this.#hasEnded || this.#body.hasNext) return message;
      this.#body.end();
      if (this.#body.hasNext) return undefined;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
    this.stop();
    this.#events?.onHalfClose();
    return undefined;
  }

  #take({ content, isCompressed }: WireMessage): void {
    this.#isWanted = false;
    if (isCompressed) this.#inflate(content);
    else this.#message(content, content.length, false);
  }

  #message(bytes: Buffer, wireBytes: number, compressed: boolean): void {
    this.#messageBytes = bytes.length;
    this.#events?.onMessage({ bytes, wireBytes, compressed });
  }

  #inflate(content: Buffer): void {
    const { head, largestMessage } = this.#options;
    this.#isInflating = true;
    this.#inflatedBytes = content.length;
    inflateMessage(content, head.requestEncoding, largestMessage, head.connection.work, (length) => {
      this.#inflatedBytes = content.length + length;
      this.#count();
      return !this.#isDone;
    }).then(
      (bytes) => {
        this.#isInflating = false;
        this.#inflatedBytes = 0;
        if (!this.#isDone) this.#message(bytes, content.length, true);
        this.#deliver();
        this.#count();
      },
      (error: unknown) => this.fail(error),
    );
  }

  #count(): void {
    const waiting = this.#hasEnded ? 0 : this.#messageBytes;
    const bytes = this.#isDone ? 0 : this.#body.heldBytes + this.#inflatedBytes + waiting;
    const more = bytes - this.receivedBytes;
    this.receivedBytes = bytes;
    this.#options.head.connection.shares.memory.add(more);
  }
}
