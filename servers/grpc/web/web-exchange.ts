import type { IncomingMessage, ServerResponse } from "node:http";
import { errorCodes } from "../../core/http2/frames.ts";
import type { Http2Stream, StreamReader } from "../../core/http2/http2-stream.ts";
import type { RequestHead } from "../../core/http2/request-head.ts";
import { callBytes } from "../engine/call-budgets.ts";
import { fieldPairs, headerListBytes } from "../engine/call-metadata.ts";
import type { CallHead } from "../engine/call-transport.ts";
import type { GrpcConnection } from "../engine/connections.ts";
import { resetStream, whyStreamClosed } from "../engine/stream-end.ts";

export type AnswerFields = Readonly<Record<string, string | readonly string[]>>;
type Pairs = readonly (readonly [name: string, value: string])[];

/** An HTTP request and its answer, of any HTTP version. */
export interface WebExchange extends Pick<CallHead, "httpVersion" | "httpMethod" | "authority" | "rawHeaders" | "connection"> {
  /** Path and query. */
  readonly target: string;
  /** The value of a header field, whose name is in lower case. */
  field(name: string): string | undefined;
  /** Gives the body of the request to the reader, which is told too when the exchange is over. To be called once. */
  read(reader: StreamReader): void;
  /** The client may send no more of the body than is on its way. */
  pause(): void;
  resume(): void;
  /** Nothing more can be sent. */
  readonly isOver: boolean;
  /** Begins the answer. */
  respond(status: number, fields: AnswerFields): void;
  /** Sends the head of the answer without waiting for its body. */
  flush(): void;
  /** Calls `onWritten` when the operating system has the bytes. */
  write(bytes: Buffer, onWritten: () => void): void;
  /** Something of the answer has not left. */
  readonly isUnsent: boolean;
  /** The head of the answer, once it was sent. */
  readonly answered: Pairs | undefined;
  /** Ends the answer and drops what is still to come of the request. Calls `onWritten` when the operating system has the last bytes. */
  finish(last?: Buffer, onWritten?: () => void): void;
  /** Breaks off; `isTooMuch` tells the client of HTTP/2 why. */
  reset(isTooMuch?: boolean): void;
  /** Why the exchange is over; undefined if the answer was sent to its end. */
  whyBroken(): string | undefined;
}

/** Time for the rest of a request to arrive after its answer. */
const restTimeoutMs = 5_000;

