import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { constants, type IncomingHttpHeaders as Http2Headers, type Http2Session, type ServerHttp2Stream } from "node:http2";
import type { Readable, Writable } from "node:stream";
import { fieldPairs } from "../engine/call-metadata.ts";
import type { CallHead } from "../engine/call-transport.ts";
import type { GrpcConnection } from "../engine/connections.ts";
import { closeLost, resetStream, whyStreamClosed } from "../engine/stream-end.ts";

export type AnswerFields = Readonly<Record<string, string | readonly string[]>>;
type Pairs = readonly (readonly [name: string, value: string])[];

/** An HTTP request and its answer, of any HTTP version. */
export interface WebExchange extends Pick<CallHead, "httpVersion" | "httpMethod" | "authority" | "rawHeaders" | "connection"> {
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** The body of the request; paused until somebody listens. */
  readonly input: Readable;
  /** The body of the answer. Emits "close" when the exchange is over. */
  readonly output: Writable;
  /** Begins the answer. */
  respond(status: number, fields: AnswerFields): void;
  /** Sends the head of the answer without waiting for its body. */
  flush(): void;
  /** The head of the answer, once it was sent. */
  readonly answered: Pairs | undefined;
  /** Ends the answer and drops what is still to come of the request. */
  finish(last?: Buffer): void;
  /** Breaks off; `isTooMuch` tells the client of HTTP/2 why. */
  reset(isTooMuch?: boolean): void;
  /** The connection is lost, which may have other exchanges. */
  lose(): void;
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
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly connection: GrpcConnection;
  readonly input: IncomingMessage;
  readonly output: ServerResponse;
  #wasReset = false;
  #answered: Pairs | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, connection: GrpcConnection) {
    this.httpVersion = request.httpVersion === "1.0" ? "1.0" : "1.1";
    this.httpMethod = request.method ?? "";
    this.target = request.url ?? "";
    this.authority = request.headers.host ?? "";
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders.map(utf8Text);
    this.connection = connection;
    this.input = request;
    this.output = response;
  }

  get answered(): Pairs | undefined {
    return this.#answered;
  }

  respond(status: number, fields: AnswerFields): void {
    this.#answered = [[":status", String(status)], ...fieldPairs(fields)];
    this.output.writeHead(status, fields as Record<string, string | string[]>);
  }

  flush(): void {
    if (!this.output.destroyed) this.output.flushHeaders();
  }

  finish(last?: Buffer): void {
    const { input, output } = this;
    output.end(last);
    if (input.complete) return;
    // Closing now could lose the answer with it (RFC 9112 §9.6).
    input.resume();
    const { socket } = input;
    const timer = setTimeout(() => socket.destroy(), restTimeoutMs);
    input.once("close", () => clearTimeout(timer));
  }

  reset(): void {
    this.#wasReset = true;
    this.input.socket.destroy();
  }

  lose(): void {
    this.input.socket.destroy();
  }

  whyBroken(): string | undefined {
    if (this.#wasReset) return "reset";
    return this.output.writableFinished ? undefined : "client left";
  }
}

export class Http2Exchange implements WebExchange {
  readonly httpVersion = "2";
  readonly httpMethod: string;
  readonly target: string;
  readonly authority: string;
  readonly headers: Http2Headers;
  readonly rawHeaders: readonly string[];
  readonly connection: GrpcConnection;
  readonly input: ServerHttp2Stream;
  readonly output: ServerHttp2Stream;
  readonly #stream: ServerHttp2Stream;
  readonly #session: Http2Session | undefined;
  #isLost = false;

  constructor(stream: ServerHttp2Stream, headers: Http2Headers, rawHeaders: readonly string[], connection: GrpcConnection) {
    this.httpMethod = headers[":method"] ?? "";
    this.target = headers[":path"] ?? "";
    this.authority = headers[":authority"] ?? headers.host ?? "";
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.connection = connection;
    this.input = stream;
    this.output = stream;
    this.#stream = stream;
    this.#session = stream.session;
  }

  get answered(): Pairs | undefined {
    const { sentHeaders } = this.#stream;
    return sentHeaders && fieldPairs(sentHeaders);
  }

  respond(status: number, fields: AnswerFields): void {
    if (this.#stream.destroyed || this.#stream.closed) return;
    this.#stream.respond({ ":status": status, ...(fields as Record<string, string | string[]>) });
  }

  /** Node sends the head at once. */
  flush(): void {}

  finish(last?: Buffer): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    // RFC 9113 §8.1: a complete answer may tell the client to send no more.
    if (!stream.readableEnded) {
      stream.once("finish", () => {
        if (!stream.closed && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
      });
    }
    stream.end(last);
    // Node does not close a stream with unread bytes.
    stream.resume();
  }

  reset(isTooMuch = false): void {
    resetStream(this.#stream, isTooMuch);
  }

  lose(): void {
    this.#isLost = !this.#stream.closed;
    closeLost(this.#stream);
  }

  whyBroken(): string | undefined {
    if (this.#isLost) return "client left";
    const { rstCode, writableEnded } = this.#stream;
    // A stream that both sides have ended may close before Node has reported its last write.
    if (writableEnded && rstCode === constants.NGHTTP2_NO_ERROR) return undefined;
    return whyStreamClosed(this.#stream, this.#session);
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
