import type { Delivery } from "./delivery.ts";

/** First in, first out; a shift costs nothing however long it is. */
export class DeliveryQueue {
  private items: (Delivery | undefined)[] = [];
  private head = 0;
  bytes = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  push(delivery: Delivery): void {
    this.items.push(delivery);
    this.bytes += delivery.message.bytes;
  }

  shift(): Delivery | undefined {
    const delivery = this.items[this.head];
    if (!delivery) return undefined;
    this.items[this.head++] = undefined;
    this.bytes -= delivery.message.bytes;
    if (this.head > 1_024 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return delivery;
  }

  *[Symbol.iterator](): Iterator<Delivery> {
    for (let index = this.head; index < this.items.length; index++) yield this.items[index] as Delivery;
  }

  /** Takes out those that the test picks, in order. */
  take(picks: (delivery: Delivery) => boolean): Delivery[] {
    const taken: Delivery[] = [];
    const kept: Delivery[] = [];
    for (let delivery = this.shift(); delivery; delivery = this.shift()) (picks(delivery) ? taken : kept).push(delivery);
    for (const delivery of kept) this.push(delivery);
    return taken;
  }
}
