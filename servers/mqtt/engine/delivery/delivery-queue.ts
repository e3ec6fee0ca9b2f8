import type { EngineLimits } from "../engine-limits.ts";
import type { Delivery } from "./delivery.ts";
import type { HeldMessages } from "./held-messages.ts";

/** Whose messages wait in it. */
export interface QueueOwner {
  /** `nextExpiry` is sooner than before. */
  expiresSooner(): void;
}

/** First in, first out; `shift` takes constant time. */
export class DeliveryQueue {
  /** Without those that were removed. */
  private items: (Delivery | undefined)[] = [];
  private head = 0;
  /** Place of the first item. */
  private offset = 0;
  length = 0;
  /** Bytes of the messages. */
  bytes = 0;
  /** No message of it expires sooner. */
  nextExpiry = Number.POSITIVE_INFINITY;
  private readonly held: HeldMessages;
  private readonly owner: QueueOwner;

  constructor(held: HeldMessages, owner: QueueOwner) {
    this.held = held;
    this.owner = owner;
  }

  isFull({ queueMessages, queueBytes }: Pick<EngineLimits, "queueMessages" | "queueBytes">): boolean {
    return this.length >= queueMessages || this.bytes >= queueBytes;
  }

  push(delivery: Delivery): void {
    this.items.push(delivery);
    this.length++;
    this.bytes += delivery.bytes;
    this.held.all.waiting++;
    this.held.add(delivery);
    delivery.owed("queued", 1);
    const { expiresAt } = delivery.message;
    if (expiresAt === 0 || expiresAt >= this.nextExpiry) return;
    this.nextExpiry = expiresAt;
    this.owner.expiresSooner();
  }

  shift(): Delivery | undefined {
    if (this.length === 0) return undefined;
    while (!this.items[this.head]) this.head++;
    const delivery = this.items[this.head] as Delivery;
    this.remove(this.first);
    this.head++;
    if (this.head > 1_024 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.offset += this.head;
      this.head = 0;
    }
    return delivery;
  }

  /** Places of deliveries stay until `compact`, also when others are removed. */
  get first(): number {
    return this.offset + this.head;
  }

  get end(): number {
    return this.offset + this.items.length;
  }

  at(place: number): Delivery | undefined {
    return this.items[place - this.offset];
  }

  remove(place: number): void {
    const delivery = this.at(place);
    if (!delivery) return;
    this.items[place - this.offset] = undefined;
    this.length--;
    this.bytes -= delivery.bytes;
    this.held.all.waiting--;
    this.held.remove(delivery);
    delivery.owed("queued", -1);
  }

  /** Gives the places of those that were removed back. The others have later ones: who goes through them meets some again, and misses none. */
  compact(): void {
    if (this.items.length - this.head === this.length) return;
    const { end } = this;
    this.items = this.items.filter((delivery) => delivery !== undefined);
    this.head = 0;
    this.offset = end - this.items.length;
  }

  *[Symbol.iterator](): Iterator<Delivery> {
    for (const delivery of this.items) if (delivery) yield delivery;
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
}
