import type { Delivery } from "./delivery.ts";

/** Total load of all queues of the broker. */
export interface QueueLoad {
  messages: number;
  bytes: number;
  /** Queues that are not empty. */
  queues: number;
}

/** Memory of a waiting delivery in addition to its message. */
const deliveryBytes = 200;

/** First in, first out; `shift` takes constant time. */
export class DeliveryQueue {
  private items: (Delivery | undefined)[] = [];
  private head = 0;
  /** Bytes of the messages. */
  bytes = 0;
  private readonly load: QueueLoad;

  constructor(load: QueueLoad) {
    this.load = load;
  }

  get length(): number {
    return this.items.length - this.head;
  }

  /** Memory held, as counted in `load`. */
  get heldBytes(): number {
    return this.bytes + this.length * deliveryBytes;
  }

  push(delivery: Delivery): void {
    if (this.length === 0) this.load.queues++;
    this.items.push(delivery);
    this.bytes += delivery.message.bytes;
    this.load.messages++;
    this.load.bytes += delivery.message.bytes + deliveryBytes;
  }

  shift(): Delivery | undefined {
    const delivery = this.items[this.head];
    if (!delivery) return undefined;
    this.items[this.head++] = undefined;
    if (this.length === 0) this.load.queues--;
    this.bytes -= delivery.message.bytes;
    this.load.messages--;
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

  /** Removes and returns the deliveries for which the test is true, in order, until `enough`. */
  take(picks: (delivery: Delivery) => boolean, enough: () => boolean = () => false): Delivery[] {
    const taken: Delivery[] = [];
    const kept: Delivery[] = [];
    while (!enough()) {
      const delivery = this.shift();
      if (!delivery) break;
      (picks(delivery) ? taken : kept).push(delivery);
    }
    for (let delivery = this.shift(); delivery; delivery = this.shift()) kept.push(delivery);
    for (const delivery of kept) this.push(delivery);
    return taken;
  }

  /** The session has ended: removes the queue from the total load. */
  clear(): void {
    while (this.shift());
  }
}
