import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { Metadata, type ServerInterceptingCallInterface } from "@grpc/grpc-js";
import type { CallEnd, CallEvents, CallHead, CallTransport, SentEnd } from "./call-transport.ts";
import type { GrpcConnection } from "./connections.ts";
import { replaceCoder } from "./grpc-js-access.ts";
import { inflateMessage } from "./message-coding.ts";
import { prefixBytes } from "./message-type.ts";
import { StatusError } from "./status.ts";

/** An HTTP/2 stream as it was opened. */
export interface OpenedStream {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly timeout: string | undefined;
}

interface Inflated {
  readonly inflated: Buffer;
  readonly wireBytes: number;
}

/** A call of grpc-js, at the level of its interceptors: messages are bytes, and nothing is buffered but by HTTP/2. */
export class GrpcJsCall implements CallTransport {
  readonly head: CallHead;
  readonly #call: ServerInterceptingCallInterface;
  readonly #stream: ServerHttp2Stream;
  /** A stream that is closed has none. */
  readonly #session: Http2Session | undefined;
  #events: CallEvents | undefined;
  #isOver = false;

  constructor(call: ServerInterceptingCallInterface, opened: OpenedStream, connection: GrpcConnection, largestMessage: number) {
    const { stream, headers, rawHeaders, timeout } = opened;
    this.#call = call;
    this.#stream = stream;
    this.#session = stream.session;
    let metadata: Metadata | undefined;
    this.head = {
      protocol: "grpc",
      path: headers[":path"] as string,
      authority: (headers[":authority"] as string | undefined) ?? headers.host ?? "",
      rawHeaders,
      get metadata() {
        metadata ??= metadataOf(rawHeaders);
        return metadata;
      },
      timeoutMs: timeout === undefined ? undefined : timeoutMs(timeout),
      acceptEncoding: String(headers["grpc-accept-encoding"] ?? ""),
      requestEncoding: String(headers["grpc-encoding"] ?? "identity"),
      connectionCalls: ++connection.calls,
      connection,
    };
    replaceCoder(call, {
      encode: (frame) => frame,
      decode: (message, coding) => (message[0] === 1 ? inflated(message, coding, largestMessage) : message),
    });
  }

  /** To be called once; the events come later. */
  start(events: CallEvents): void {
    this.#events = events;
    let hasBegun = false;
    this.#call.start({
      onReceiveMetadata() {
        hasBegun = true;
      },
      onReceiveMessage: (message: Buffer | Inflated) => {
        if (Buffer.isBuffer(message)) {
          const bytes = message.subarray(prefixBytes);
          events.onMessage({ bytes, wireBytes: bytes.length, compressed: false });
        } else events.onMessage({ bytes: message.inflated, wireBytes: message.wireBytes, compressed: true });
      },
      onReceiveHalfClose: () => {
        // A stream that was reset ends, too: that is no half-close.
        if (this.#stream.rstCode === 0) events.onHalfClose();
      },
      onCancel: () => this.#over(),
    });
    // The stream was closed before the call began: nothing else says so.
    if (!hasBegun) this.#over();
  }

  read(): void {
    this.#call.startRead();
  }

  sendHeaders(headers: Metadata): void {
    this.#call.sendMetadata(headers);
  }

  sendFrame(frame: Buffer, onWritten: () => void): void {
    this.#call.sendMessage(frame, onWritten);
  }

  end({ code, message, trailers }: CallEnd): void {
    this.#call.sendStatus({ code, details: message, metadata: trailers });
  }

  reset(): void {
    // RFC 9113 §7: INTERNAL_ERROR.
    this.#stream.close(2);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events?.onOver(sentEnd(this.#stream, this.#session?.destroyed === false));
  }
}

const inflated = async (message: Buffer, coding: string, limit: number): Promise<Inflated> => {
  const content = message.subarray(prefixBytes);
  try {
    return { inflated: await inflateMessage(content, coding, limit), wireBytes: content.length };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    // grpc-js ends the call with what it is rejected with.
    throw { code: error.code, details: error.message };
  }
};

function metadataOf(rawHeaders: readonly string[]): Metadata {
  const metadata = new Metadata();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    if (name.startsWith(":") || /^(?:grpc-(?:timeout|encoding|accept-encoding)|te|content-type|accept-encoding)$/.test(name)) continue;
    try {
      if (!name.endsWith("-bin")) metadata.add(name, value);
      // Several values may be in one field.
      else for (const one of value.split(",")) metadata.add(name, Buffer.from(one, "base64"));
    } catch {
      // HTTP/2 lets through what gRPC does not: it stays in the fields as they came.
    }
  }
  return metadata;
}

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** NaN for what is no `grpc-timeout`. */
function timeoutMs(text: string): number {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  return digits === undefined ? Number.NaN : Number(digits) * (unitMs[unit] ?? 0);
}

function sentEnd(stream: ServerHttp2Stream, isConnected: boolean): SentEnd {
  const { sentHeaders, sentTrailers } = stream;
  const isTrailersOnly = sentHeaders?.["grpc-status"] !== undefined;
  const trailers = isTrailersOnly ? sentHeaders : sentTrailers;
  const code = trailers?.["grpc-status"];
  return {
    headers: isTrailersOnly || !sentHeaders ? undefined : pairsOf(sentHeaders),
    trailers: trailers && pairsOf(trailers),
    status: code === undefined ? undefined : { code: Number(code), message: decoded(String(trailers?.["grpc-message"] ?? "")) },
    aborted: code === undefined ? whyClosed(stream, isConnected) : undefined,
  };
}

/** RFC 9113 §7: what the code of a closed stream says. Node closes the streams of a lost connection with the one of a cancellation. */
function whyClosed({ rstCode }: ServerHttp2Stream, isConnected: boolean): string {
  if (!isConnected) return "client left";
  if (rstCode === 8) return "client cancelled";
  return rstCode === 2 ? "reset" : `stream closed (${rstCode})`;
}

const pairsOf = (fields: object): [string, string][] =>
  Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  );

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
