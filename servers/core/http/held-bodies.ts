import type { BudgetShare, SharedBudget } from "../limits/shared-budget.ts";
import { HttpRefusal } from "./http-refusal.ts";

interface HeldRequest {
  /** Of its body, in memory. */
  heldBytes: number;
}

type Refuse = (refusal: HttpRefusal) => void;

/** The bodies of one connection that are in memory: of requests that arrive, and of those that are not answered. */
export class HeldBodies {
  readonly #disconnect: (reason: string) => void;
  readonly #open: () => BudgetShare;
  /** Opened with the first body: most connections bring none. */
  #share: BudgetShare | undefined;
  #bytes = 0;
  #isOver = false;
  /** Refuses the body that is being read; a connection has one at a time. */
  #refuse: Refuse | undefined;

  constructor(held: SharedBudget, address: string, disconnect: (reason: string) => void) {
    this.#open = () => held.open(address, (excess) => this.#lose(excess));
    this.#disconnect = disconnect;
  }

  /** The body of a request is being read; `refuse` has to release it. */
  reading(refuse: Refuse): void {
    this.#refuse = refuse;
  }

  read(refuse: Refuse): void {
    if (this.#refuse === refuse) this.#refuse = undefined;
  }

  /** More of the request is in memory, until it is answered. */
  hold(request: HeldRequest, bytes: number): void {
    if (this.#isOver) return;
    request.heldBytes += bytes;
    this.#bytes += bytes;
    this.#share ??= this.#open();
    this.#share.add(bytes);
  }

  release(request: HeldRequest): void {
    if (request.heldBytes === 0 || this.#isOver) return;
    this.#bytes -= request.heldBytes;
    this.#share?.add(-request.heldBytes);
    request.heldBytes = 0;
  }

  /** The connection is closed. */
  close(): void {
    this.#isOver = true;
    this.#share?.add(-this.#bytes);
    this.#share?.close();
    this.#bytes = 0;
  }

  #lose(excess: number): void {
    const before = this.#bytes;
    this.#refuse?.(tooManyBytes());
    if (this.#bytes === 0 || before - this.#bytes >= excess) return;
    // Their handlers are at work on them.
    this.close();
    this.#disconnect(tooManyBytesReason);
  }
}

const tooManyBytesReason = "too many bytes of requests";

const tooManyBytes = () =>
  new HttpRefusal(503, "The requests of all clients take too much memory, and this one most of it", {
    headers: { "Retry-After": "1" },
    reason: tooManyBytesReason,
  });
