import type { Metadata } from "@grpc/grpc-js";
import type { GrpcCodec } from "../../../contract/traffic/grpc.ts";
import { errorCodes } from "../../core/http2/frames.ts";
import type { AnswerFields } from "../../core/http2/hpack-encoder.ts";
import type { Http2Stream, StreamReader } from "../../core/http2/http2-stream.ts";
import type { RequestHead } from "../../core/http2/request-head.ts";
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
import { type BodyLimits, FramedBody } from "./framed-body.ts";
import type { StartableTransport } from "./listener-calls.ts";
import type { MessageCoding } from "./message-coding.ts";
import { RequestMessages } from "./request-messages.ts";
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
  readonly answersAtEnd = false;
  readonly head: CallHead;
  readonly #stream: Http2Stream;
  readonly #messages: RequestMessages;
  #events: CallEvents | undefined;
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
    this.head = new Http2CallHead(head, connection, limits.metadataBytes);
    const { largestMessage } = limits;
    this.#messages = new RequestMessages({ head: this.head, body: new FramedBody(limits), largestMessage, source: stream });
  }

  start(events: CallEvents): void {
    this.#events = events;
    this.#messages.start(events);
    this.#stream.reader = this;
  }

  read(): void {
    this.#messages.read();
  }

  get receivedBytes(): number {
    return this.#messages.receivedBytes;
  }

  onData(chunk: Buffer): void {
    this.#messages.push(chunk);
  }

  onEnd(): void {
    this.#messages.end();
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
    this.#messages.stop();
  }

  onClose(): void {
    this.#whyClosed = this.#isAbandoned ? "last bytes unread" : whyStreamClosed(this.#stream);
    this.#isEnding = true;
    this.#messages.close(() => {
      this.#events?.onOver(this.#sentEnd());
      this.#events = undefined;
    });
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
