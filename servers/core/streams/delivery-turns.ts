/** Most deliveries in one turn of the event loop, of all lanes. Large messages end a slice earlier. */
export const sliceDeliveries = 128;
const sliceMs = 2;
/** Of one lane, before others have their share of the slice. */
const deliveriesInARow = 16;
/** Where more waits, as much is delivered at once: not all senders can be held. */
const mostWaitingBytes = 64 << 20;

/** What is for many receivers, one message after the other. */
export interface DeliveryLane {
  readonly isEmpty: boolean;
  /** Delivers the oldest message to the next of its receivers. False where there is none any more: then it no longer waits. */
  step(): boolean;
}

/** Delivers what is for many in slices, so that nobody else waits for it. Lanes take turns. */
export class DeliveryTurns {
  readonly #lanes = new Set<DeliveryLane>();
  /** Of the present turn of the event loop. */
  #delivered = 0;
  #spentMs = 0;
  #turn: NodeJS.Immediate | undefined;
  #waitingBytes = 0;

  /** A message was added to the lane: delivers as much as there is time for now, and the rest in later turns. True if there is a rest. */
  run(lane: DeliveryLane): boolean {
    if (!this.#lanes.has(lane)) this.#deliver(lane, sliceDeliveries);
    this.#turn ??= setImmediate(() => this.#nextTurn());
    if (!lane.isEmpty) this.#lanes.add(lane);
    return !lane.isEmpty;
  }

  /** So much memory waits in the lane. */
  wait(lane: DeliveryLane, bytes: number): void {
    this.#waitingBytes += bytes;
    while (this.#waitingBytes > mostWaitingBytes && !lane.isEmpty) lane.step();
  }

  waitNoMore(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  #nextTurn(): void {
    this.#turn = undefined;
    this.#delivered = 0;
    this.#spentMs = 0;
    for (const lane of this.#lanes) {
      if (!this.#hasTime()) break;
      this.#deliver(lane, deliveriesInARow);
      // Behind the others, and in this loop again when all have had their share.
      this.#lanes.delete(lane);
      if (!lane.isEmpty) this.#lanes.add(lane);
    }
    if (this.#lanes.size > 0) this.#turn ??= setImmediate(() => this.#nextTurn());
  }

  #hasTime(): boolean {
    return this.#delivered < sliceDeliveries && this.#spentMs < sliceMs;
  }

  #deliver(lane: DeliveryLane, most: number): void {
    const start = performance.now() - this.#spentMs;
    for (let count = 0; count < most && !lane.isEmpty && this.#hasTime(); count++) {
      if (lane.step()) this.#delivered++;
      this.#spentMs = performance.now() - start;
    }
  }

  /** What waits is delivered to nobody. */
  close(): void {
    clearImmediate(this.#turn);
    this.#lanes.clear();
  }
}
