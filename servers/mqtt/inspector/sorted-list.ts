/** New items in one turn of the event loop: there may be 100,000. */
const mergedAtOnce = 2_000;

/**
 * A sorted list: new items are sorted separately and merged when it is read, so that reading never sorts the whole list. Of many new items
 * those that came first are there at once, and the others some turns of the event loop later.
 */
export class SortedList<Item> {
  private sorted: Item[] = [];
  private fresh: Item[];
  private mergesLater = false;
  private readonly removed = new Set<Item>();
  private readonly compare: (one: Item, other: Item) => number;

  constructor(items: Iterable<Item>, compare: (one: Item, other: Item) => number) {
    this.compare = compare;
    this.fresh = [...items];
  }

  add(item: Item): void {
    this.fresh.push(item);
  }

  remove(item: Item): void {
    this.removed.add(item);
    // The list may not be read for long; removed items must not accumulate.
    if (this.removed.size > 1_000 && this.removed.size * 2 > this.sorted.length + this.fresh.length) this.dropRemoved();
  }

  private dropRemoved(): void {
    const stays = (item: Item) => !this.removed.has(item);
    this.sorted = this.sorted.filter(stays);
    this.fresh = this.fresh.filter(stays);
    this.removed.clear();
  }

  items(): readonly Item[] {
    if (this.removed.size > 0) this.dropRemoved();
    if (this.fresh.length > 0 && !this.mergesLater) this.merge();
    return this.sorted;
  }

  private mergeLater(): void {
    this.mergesLater = true;
    setImmediate(() => {
      this.mergesLater = false;
      this.merge();
    });
  }

  private merge(): void {
    const { sorted, compare } = this;
    const fresh = this.fresh.slice(0, mergedAtOnce).sort(compare);
    this.fresh = this.fresh.slice(mergedAtOnce);
    if (this.fresh.length > 0) this.mergeLater();
    const merged: Item[] = [];
    let at = 0;
    for (const item of fresh) {
      const place = placeOf(item, sorted, at, compare);
      while (at < place) merged.push(sorted[at++] as Item);
      merged.push(item);
    }
    while (at < sorted.length) merged.push(sorted[at++] as Item);
    this.sorted = merged;
  }
}

/** The first `count` items in order, without sorting the whole list. */
export function firstInOrder<Item>(items: readonly Item[], count: number, compare: (one: Item, other: Item) => number): Item[] {
  const first = items.slice(0, count).sort(compare);
  if (count === 0) return first;
  for (let index = count; index < items.length; index++) {
    const item = items[index] as Item;
    if (compare(item, first.at(-1) as Item) >= 0) continue;
    first.splice(placeOf(item, first, 0, compare), 0, item);
    first.pop();
  }
  return first;
}

/** Index of the first item from `from` on that sorts after the given one. */
function placeOf<Item>(item: Item, sorted: readonly Item[], from: number, compare: (one: Item, other: Item) => number): number {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(sorted[middle] as Item, item) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
