const cycle = 2 ** 16;

/** How much a sequence number is ahead of another one, or behind it where this is negative. */
const ahead = (sequence: number, of: number): number => ((sequence - of + cycle / 2) & (cycle - 1)) - cycle / 2;

/** The sequence numbers of the packets that one reader was sent, on a line without cycles. */
export class SentSequences {
  #first: number | undefined;
  #last = 0;
  /** Of the packetizer, behind the last ones. */
  #position = 0;
  #isInterrupted = false;

  /** Of packets that follow each other; `position` is how many were made before them, sent or not. */
  add(sequence: number, packets: number, position: number): void {
    // Neither side can tell by its sequence numbers how many there were: receivers begin anew, or take what follows for late.
    if (this.#first !== undefined && position - this.#position + 1 >= cycle / 2) this.#isInterrupted = true;
    this.#position = Math.max(this.#position, position + packets);
    const first = this.#first === undefined ? sequence : this.#of(sequence);
    this.#first ??= first;
    this.#last = Math.max(this.#last, first + packets - 1);
  }

  /**
   * How many packets a reader should have that got this one last, with all that it was not sent in between. Receivers count the cycles from what they like.
   * Undefined once half a cycle was not sent in one, such as in a long pause.
   */
  upTo(sequence: number): number | undefined {
    if (this.#isInterrupted) return undefined;
    return this.#first === undefined ? 0 : Math.max(0, this.#of(sequence) - this.#first + 1);
  }

  #of(sequence: number): number {
    return this.#last + ahead(sequence & (cycle - 1), this.#last & (cycle - 1));
  }
}
