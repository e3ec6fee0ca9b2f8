import type { Metadata } from "@grpc/grpc-js";
import { fieldPairs, percentEncoded } from "../engine/call-metadata.ts";
import type { CallEnd } from "../engine/call-transport.ts";
import type { MessageCoding } from "../engine/message-coding.ts";
import { prefixBytes } from "../engine/message-type.ts";
import { type ConnectErrors, connectErrorOf } from "./connect-error.ts";
import { WebCall, type WebCallOptions, type WrittenEnd } from "./web-call.ts";

/** The differences between gRPC-Web and Connect's streams. In both the answer is frames, and the last frame has the status. */
export interface FramedProtocol {
  readonly contentType: string;
  readonly codingField: "grpc-encoding" | "connect-content-encoding";
  /** The answer is base64. */
  readonly isText: boolean;
  /** The last frame. */
  readonly end: (end: CallEnd) => { readonly frame: Buffer; readonly trailers: WrittenEnd["trailers"] };
}

export class FramedCall extends WebCall {
  readonly #protocol: FramedProtocol;

  constructor(protocol: FramedProtocol, options: WebCallOptions) {
    super(options);
    this.#protocol = protocol;
  }

  protected override writeHead(headers: Metadata | undefined, coding: MessageCoding): void {
    const { contentType, codingField } = this.#protocol;
    this.respond(200, {
      ...headers?.toHttp2Headers(),
      "content-type": contentType,
      ...(coding !== "identity" && { [codingField]: coding }),
    } as Record<string, string>);
    // In one packet with the first message, if that comes at once.
    process.nextTick(() => this.exchange.flush());
  }

  protected override writeFrame(frame: Buffer, onWritten: () => void): void {
    this.exchange.write(this.#bytes(frame), onWritten);
  }

  protected override writeEnd(end: CallEnd): WrittenEnd {
    if (!this.exchange.answered) this.respond(200, { "content-type": this.#protocol.contentType });
    const { frame, trailers } = this.#protocol.end(end);
    this.exchange.finish(this.#bytes(frame));
    return { code: end.code, message: end.message, ...(trailers && { trailers }) };
  }

  #bytes(frame: Buffer): Buffer {
    return this.#protocol.isText ? Buffer.from(frame.toString("base64"), "latin1") : frame;
  }
}

/** The flag of gRPC-Web's trailers, and of Connect's end of a stream. */
const trailersFlag = 0x80;
const endStreamFlag = 0x02;

export const grpcWebProtocol = (codec: "proto" | "json", isText: boolean): FramedProtocol => ({
  contentType: `application/grpc-web${isText ? "-text" : ""}+${codec}`,
  codingField: "grpc-encoding",
  isText,
  end({ code, message, trailers }) {
    const pairs: [string, string][] = [["grpc-status", String(code)]];
    if (message !== "") pairs.push(["grpc-message", percentEncoded(message)]);
    pairs.push(...fieldPairs(trailers?.toHttp2Headers() ?? {}));
    const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return { frame: flaggedFrame(trailersFlag, lines), trailers: pairs };
  },
});

export const connectStreamProtocol = (codec: "proto" | "json", errors: ConnectErrors): FramedProtocol => ({
  contentType: `application/connect+${codec}`,
  codingField: "connect-content-encoding",
  isText: false,
  end(end) {
    const { error, metadata } = connectErrorOf(end, errors);
    const pairs = fieldPairs(metadata);
    const values = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, [value].flat().map(String)]));
    const text = JSON.stringify({ ...(error && { error }), ...(pairs.length > 0 && { metadata: values }) });
    return { frame: flaggedFrame(endStreamFlag, text), trailers: pairs };
  },
});

function flaggedFrame(flags: number, text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(prefixBytes + length);
  frame[0] = flags;
  frame.writeUInt32BE(length, 1);
  frame.write(text, prefixBytes);
  return frame;
}
