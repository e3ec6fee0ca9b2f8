import { constants, type Http2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Metadata } from "@grpc/grpc-js";
import type { GrpcCodec } from "../../../contract/traffic/grpc.ts";
import type { WorkShare } from "../../core/service/work-turns.ts";
import {
  fieldPairs,
  grpcTimeoutMs,
  headerListBytes,
  metadataFault,
  metadataOf,
  percentEncoded,
  unreadableTimeout,
} from "./call-metadata.ts";
import type { CallEnd, CallEvents, CallHead, SentEnd } from "./call-transport.ts";
import type { GrpcConnection } from "./connections.ts";
import { type BodyLimits, FramedBody, type WireMessage } from "./framed-body.ts";
import type { StartableTransport } from "./listener-calls.ts";
import { inflateMessage, type MessageCoding } from "./message-coding.ts";
import { type StatusError, statusCode } from "./status.ts";
import { closeLost, resetStream, whyStreamClosed } from "./stream-end.ts";

/** An HTTP/2 stream as it was opened. */
export interface OpenedStream {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

export interface Http2CallLimits extends BodyLimits {
  /** Of all header fields. */
  readonly metadataBytes: number;
}

const callOf = Symbol("call");
/** Streams know their call, so that all of them share their listeners. */
interface CallStream extends ServerHttp2Stream {
  /** Undefined once it is over: Node keeps some streams until the next full collection, and with them would keep all that is reached from here. */
  [callOf]: Http2Call | undefined;
}

const answerFields = { ":status": 200, "grpc-accept-encoding": "identity,deflate,gzip" } as const;
const codecFields = {
  proto: { ...answerFields, "content-type": "application/grpc+proto" },
  json: { ...answerFields, "content-type": "application/grpc+json" },
} as const;
// A date would be metadata to clients.
const withTrailers = { waitForTrailers: true, sendDate: false } as const;
const atOnce = { endStream: true, sendDate: false } as const;

const okTrailers: OutgoingHttpHeaders = { "grpc-status": 0 };
const ok = { code: 0, message: "" } as const;
type Pairs = NonNullable<SentEnd["headers"]>;
/** Of the fields that nearly all answers have. */
const knownPairs = new Map<OutgoingHttpHeaders, Pairs>(
  [codecFields.proto, codecFields.json, okTrailers].map((fields) => [fields, fieldPairs(fields)]),
);
const pairsOf = (fields: OutgoingHttpHeaders): Pairs => knownPairs.get(fields) ?? fieldPairs(fields);

/** A call of gRPC itself: an HTTP/2 stream whose body is messages with prefixes, and whose trailers have the status. */
export class Http2Call implements StartableTransport {
  readonly head: CallHead;
  readonly #stream: CallStream;
  /** A stream that is closed has none. */
  readonly #session: Http2Session | undefined;
  readonly #limits: Http2CallLimits;
  readonly #body: FramedBody;
  #events: CallEvents | undefined;
  /** A message or the half-close is asked for. */
  #isWanted = false;
  #isDelivering = false;
  readonly #share: WorkShare;
  /** For its turn. */
  #isWaiting = false;
  #isInflating = false;
  #inflatedBytes = 0;
  /** Of the last message, for which the handler may wait for the end of the request. */
  #messageBytes = 0;
  receivedBytes = 0;
  #hasHalfClosed = false;
  #isEnding = false;
  #sentHead: OutgoingHttpHeaders | undefined;
  #trailers: OutgoingHttpHeaders | undefined;
  #sentTrailers: OutgoingHttpHeaders | undefined;
  #status: SentEnd["status"];
  #wasEnding = false;
  #isAbandoned = false;
  #isLost = false;
  /** Once the stream is closed: what the session says of it later may be no longer true. */
  #whyClosed: string | undefined;

  constructor({ stream, headers, rawHeaders }: OpenedStream, connection: GrpcConnection, limits: Http2CallLimits) {
    this.#stream = stream as CallStream;
    this.#session = stream.session;
    this.#stream[callOf] = this;
    this.#limits = limits;
    this.#body = new FramedBody(limits);
    this.head = new Http2CallHead(headers, rawHeaders, connection, limits.metadataBytes);
    this.#share = connection.work.join(() => this.#goOn());
  }

  start(events: CallEvents): void {
    this.#events = events;
    const stream = this.#stream;
    stream.on("data", onData);
    stream.on("end", onEnd);
    stream.on("wantTrailers", onWantTrailers);
    stream.on("close", onClose);
  }

  read(): void {
    this.#isWanted = true;
    this.#deliver();
  }

