import type { ServerResponse } from "node:http";

/**
 * The answers of a connection that are not complete, in the order of their requests. A Set would have a new table for each dozen of them: a table that is out of
 * use and old still refers to the next one and to what was in it, which no collection of what is young takes away then.
 */
export class UnansweredResponses<Response extends ServerResponse = ServerResponse> implements Iterable<Response> {
  /** Longer than the number of answers: its memory is used again. */
  readonly #responses: (Response | undefined)[] = [];
  #count = 0;

  get size(): number {
    return this.#count;
  }

  add(response: Response): void {
    this.#responses[this.#count++] = response;
  }

  delete(response: Response): void {
    const responses = this.#responses;
    // Nearly always the first one.
    const index = responses.indexOf(response);
    if (index === -1) return;
    this.#count -= 1;
    for (let at = index; at < this.#count; at++) responses[at] = responses[at + 1];
    responses[this.#count] = undefined;
  }

  /** Those that there are now. */
  [Symbol.iterator](): Iterator<Response> {
    return (this.#responses.slice(0, this.#count) as Response[]).values();
  }

  /** What was written of all of them and has not left; so much of it has the socket. */
  unsentBytes(ofSocket: number): number {
    let bytes = ofSocket;
    for (let at = 0; at < this.#count; at++) {
      const response = this.#responses[at] as Response;
      // The answer that has the socket counts what waits there too.
      bytes += response.writableLength - (response.socket ? ofSocket : 0);
    }
    return bytes;
  }
}
