import type { Metadata } from "@grpc/grpc-js";
import type { CallEnd } from "../engine/call-transport.ts";
import type { MessageCoding } from "../engine/message-coding.ts";
import { prefixBytes } from "../engine/message-type.ts";
import { statusCode } from "../engine/status.ts";
import { type ConnectErrors, connectErrorOf, httpStatusOf } from "./connect-error.ts";
import { WebCall, type WebCallOptions, type WrittenEnd } from "./web-call.ts";

/** A unary call of Connect: the answer is one message without a prefix, or an error as JSON with the HTTP status of its code. */
export class ConnectUnaryCall extends WebCall {
  override readonly answersAtEnd = true;
  readonly #errors: ConnectErrors;
  #headers: Metadata | undefined;
  #coding: MessageCoding = "identity";
  /** Its frame, and what is to be called when the client has it. */
  #answer: { readonly frame: Buffer; readonly onWritten: () => void } | undefined;

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
    if (this.#answer) process.nextTick(onWritten);
    else this.#answer = { frame, onWritten };
  }

  protected override writeEnd(end: CallEnd): WrittenEnd {
    const written = end.code === 0 && !this.#answer ? { ...end, code: statusCode("INTERNAL"), message: "the method has no answer" } : end;
    const { error, metadata } = connectErrorOf(written, this.#errors);
    const answer = error ? undefined : this.#answer;
    const body = answer ? answer.frame.subarray(prefixBytes) : Buffer.from(JSON.stringify(error));
    this.respond(httpStatusOf(written.code), {
      ...this.#headers?.toHttp2Headers(),
      ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`trailer-${name}`, value])),
      "content-type": `application/${error ? "json" : this.head.codec}`,
      ...(answer?.frame[0] === 1 && { "content-encoding": this.#coding }),
      "content-length": String(body.length),
    } as Record<string, string>);
    this.exchange.finish(body, answer?.onWritten);
    return { code: written.code, message: written.message };
  }
}