export class Http1Exchange implements WebExchange {
  readonly httpVersion: "1.0" | "1.1";
  readonly httpMethod: string;
  readonly target: string;
  readonly authority: string;
  readonly rawHeaders: readonly string[];
  readonly connection: GrpcConnection;
  readonly #input: IncomingMessage;
  readonly #output: ServerResponse;
  #wasReset = false;
  #answered: Pairs | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, connection: GrpcConnection) {
    this.httpVersion = request.httpVersion === "1.0" ? "1.0" : "1.1";
    this.httpMethod = request.method ?? "";
    this.target = request.url ?? "";
    this.authority = request.headers.host ?? "";
    this.rawHeaders = request.rawHeaders.map(utf8Text);
    this.connection = connection;
    this.#input = request;
    this.#output = response;
    // "close" follows; what is written to a client that has left is lost.
    request.on("error", () => {});
    response.on("error", () => {});
    if (response.destroyed) return;
    const { memory } = connection.shares;
    const heldBytes = callBytes + headerListBytes(this.rawHeaders);
    memory.add(heldBytes);
    response.once("close", () => memory.add(-heldBytes));
  }

  field(name: string): string | undefined {
    const value = this.#input.headers[name];
    // Only Set-Cookie has several texts, which is of no use in a request.
    return typeof value === "string" ? value : undefined;
  }

  read({ onData, onEnd, onClose }: StreamReader): void {
    const [input, output] = [this.#input, this.#output];
    output.once("close", onClose);
    // A listener for "data" would start the flow.
    input.pause();
    input.on("data", onData);
    input.once("end", onEnd);
    if (output.destroyed) process.nextTick(onClose);
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  get isOver(): boolean {
    return this.#output.destroyed;
  }

  write(bytes: Buffer, onWritten: () => void): void {
    this.#output.write(bytes, onWritten);
  }

  get isUnsent(): boolean {
    return this.#output.writableLength > 0;
  }

  get answered(): Pairs | undefined {
    return this.#answered;
  }

  respond(status: number, fields: AnswerFields): void {
    this.#answered = [[":status", String(status)], ...fieldPairs(fields)];
    this.#output.writeHead(status, fields as Record<string, string | string[]>);
  }

  flush(): void {
    if (!this.#output.destroyed) this.#output.flushHeaders();
  }

  finish(last?: Buffer, onWritten?: () => void): void {
    const [input, output] = [this.#input, this.#output];
    output.end(last, onWritten);
    if (input.complete) return;
    // Closing now could lose the answer with it (RFC 9112 §9.6).
    input.resume();
    const { socket } = input;
    const timer = setTimeout(() => socket.destroy(), restTimeoutMs);
    input.once("close", () => clearTimeout(timer));
  }

  reset(): void {
    this.#wasReset = true;
    this.#input.socket.destroy();
  }

  whyBroken(): string | undefined {
    if (this.#wasReset) return "reset";
    return this.#output.writableFinished ? undefined : "client left";
  }
}

export class Http2Exchange implements WebExchange {
  readonly httpVersion = "2";
  readonly httpMethod: string;
  readonly target: string;
  readonly authority: string;
  readonly rawHeaders: readonly string[];
  readonly connection: GrpcConnection;
  readonly #stream: Http2Stream;
  readonly #head: RequestHead;
  #answered: Pairs | undefined;

  constructor(stream: Http2Stream, head: RequestHead, connection: GrpcConnection) {
    this.httpMethod = head.field(":method") ?? "";
    this.target = head.field(":path") ?? "";
    this.authority = head.field(":authority") ?? head.field("host") ?? "";
    this.rawHeaders = head.rawHeaders;
    this.#head = head;
    this.connection = connection;
    this.#stream = stream;
  }

  field(name: string): string | undefined {
    return this.#head.field(name);
  }

  read(reader: StreamReader): void {
    this.#stream.reader = reader;
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  get isOver(): boolean {
    return this.#stream.isClosed;
  }

  get answered(): Pairs | undefined {
    return this.#answered;
  }

  respond(status: number, fields: AnswerFields): void {
    if (this.#stream.isClosed) return;
    const answer = { ":status": status, ...fields, date: new Date().toUTCString() };
    this.#answered = fieldPairs(answer);
    this.#stream.respond(answer);
  }

  /** The head is sent at once. */
  flush(): void {}

  write(bytes: Buffer, onWritten: () => void): void {
    this.#stream.write(bytes, onWritten);
  }

  get isUnsent(): boolean {
    return this.#stream.isUnsent;
  }

  finish(last?: Buffer, onWritten?: () => void): void {
    if (last) this.#stream.write(last, onWritten);
    this.#stream.end();
  }

  reset(isTooMuch = false): void {
    resetStream(this.#stream, isTooMuch);
  }

  whyBroken(): string | undefined {
    const { hasSentEnd, closeCode } = this.#stream;
    return hasSentEnd && closeCode === errorCodes.none ? undefined : whyStreamClosed(this.#stream);
  }
}

/** Node reads fields of HTTP/1.1 as Latin-1, and those of HTTP/2 as UTF-8, which is what clients send. */
const utf8Text = (text: string): string => (/[^\0-\x7f]/.test(text) ? Buffer.from(text, "latin1").toString() : text);

/** Answers a request that is not a call with an HTTP status. */
export function refuse(exchange: WebExchange, status: number, text: string, fields: AnswerFields = {}): void {
  const body = Buffer.from(`${text}\n`);
  exchange.respond(status, { ...fields, "content-type": "text/plain; charset=utf-8", "content-length": String(body.length) });
  exchange.finish(exchange.httpMethod === "HEAD" ? undefined : body);
}
