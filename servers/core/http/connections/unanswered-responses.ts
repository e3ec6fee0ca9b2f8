import type { ServerResponse } from "node:http";

/** The row of its exchange, where there is one. */
interface Response extends ServerResponse {
  readonly entry?: { aborted: string | undefined } | undefined;
}

/**
 * The answers of a connection that are not complete, in the order of their requests. A Set would have a new table for each dozen of them: a table that is out of
 * use and old still refers to the next one and to what was in it, which no collection of what is young takes away then.
 */
export class UnansweredResponses implements Iterable<ServerResponse> {
  /** Longer than the number of answers: its memory is used again. */
  readonly #responses: (Response | undefined)[] = [];
  #count = 0;

  get size(): number {
    return this.#count;
  }

  add(response: ServerResponse): void {
    this.#responses[this.#count++] = response;
  }

  delete(response: ServerResponse): void {
    const responses = this.#responses;
    // Nearly always the first one.
    const index = responses.indexOf(response);
    if (index === -1) return;
    this.#count -= 1;
    for (let at = index; at < this.#count; at++) responses[at] = responses[at + 1];
    responses[this.#count] = undefined;
  }

  /** Those that there are now. */
  [Symbol.iterator](): Iterator<ServerResponse> {
    return (this.#responses.slice(0, this.#count) as Response[]).values();
  }

  /** Their rows say why they end early. */
  abort(reason: string): void {
    for (const response of this) {
      const { entry } = response as Response;
      if (entry) entry.aborted ??= reason;
    }
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