  take(chunk: Buffer): void {
    this.head.connection.reading?.tookStep();
    if (this.#isEnding) return;
    this.#body.push(chunk);
    this.#deliver();
    this.#count();
  }

  halfClose(): void {
    this.#hasHalfClosed = true;
    this.#deliver();
    this.#count();
  }

  #count(): void {
    const waiting = this.#hasHalfClosed ? 0 : this.#messageBytes;
    const bytes = this.#isEnding ? 0 : this.#body.length + this.#inflatedBytes + waiting;
    const more = bytes - this.receivedBytes;
    this.receivedBytes = bytes;
    this.head.connection.shares.received.add(more);
  }

  #goOn(): void {
    if (this.#whyClosed !== undefined) {
      this.#endInTurn();
      return;
    }
    this.#isWaiting = false;
    this.#deliver();
    this.#count();
  }

  /** Delivers what was asked for, as much as there is time for in a turn. The client may send while something is asked for. */
  #deliver(): void {
    if (this.#isDelivering || this.#isWaiting) return;
    this.#isDelivering = true;
    while (this.#isWanted && !this.#isInflating && !this.#isEnding) {
      if (this.#body.hasNext && this.#share.isOver) {
        this.#isWaiting = true;
        this.#share.later();
        break;
      }
      const message = this.#next();
      if (!message) break;
      this.#isWanted = false;
      if (message.isCompressed) this.#inflate(message.content);
      else this.#message(message.content, message.content.length, false);
    }
    this.#isDelivering = false;
    const stream = this.#stream;
    if ((this.#isWanted && !this.#isWaiting) || this.#isEnding) {
      if (stream.isPaused()) stream.resume();
    } else if (this.#body.length > 0) stream.pause();
  }

  #message(bytes: Buffer, wireBytes: number, compressed: boolean): void {
    this.#messageBytes = bytes.length;
    this.#events?.onMessage({ bytes, wireBytes, compressed });
  }

  #next(): WireMessage | undefined {
    try {
      const message = this.#body.next();
      if (message || !this.#hasHalfClosed) return message;
      this.#body.end();
    } catch (error) {
      this.#events?.fail(error);
      return undefined;
    }
    this.#isWanted = false;
    this.#events?.onHalfClose();
    return undefined;
  }

  #inflate(content: Buffer): void {
    this.#isInflating = true;
    this.#inflatedBytes = content.length;
    const { requestEncoding, connection } = this.head;
    inflateMessage(content, requestEncoding, this.#limits.largestMessage, connection.work, (length) => {
      this.#inflatedBytes = content.length + length;
      this.#count();
      return !this.#isEnding;
    })
      .then((bytes) => {
        this.#isInflating = false;
        this.#inflatedBytes = 0;
        if (!this.#isEnding) this.#message(bytes, content.length, true);
        this.#deliver();
        this.#count();
      })
      .catch((error: unknown) => this.#events?.fail(error));
  }

  sendHeaders(headers: Metadata | undefined, coding: MessageCoding): void {
    const stream = this.#stream;
    if (this.#isEnding || stream.closed || stream.destroyed) return;
    const fields = codecFields[this.head.codec];
    this.#sentHead = withMetadata(coding === "identity" ? fields : { ...fields, "grpc-encoding": coding }, headers);
    stream.respond(this.#sentHead, withTrailers);
  }

  sentHeaders(): SentEnd["headers"] {
    return this.#sentHead && pairsOf(this.#sentHead);
  }

  sendFrame(frame: Buffer, onWritten: () => void): void {
    const stream = this.#stream;
    if (this.#isEnding || stream.closed || stream.destroyed) return;
    stream.write(frame, onWritten);
  }

  end({ code, message, trailers }: CallEnd): void {
    const stream = this.#stream;
    if (this.#isEnding) return;
    this.#stopReading();
    if (stream.closed || stream.destroyed) return;
    const isOk = code === 0 && message === "";
    this.#trailers = withMetadata(isOk ? okTrailers : statusFields(code, message), trailers);
    this.#status = isOk ? ok : { code, message };
    if (stream.headersSent) stream.end();
    else {
      this.#sentTrailers = { ...codecFields[this.head.codec], ...this.#trailers };
      stream.respond(this.#sentTrailers, atOnce);
      this.#stopUpload();
    }
    // What the client still sends is read and dropped.
    stream.resume();
  }

  sendTrailers(): void {
    if (this.#stream.destroyed) return;
    this.#sentTrailers = this.#trailers ?? {};
    this.#stream.sendTrailers(this.#sentTrailers);
    this.#stopUpload();
  }

  /** RFC 9113 §8.1: asks a client that is still sending to stop. */
  #stopUpload(): void {
    const stream = this.#stream;
    if (this.#hasHalfClosed) return;
    setImmediate(() => {
      if (!this.#hasHalfClosed && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  abandonUnread(): void {
    if (this.#wasEnding && !this.#sentTrailers) {
      this.#isAbandoned = true;
      this.#status = undefined;
      this.#stream.close(constants.NGHTTP2_CANCEL);
    }
    this.#wasEnding = true;
  }

  reset(status?: SentEnd["status"]): void {
    this.#stopReading();
    this.#status = status;
    resetStream(this.#stream, status?.code === statusCode("RESOURCE_EXHAUSTED"));
  }

  lose(): void {
    const stream = this.#stream;
    stream[callOf] = undefined;
    this.#isLost = !stream.closed;
    this.#over();
    closeLost(stream);
  }

  #stopReading(): void {
    this.#isEnding = true;
    this.#body.clear();
    this.#count();
  }

  /** The stream is closed. Hundreds may be reset by one piece, so the calls end in the turns of all. */
  closed(): void {
    this.#whyClosed = this.#whyEnded();
    this.#stopReading();
    this.#endInTurn();
    this.head.connection.reading?.tookStep();
  }

  #endInTurn(): void {
    if (this.#share.isOver) this.#share.later();
    else this.#over();
  }

  #over(): void {
    this.#stopReading();
    this.#events?.onOver(this.#sentEnd());
    this.#events = undefined;
  }

  #sentEnd(): SentEnd {
    const wasReset = this.#stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM;
    const status = this.#sentTrailers || wasReset ? this.#status : undefined;
    return {
      headers: this.sentHeaders(),
      trailers: this.#sentTrailers && pairsOf(this.#sentTrailers),
      status,
      aborted: status ? undefined : (this.#whyClosed ?? this.#whyEnded()),
    };
  }

  #whyEnded(): string {
    if (this.#isLost) return "client left";
    return this.#isAbandoned ? "last bytes unread" : whyStreamClosed(this.#stream, this.#session);
  }
}

function onData(this: ServerHttp2Stream, chunk: Buffer): void {
  (this as CallStream)[callOf]?.take(chunk);
}

function onEnd(this: ServerHttp2Stream): void {
  // A stream that was reset ends, too, but that is not a half-close.
  if (this.rstCode === constants.NGHTTP2_NO_ERROR) (this as CallStream)[callOf]?.halfClose();
}

function onWantTrailers(this: ServerHttp2Stream): void {
  (this as CallStream)[callOf]?.sendTrailers();
}

function onClose(this: ServerHttp2Stream): void {
  const stream = this as CallStream;
  const call = stream[callOf];
  stream[callOf] = undefined;
  call?.closed();
}

/** Of other codecs nothing is known: they are taken for the one that is nearly always meant. */
const isJson = /^application\/grpc\+json\b/i;

export class Http2CallHead implements CallHead {
  readonly protocol = "grpc";
  readonly httpVersion = "2";
  readonly httpMethod: string;
  readonly codec: GrpcCodec;
  readonly path: string;
  readonly authority: string;
  readonly rawHeaders: readonly string[];
  readonly timeoutMs: number | undefined;
  readonly fault: StatusError | undefined;
  readonly acceptEncoding: string;
  readonly requestEncoding: string;
  readonly connectionCalls: number;
  readonly connection: GrpcConnection;
  #metadata: Metadata | undefined;

  constructor(headers: IncomingHttpHeaders, rawHeaders: readonly string[], connection: GrpcConnection, mostBytes: number) {
    const timeout = headers["grpc-timeout"];
    this.httpMethod = headers[":method"] ?? "";
    this.codec = isJson.test(headers["content-type"] ?? "") ? "json" : "proto";
    this.path = headers[":path"] ?? "";
    this.authority = headers[":authority"] ?? headers.host ?? "";
    this.rawHeaders = rawHeaders;
    this.timeoutMs = timeout === undefined ? undefined : grpcTimeoutMs(String(timeout));
    this.fault =
      metadataFault(rawHeaders, headerListBytes(rawHeaders), mostBytes) ??
      (timeout !== undefined && this.timeoutMs === undefined ? unreadableTimeout() : undefined);
    this.acceptEncoding = String(headers["grpc-accept-encoding"] ?? "");
    this.requestEncoding = String(headers["grpc-encoding"] ?? "identity");
    this.connectionCalls = ++connection.calls;
    this.connection = connection;
  }

  get metadata(): Metadata {
    this.#metadata ??= metadataOf(this.rawHeaders);
    return this.#metadata;
  }
}

const statusFields = (code: number, message: string): OutgoingHttpHeaders =>
  message === "" ? { "grpc-status": code } : { "grpc-status": code, "grpc-message": percentEncoded(message) };

function withMetadata(fields: OutgoingHttpHeaders, metadata: Metadata | undefined): OutgoingHttpHeaders {
  if (!metadata) return fields;
  const more = metadata.toHttp2Headers();
  for (const _ in more) return { ...fields, ...more };
  return fields;
}
