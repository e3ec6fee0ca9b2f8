import type { Delivery } from "../delivery/delivery.ts";
import type { HeldMessages } from "../delivery/held-messages.ts";

const firstSize = 16;
const compactAbove = 256;
/** Of all clients. Further messages are copied out of the chunks with which they were received: a chunk may have 64 KiB. */
const mostInChunks = 2_048;

/**
 * Deliveries by packet identifier. Identifiers are assigned in sequence, so their low bits are nearly always unique: no hashing and no
 * allocation per message.
 */
export class InflightTable {
  size = 0;
  /** Bytes of the messages. */
  bytes = 0;
  lastPacketId = 0;
  private lastOrder = 0;
  private slots: (Delivery | undefined)[] = [];
  private readonly held: HeldMessages;

  constructor(held: HeldMessages) {
    this.held = held;
  }

  get(packetId: number): Delivery | undefined {
    const delivery = this.slots[packetId & (this.slots.length - 1)];
    return delivery?.packetId === packetId ? delivery : undefined;
  }

  has(packetId: number): boolean {
    return this.get(packetId) !== undefined;
  }

  /** The next unused identifier; of those that would make a table grow that is half empty, none. */
  nextPacketId(): number {
    const { slots } = this;
    const mask = slots.length - 1;
    const skips = this.size * 2 < slots.length;
    do {
      this.lastPacketId = this.lastPacketId >= 0xffff ? 1 : this.lastPacketId + 1;
    } while (skips ? slots[this.lastPacketId & mask] : this.has(this.lastPacketId));
    return this.lastPacketId;
  }

  /** Appends a delivery under its packet identifier, which must be unused. */
  add(delivery: Delivery): void {
    this.putLast(delivery);
    if (this.slots.length === 0) this.slots = new Array<Delivery | undefined>(firstSize).fill(undefined);
    while (this.slots[delivery.packetId & (this.slots.length - 1)]) this.grow();
    this.slots[delivery.packetId & (this.slots.length - 1)] = delivery;
    this.size++;
    this.bytes += delivery.bytes;
    const { all } = this.held;
    // Those that stay for long must not keep the received chunks in memory.
    if (this.size > compactAbove || all.inChunks >= mostInChunks) delivery.message.compact();
    else {
      delivery.inChunk = true;
      all.inChunks++;
    }
    this.held.add(delivery);
    delivery.owed("sent", 1);
  }

  putLast(delivery: Delivery): void {
    delivery.order = ++this.lastOrder;
  }

  delete(packetId: number): void {
    const delivery = this.get(packetId);
    if (!delivery) return;
    this.slots[packetId & (this.slots.length - 1)] = undefined;
    this.size--;
    this.bytes -= delivery.bytes;
    if (delivery.inChunk) this.held.all.inChunks--;
    delivery.inChunk = false;
    this.held.remove(delivery);
    delivery.owed("sent", -1);
    delivery.leftInflight();
  }

  /** In the order of sending. */
  inOrder(): Delivery[] {
    return this.slots.filter((delivery) => delivery !== undefined).sort((one, other) => one.order - other.order);
  }

  /** Grows until no two identifiers share a slot; with 65,536 slots none do. */
  private grow(): void {
    const old = this.slots;
    this.slots = new Array<Delivery | undefined>(old.length * 2).fill(undefined);
    for (const delivery of old) if (delivery) this.slots[delivery.packetId & (this.slots.length - 1)] = delivery;
  }
}
