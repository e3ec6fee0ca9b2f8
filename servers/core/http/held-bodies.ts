import type { ByteHolder, HeldBytes } from "../limits/held-bytes.ts";
import { HttpRefusal } from "./http-refusal.ts";

interface HeldRequest {
  /** Of its body, in memory. */
  heldBytes: number;
}

/** The bodies of one connection that are in memory: of requests that arrive, and of those that are not answered. */
export class HeldBodies implements ByteHolder {
  readonly #held: HeldBytes;
  readonly #disconnect: (reason: string) => void;
  #bytes = 0;
  /** Refuses the body that is being read; a connection has one at a time. */
  #refuse: ((refusal: HttpRefusal) => void) | undefined;

  constructor(held: HeldBytes, disconnect: (reason: string) => void) {
    this.#held = held;
    this.#disconnect = disconnect;
  }

  /** The body of a request is being read; `refuse` has to release it. */
  reading(refuse: (refusal: HttpRefusal) => void): void {
    this.#refuse = refuse;
  }

  read(refuse: (refusal: HttpRefusal) => void): void {
    if (this.#refuse === refuse) this.#refuse = undefined;
  }

  /** More of the request is in memory, until it is answered. */
  hold(request: HeldRequest, bytes: number): void {
    request.heldBytes += bytes;
    this.#bytes += bytes;
    this.#held.count(this, this.#bytes);
  }

  release(request: HeldRequest): void {
    if (request.heldBytes === 0) return;
    this.#bytes -= request.heldBytes;
    request.heldBytes = 0;
    this.#held.count(this, this.#bytes);
  }

  giveWay(): void {
    const refuse = this.#refuse;
    this.#refuse = undefined;
    if (refuse) refuse(tooManyBytes(this.#held.mostBytes));
    // Their handlers are at work on them.
    else this.#disconnect("too many bytes of requests");
  }
}

const tooManyBytes = (mostBytes: number) =>
  new HttpRefusal(503, `The requests of all clients have more than ${mostBytes} bytes, and this connection's have most`, {
    headers: { "Retry-After": "1" },
    reason: "too many bytes of requests",
  });
