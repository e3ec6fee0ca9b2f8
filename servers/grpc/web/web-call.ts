import type { Metadata } from "@grpc/grpc-js";
import type { CallEnd, CallEvents, CallHead, SentEnd } from "../engine/call-transport.ts";
import type { StartableTransport } from "../engine/listener-calls.ts";
import type { MessageCoding } from "../engine/message-coding.ts";
import { RequestMessages, type RequestMessagesOptions } from "../engine/request-messages.ts";
import { StatusError, statusCode } from "../engine/status.ts";
import type { WebCors } from "./web-cors.ts";
import type { AnswerFields, WebExchange } from "./web-exchange.ts";

export interface WebCallOptions extends Pick<RequestMessagesOptions, "body" | "largestMessage"> {
  readonly exchange: WebExchange;
  readonly head: CallHead;
  readonly cors: WebCors;
  /** For the request of a method that takes one message to arrive; undefined for a stream. */
  readonly requestMs: number | undefined;
  /** Called for an answer that could not be written. */
  readonly onFault: (head: CallHead, error: unknown) => void;
}

/** What was sent as the end of a call. */
export interface WrittenEnd {
  readonly code: number;
  readonly message: string;
  /** If they are not header fields of the answer. */
  readonly trailers?: readonly (readonly [name: string, value: string])[];
}

/** A call on the web port: reads the messages of the request. A subclass for each protocol writes the answer. */
export abstract class WebCall implements StartableTransport {
  readonly answersAtEnd: boolean = false;
  readonly head: CallHead;
  protected readonly exchange: WebExchange;
  readonly #options: WebCallOptions;
  readonly #messages: RequestMessages;
  #events: CallEvents | undefined;
  /** For the request. */
  #endWait: (() => void) | undefined;
  #isOver = false;
  /** Once the exchange is closed. */
  #closed: { readonly aborted: string | undefined } | undefined;
  #written: WrittenEnd | undefined;
  #resetStatus: WrittenEnd | undefined;
  #wasEnding = false;

  constructor(options: WebCallOptions) {
    this.#options = options;
    this.head = options.head;
    this.exchange = options.exchange;
    this.#messages = new RequestMessages({ ...options, source: options.exchange });
  }

  protected abstract writeHead(headers: Metadata | undefined, coding: MessageCoding): void;
  protected abstract writeFrame(frame: Buffer, onWritten: () => void): void;
  protected abstract writeEnd(end: CallEnd): WrittenEnd;

  start(events: CallEvents): void {
    this.#events = events;
    this.#messages.start(events);
    this.exchange.read({
      onData: (chunk) => this.#messages.push(chunk),
      onEnd: () => this.#messages.end(),
      onClose: () => this.#close(),
    });
    const { requestMs } = this.#options;
    // It fails nothing that has arrived by then.
    if (requestMs !== undefined) this.#endWait = this.head.connection.work.wait(requestMs, () => this.#messages.fail(tooSlow(requestMs)));
  }

  read(): void {
    this.#messages.read();
  }

  get receivedBytes(): number {
    return this.#messages.receivedBytes;
  }

  sentHeaders(): SentEnd["headers"] {
    return this.exchange.answered;
  }

  sendHeaders(headers: Metadata | undefined, coding: MessageCoding): void {
    this.#write(() => this.writeHead(headers, coding));
  }

  sendFrame(frame: Buffer, onWritten: () => void): void {
    this.#write(() => this.writeFrame(frame, onWritten));
  }

  end(end: CallEnd): void {
    this.#messages.stop();
    this.#write(() => {
      this.#written = this.writeEnd(end);
    });
  }

  abandonUnread(): void {
    if (this.#wasEnding && this.exchange.isUnsent) this.exchange.reset();
    this.#wasEnding = true;
  }

  reset(status?: WrittenEnd): void {
    this.#messages.stop();
    this.#resetStatus = status;
    this.exchange.reset(status?.code === statusCode("RESOURCE_EXHAUSTED"));
  }

  /** Begins the answer, and lets pages read all its fields. */
  protected respond(status: number, fields: AnswerFields): void {
    this.exchange.respond(status, this.#options.cors.readable(this.exchange, fields));
  }

  #write(step: () => void): void {
    // The client has left; "close" follows.
    if (this.#isOver || this.exchange.isOver) return;
    try {
      step();
    } catch (error) {
      this.#options.onFault(this.head, error);
      this.exchange.reset();
    }
  }

  #close(): void {
    this.#closed = { aborted: this.exchange.whyBroken() };
    this.#messages.close(() => this.#over());
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endWait?.();
    this.#events?.onOver(this.#sentEnd());
  }

  #sentEnd(): SentEnd {
    const { exchange } = this;
    const headers = exchange.answered;
    // A call without an end was broken off.
    const aborted = (this.#closed ?? { aborted: exchange.whyBroken() }).aborted ?? (this.#written ? undefined : "no status");
    if (aborted === undefined && this.#written) {
      const { code, message, trailers } = this.#written;
      return { headers, trailers, status: { code, message }, aborted };
    }
    // A client of HTTP/1.1 sees a lost connection, whatever the reason.
    const status = exchange.httpVersion === "2" ? this.#resetStatus : undefined;
    return { headers, trailers: undefined, status, aborted: status ? undefined : aborted };
  }
}

const tooSlow = (withinMs: number): StatusError =>
  new StatusError("DEADLINE_EXCEEDED", `the request did not arrive within ${withinMs / 1_000} s`);
