import type { Delivery } from "../delivery/delivery.ts";

const firstSize = 16;

/**
 * Deliveries by packet identifier. Identifiers are given in turn, so their low bits are nearly always enough: no hashing, and
 * nothing is allocated for a message.
 */
export class InflightTable {
  size = 0;
  /** Of the messages. */
  bytes = 0;
  lastPacketId = 0;
  private lastOrder = 0;
  private slots: (Delivery | undefined)[] = [];

  get(packetId: number): Delivery | undefined {
    const delivery = this.slots[packetId & (this.slots.length - 1)];
    return delivery?.packetId === packetId ? delivery : undefined;
  }

  has(packetId: number): boolean {
    return this.get(packetId) !== undefined;
  }

  /** The next that is not in use. */
  nextPacketId(): number {
    do {
      this.lastPacketId = this.lastPacketId >= 0xffff ? 1 : this.lastPacketId + 1;
    } while (this.has(this.lastPacketId));
    return this.lastPacketId;
  }

  /** Behind all others, under its packet identifier, which is not in use. */
  add(delivery: Delivery): void {
    this.putLast(delivery);
    if (this.slots.length === 0) this.slots = new Array<Delivery | undefined>(firstSize).fill(undefined);
    while (this.slots[delivery.packetId & (this.slots.length - 1)]) this.grow();
    this.slots[delivery.packetId & (this.slots.length - 1)] = delivery;
    this.size++;
    this.bytes += delivery.message.bytes;
  }

  putLast(delivery: Delivery): void {
    delivery.order = ++this.lastOrder;
  }

  delete(packetId: number): void {
    const delivery = this.get(packetId);
    if (!delivery) return;
    this.slots[packetId & (this.slots.length - 1)] = undefined;
    this.size--;
    this.bytes -= delivery.message.bytes;
  }

  /** In the order of sending. */
  inOrder(): Delivery[] {
    return this.slots.filter((delivery) => delivery !== undefined).sort((one, other) => one.order - other.order);
  }

  /** Two identifiers that shared their low bits part at the latest with 65,536 slots. */
  private grow(): void {
    const old = this.slots;
    this.slots = new Array<Delivery | undefined>(old.length * 2).fill(undefined);
    for (const delivery of old) if (delivery) this.slots[delivery.packetId & (this.slots.length - 1)] = delivery;
  }
}
