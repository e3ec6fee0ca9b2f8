import type { Metadata } from "@grpc/grpc-js";
import type { CallEnd } from "../engine/call-transport.ts";
import type { MessageCoding } from "../engine/message-coding.ts";
import { prefixBytes } from "../engine/message-type.ts";
import { statusCode } from "../engine/status.ts";
import { type ConnectErrors, connectErrorOf, httpStatusOf } from "./connect-error.ts";
import { WebCall, type WebCallOptions, type WrittenEnd } from "./web-call.ts";

/** A unary call of Connect: the answer is one message without a prefix, or an error as JSON with the HTTP status of its code. */
export class ConnectUnaryCall extends WebCall {
  readonly #errors: ConnectErrors;
  #headers: Metadata | undefined;
  #coding: MessageCoding = "identity";
  #answer: Buffer | undefined;

  constructor(errors: ConnectErrors, options: WebCallOptions) {
    super(options);
    this.#errors = errors;
  }

  /** Sent at the end, since the HTTP status depends on how the call ends. */
  protected override writeHead(headers: Metadata | undefined, coding: MessageCoding): void {
    this.#headers = headers;
    this.#coding = coding;
  }

  protected override writeFrame(frame: Buffer, onWritten: () => void): void {
    this.#answer ??= frame;
    process.nextTick(onWritten);
  }

  protected override writeEnd(end: CallEnd): WrittenEnd {
    const written = end.code === 0 && !this.#answer ? { ...end, code: statusCode("INTERNAL"), message: "the method has no answer" } : end;
    const { error, metadata } = connectErrorOf(written, this.#errors);
    const isCoded = !error && this.#answer?.[0] === 1;
    const body = error ? Buffer.from(JSON.stringify(error)) : (this.#answer as Buffer).subarray(prefixBytes);
    this.respond(httpStatusOf(written.code), {
      ...this.#headers?.toHttp2Headers(),
      ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`trailer-${name}`, value])),
      "content-type": `application/${error ? "json" : this.head.codec}`,
      ...(isCoded && { "content-encoding": this.#coding }),
      "content-length": String(body.length),
    } as Record<string, string>);
    this.exchange.finish(body);
    return { code: written.code, message: written.message };
  }
}
