import type { IncomingMessage } from "node:http";
import { StepBytes } from "../../turns/step-bytes.ts";
import type { ArrivingBody, PipelinedRequest } from "./pipelined-request.ts";

/** A body in chunks (RFC 9112 §7.1), while it arrives: every sixth byte may bring one, and for each Node makes a buffer and calls back. */
export class ChunkedBody implements ArrivingBody {
  readonly #request: PipelinedRequest & { readonly _dumped?: boolean };
  /** What Node's parser gets at once. */
  readonly step = new StepBytes();
  #hasData = false;

  constructor(request: PipelinedRequest) {
    this.#request = request;
  }

  took(): void {
    this.#hasData = true;
  }

  /** Whether data came since this was asked last. Behind the last of it trailers may come (§7.1.2). Of a request that was answered already, Node drops the data. */
  takeHasData(): boolean {
    const hadData = this.#hasData || this.#request._dumped === true;
    this.#hasData = false;
    return hadData;
  }

  get isComplete(): boolean {
    return this.#request.complete;
  }

  /** Its reader is behind, or has not begun. */
  get isUnread(): boolean {
    return this.#request.readableLength > 0;
  }
}

export const isChunked = (request: IncomingMessage): boolean => request.headers["transfer-encoding"] !== undefined;
