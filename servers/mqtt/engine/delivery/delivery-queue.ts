import type { Delivery } from "./delivery.ts";

/** Total load of all queues of the broker. */
export interface QueueLoad {
  bytes: number;
  /** Queues that are not empty. */
  queues: number;
}

/** Bytes of a waiting delivery in addition to its message. */
const deliveryBytes = 200;

/** First in, first out; a shift costs nothing however long it is. */
export class DeliveryQueue {
  private items: (Delivery | undefined)[] = [];
  private head = 0;
  /** Of the messages. */
  bytes = 0;
  private readonly load: QueueLoad;

  constructor(load: QueueLoad) {
    this.load = load;
  }

  get length(): number {
    return this.items.length - this.head;
  }

  /** In memory, as `load` counts it. */
  get heldBytes(): number {
    return this.bytes + this.length * deliveryBytes;
  }

  push(delivery: Delivery): void {
    if (this.length === 0) this.load.queues++;
    this.items.push(delivery);
    this.bytes += delivery.message.bytes;
    this.load.bytes += delivery.message.bytes + deliveryBytes;
  }

  shift(): Delivery | undefined {
    const delivery = this.items[this.head];
    if (!delivery) return undefined;
    this.items[this.head++] = undefined;
    if (this.length === 0) this.load.queues--;
    this.bytes -= delivery.message.bytes;
    this.load.bytes -= delivery.message.bytes + deliveryBytes;
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

  /** Its session is over: removes it from the total load. */
  clear(): void {
    while (this.shift());
  }
}
