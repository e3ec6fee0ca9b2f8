import type { BudgetShare, SharedBudget } from "../../limits/shared-budget.ts";
import { HttpRefusal } from "../messages/http-refusal.ts";
import { stringBytes } from "./arriving-head.ts";
import type { PipelineMemory } from "./pipeline-limits.ts";

interface HeldRequest {
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  /** Of its head and body, in memory. */
  heldBytes: number;
  /** Of these, of its body: they came, and its reader has not begun or is behind. */
  waitingBytes: number;
  /** Its body was dropped before it was read. */
  refusal: HttpRefusal | undefined;
  resume(): unknown;
}

/** What a request takes with its answer and its row, besides what it has sent. */
const requestBytes = 16 << 10;

/** Reads the body of a request. */
interface Reading {
  refuse(why: HttpRefusal): void;
}

/** The requests of one connection that are in memory, as they arrive and until they are answered. */
export class HeldRequests implements PipelineMemory {
  readonly #budget: SharedBudget;
  readonly #disconnect: (reason: string) => void;
  readonly #open: () => BudgetShare;
  /** Opened with the first request: a connection may bring none. */
  #share: BudgetShare | undefined;
  #bytes = 0;
  #isOver = false;
  /** Refuses the body that is being read; a connection has one at a time. */
  #reading: Reading | undefined;
  /** Some of its body waits for its reader. */
  #waiting: HeldRequest | undefined;

  constructor(held: SharedBudget, address: string, disconnect: (reason: string) => void) {
    this.#budget = held;
    this.#open = () => held.open(address, (excess) => this.#lose(excess));
    this.#disconnect = disconnect;
  }

  /** The body of a request is being read; whoever reads has to release it where it is refused. */
  reading(reading: Reading): void {
    this.#reading = reading;
  }

  /** It is being read no more. */
  read(reading: Reading): void {
    if (this.#reading === reading) this.#reading = undefined;
  }

  /** So many bytes of the request's body wait for its reader. */
  waiting(request: HeldRequest, bytes: number): void {
    if (this.#isOver || request.refusal) return;
    const more = bytes - request.waitingBytes;
    request.waitingBytes = bytes;
    this.#waiting = bytes > 0 ? request : undefined;
    this.hold(request, more);
  }

  /** The head of a request is in memory, until it is answered. */
  begin(request: HeldRequest): void {
    let bytes = requestBytes + (request.url?.length ?? 0);
    for (const { length } of request.rawHeaders) bytes += length + stringBytes;
    this.hold(request, bytes);
  }

  /** The same for more of its body. */
  hold(request: HeldRequest, bytes: number): void {
    if (this.#isOver) return;
    request.heldBytes += bytes;
    this.#add(bytes);
  }

  get isScarce(): boolean {
    return this.#budget.isScarce;
  }

  unparsed(bytes: number): void {
    if (!this.#isOver) this.#add(bytes);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#share ??= this.#open();
    this.#share.add(bytes);
  }

  /** Of what is held, the head is left. */
  releaseBody(request: HeldRequest): void {
    this.release(request);
    this.begin(request);
  }

  release(request: HeldRequest): void {
    if (request.heldBytes === 0 || this.#isOver) return;
    this.#bytes -= request.heldBytes;
    this.#share?.add(-request.heldBytes);
    request.heldBytes = 0;
    request.waitingBytes = 0;
    if (this.#waiting === request) this.#waiting = undefined;
  }

  /** The connection is closed. */
  close(): void {
    this.#isOver = true;
    this.#share?.add(-this.#bytes);
    this.#share?.close();
    this.#bytes = 0;
  }

  #drop(request: HeldRequest): void {
    request.refusal = tooManyBytes();
    this.releaseBody(request);
    request.resume();
  }

  #lose(excess: number): void {
    const before = this.#bytes;
    this.#reading?.refuse(tooManyBytes());
    if (this.#waiting) this.#drop(this.#waiting);
    if (this.#bytes === 0 || before - this.#bytes >= excess) return;
    // Their handlers are at work on them, and the connection closes in its turn.
    this.#share?.leave();
    this.#disconnect(tooManyBytesReason);
  }
}

const tooManyBytesReason = "too many bytes of requests";

const tooManyBytes = () =>
  new HttpRefusal(503, "The requests of all clients take too much memory, and this one most of it", {
    headers: { "Retry-After": "1" },
    reason: tooManyBytesReason,
  });
