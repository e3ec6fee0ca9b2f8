/** Keeps the newest items, bounded by count and by bytes; the oldest are evicted first. Items have ascending ids. */
export interface BoundedRing<Item> {
  readonly size: number;
  readonly bytes: number;
  add(id: number, item: Item, bytes: number): void;
  /** False if the id is not kept. */
  replace(id: number, item: Item, bytes: number): boolean;
  get(id: number): Item | undefined;
  newestFirst(): Generator<Item>;
  oldestFirst(): Generator<Item>;
  limit(limits: RingLimits): void;
  clear(): void;
}

export interface RingLimits {
  readonly items: number;
  readonly bytes: number;
}

interface Slot<Item> {
  readonly id: number;
  item: Item;
  bytes: number;
}

export function createBoundedRing<Item>(initial: RingLimits): BoundedRing<Item> {
  let limits = initial;
  // A deque: the head index advances, and the array is truncated when more than half of it is unused.
  let slots: Slot<Item>[] = [];
  let head = 0;
  let bytes = 0;

  function evict() {
    while (slots.length - head > limits.items || (bytes > limits.bytes && slots.length - head > 1)) {
      bytes -= slots[head]?.bytes ?? 0;
      delete slots[head];
      head++;
    }
    if (head > 1_024 && head > slots.length / 2) {
      slots = slots.slice(head);
      head = 0;
    }
  }
  /** Ids ascend with gaps: binary search. */
  function find(id: number): Slot<Item> | undefined {
    let low = head;
    let high = slots.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const slot = slots[middle] as Slot<Item>;
      if (slot.id === id) return slot;
      if (slot.id < id) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  return {
    get size() {
      return slots.length - head;
    },
    get bytes() {
      return bytes;
    },
    add(id, item, itemBytes) {
      const last = slots.at(-1);
      const slot: Slot<Item> = { id, item, bytes: itemBytes };
      if (slots.length === head || (last && last.id < id)) slots.push(slot);
      else {
        // A row may arrive slightly out of order: search backwards for its place.
        let index = slots.length;
        while (index > head && (slots[index - 1] as Slot<Item>).id > id) index--;
        slots.splice(index, 0, slot);
      }
      bytes += itemBytes;
      evict();
    },
    replace(id, item, itemBytes) {
      const slot = find(id);
      if (!slot) return false;
      bytes += itemBytes - slot.bytes;
      slot.item = item;
      slot.bytes = itemBytes;
      evict();
      return true;
    },
    get: (id) => find(id)?.item,
    *newestFirst() {
      for (let index = slots.length - 1; index >= head; index--) yield (slots[index] as Slot<Item>).item;
    },
    *oldestFirst() {
      for (let index = head; index < slots.length; index++) yield (slots[index] as Slot<Item>).item;
    },
    limit(next) {
      limits = next;
      evict();
    },
    clear() {
      slots = [];
      head = 0;
      bytes = 0;
    },
  };
}
