import { IncomingMessage } from "node:http";

/** What follows the body of a request while it arrives. */
export interface ArrivingBody {
  /** Called with each piece that the request gets, before it has it; null is the end. */
  took(piece: Uint8Array | null): void;
}

/**
 * A request of a server with pipelines. What follows its body is in a field: with a method of its own in place of `push`, each request would have another shape
 * than those before, and V8 no fast code for any of them.
 */
export class PipelinedRequest extends IncomingMessage {
  /** Set by the pipeline of its connection. */
  arriving: ArrivingBody | undefined = undefined;

  override push(piece: unknown, encoding?: BufferEncoding): boolean {
    this.arriving?.took(piece as Uint8Array | null);
    return super.push(piece, encoding);
  }
}

/** Options for a server whose connections get a `Pipeline`, where it has no class for its requests. */
export const pipelinedRequests = { IncomingMessage: PipelinedRequest };
