/** Why something that was held back never arrives. */
export type LossReason = "sender left" | "receiver left";

/** What becomes of the deliveries of one signal that faults hold back. */
export class HeldDeliveries {
  #waiting = 0;
  #lost = 0;
  #reason: LossReason | undefined;
  #told: readonly (() => void)[] = [];

  get isOver(): boolean {
    return this.#waiting === 0;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** So many never arrive. */
  get lost(): number {
    return this.#lost;
  }

  /** That of the sender counts before those of receivers. */
  get reason(): LossReason | undefined {
    return this.#reason;
  }

  hold(): void {
    this.#waiting++;
  }

  /** One has arrived, or is lost. */
  settle(loss: LossReason | undefined): void {
    this.#waiting--;
    if (loss) {
      this.#lost++;
      if (this.#reason !== "sender left") this.#reason = loss;
    }
    if (this.isOver) for (const tell of this.#told) tell();
  }

  /** Where some still wait. */
  whenOver(tell: () => void): void {
    this.#told = [...this.#told, tell];
  }
}
