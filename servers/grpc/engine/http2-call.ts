import type { Metadata } from "@grpc/grpc-js";
import type { GrpcCodec } from "../../../contract/traffic/grpc.ts";
import { errorCodes } from "../../core/http2/frames.ts";
import type { AnswerFields } from "../../core/http2/hpack-encoder.ts";
import type { Http2Stream, StreamReader } from "../../core/http2/http2-stream.ts";
import type { RequestHead } from "../../core/http2/request-head.ts";
import type { WorkShare } from "../../core/turns/work-connection.ts";
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
import { resetStream, whyStreamClosed } from "./stream-end.ts";

export interface Http2CallLimits extends BodyLimits {
  /** Of all header fields. */
  readonly metadataBytes: number;
}

const answerFields = { ":status": 200, "grpc-accept-encoding": "identity,deflate,gzip" } as const;
const codecFields = {
  proto: { ...answerFields, "content-type": "application/grpc+proto" },
  json: { ...answerFields, "content-type": "application/grpc+json" },
} as const;
const okTrailers: AnswerFields = { "grpc-status": 0 };
const ok = { code: 0, message: "" } as const;
type Pairs = NonNullable<SentEnd["headers"]>;
/** Of the fields that nearly all answers have. */
const knownPairs = new Map<AnswerFields, Pairs>(
  [codecFields.proto, codecFields.json, okTrailers].map((fields) => [fields, fieldPairs(fields)]),
);
const pairsOf = (fields: AnswerFields): Pairs => knownPairs.get(fields) ?? fieldPairs(fields);

/** A call of gRPC itself: an HTTP/2 stream whose body is messages with prefixes, and whose trailers have the status. */
export class Http2Call implements StartableTransport, StreamReader {
  readonly head: CallHead;
  readonly #stream: Http2Stream;
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
  #sentHead: AnswerFields | undefined;
  #trailers: AnswerFields | undefined;
  #status: SentEnd["status"];
  #wasEnding = false;
  #isAbandoned = false;
  /** Once the stream is closed. */
  #whyClosed: string | undefined;

  constructor(stream: Http2Stream, head: RequestHead, connection: GrpcConnection, limits: Http2CallLimits) {
    this.#stream = stream;
    this.#limits = limits;
    this.#body = new FramedBody(limits);
    this.head = new Http2CallHead(head, connection, limits.metadataBytes);
    this.#share = connection.work.join(() => this.#goOn());
  }

  start(events: CallEvents): void {
    this.#events = events;
    this.#stream.reader = this;
  }

  read(): void {
    this.#isWanted = true;
    this.#deliver();
  }

  onData(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#body.push(chunk);
    this.#deliver();
    this.#body.keepRestOnly();
    this.#count();
  }

  onEnd(): void {
    this.#hasHalfClosed = true;
    this.#deliver();
    this.#count();
  }

  #count(): void {
    const waiting = this.#hasHalfClosed ? 0 : this.#messageBytes;
    const bytes = this.#isEnding ? 0 : this.#body.heldBytes + this.#inflatedBytes + waiting;
    const more = bytes - this.receivedBytes;
    this.receivedBytes = bytes;
    this.head.connection.shares.memory.add(more);
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
      stream.resume();
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
    if (this.#isEnding || stream.isClosed) return;
    const fields = codecFields[this.head.codec];
    this.#sentHead = withMetadata(coding === "identity" ? fields : { ...fields, "grpc-encoding": coding }, headers);
    stream.respond(this.#sentHead, this.#sentHead === fields);
  }

  sentHeaders(): SentEnd["headers"] {
    return this.#sentHead && pairsOf(this.#sentHead);
  }

  sendFrame(frame: Buffer, onWritten: () => void): void {
    const stream = this.#stream;
    if (this.#isEnding || stream.isClosed) return;
    stream.write(frame, onWritten);
  }

  end({ code, message, trailers }: CallEnd): void {
    const stream = this.#stream;
    if (this.#isEnding) return;
    this.#stopReading();
    if (stream.isClosed) return;
    const isOk = code === 0 && message === "";
    this.#trailers = withMetadata(isOk ? okTrailers : statusFields(code, message), trailers);
    this.#status = isOk ? ok : { code, message };
    if (stream.hasAnswered) stream.end(this.#trailers, this.#trailers === okTrailers);
    else {
      this.#trailers = { ...codecFields[this.head.codec], ...this.#trailers };
      stream.respond(this.#trailers);
      stream.end();
    }
  }

  abandonUnread(): void {
    if (this.#wasEnding && !this.#stream.hasSentEnd) {
      this.#isAbandoned = true;
      this.#status = undefined;
      this.#stream.reset(errorCodes.cancel);
    }
    this.#wasEnding = true;
  }

  reset(status?: SentEnd["status"]): void {
    this.#stopReading();
    this.#status = status;
    resetStream(this.#stream, status?.code === statusCode("RESOURCE_EXHAUSTED"));
  }

  #stopReading(): void {
    this.#isEnding = true;
    this.#body.clear();
    this.#count();
  }

  /** The stream is closed. Hundreds may be reset by one piece, so the calls end in the turns of all. */
  onClose(): void {
    this.#whyClosed = this.#isAbandoned ? "last bytes unread" : whyStreamClosed(this.#stream);
    this.#stopReading();
    this.#endInTurn();
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
    const { hasSentEnd, closeCode } = this.#stream;
    const status = hasSentEnd || closeCode === errorCodes.enhanceYourCalm ? this.#status : undefined;
    return {
      headers: this.sentHeaders(),
      trailers: hasSentEnd && this.#trailers ? pairsOf(this.#trailers) : undefined,
      status,
      aborted: status ? undefined : this.#whyClosed,
    };
  }
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

  constructor(head: RequestHead, connection: GrpcConnection, mostBytes: number) {
    const { rawHeaders } = head;
    const timeout = head.field("grpc-timeout");
    this.httpMethod = head.field(":method") ?? "";
    this.codec = isJson.test(head.field("content-type") ?? "") ? "json" : "proto";
    this.path = head.field(":path") ?? "";
    this.authority = head.field(":authority") ?? head.field("host") ?? "";
    this.rawHeaders = rawHeaders;
    this.timeoutMs = timeout === undefined ? undefined : grpcTimeoutMs(timeout);
    this.fault =
      metadataFault(rawHeaders, headerListBytes(rawHeaders), mostBytes) ??
      (timeout !== undefined && this.timeoutMs === undefined ? unreadableTimeout() : undefined);
    this.acceptEncoding = head.field("grpc-accept-encoding") ?? "";
    this.requestEncoding = head.field("grpc-encoding") ?? "identity";
    this.connectionCalls = ++connection.calls;
    this.connection = connection;
  }

  get metadata(): Metadata {
    this.#metadata ??= metadataOf(this.rawHeaders);
    return this.#metadata;
  }
}

const statusFields = (code: number, message: string): AnswerFields =>
  message === "" ? { "grpc-status": code } : { "grpc-status": code, "grpc-message": percentEncoded(message) };

function withMetadata(fields: AnswerFields, metadata: Metadata | undefined): AnswerFields {
  if (!metadata) return fields;
  const more = metadata.toHttp2Headers();
  for (const _ in more) return { ...fields, ...more };
  return fields;
}
