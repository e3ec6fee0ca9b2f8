/** What a heap orders; an item is in one heap at most. */
export interface Ranked {
  rank: number;
  /** Of equal ranks, the one that was added first is in front. */
  order: number;
  /** Where it is in the heap; -1 if it is in none. */
  place: number;
}

const isBefore = (one: Ranked, other: Ranked): boolean => one.rank < other.rank || (one.rank === other.rank && one.order < other.order);

/** A binary heap of items with the least rank first, whose ranks change: each change takes log n steps. */
export class RankedHeap<Item extends Ranked> {
  private readonly items: Item[] = [];
  private added = 0;

  get size(): number {
    return this.items.length;
  }

  get first(): Item | undefined {
    return this.items[0];
  }

  /** Adds the item, or moves it to its new rank. */
  put(item: Item, rank: number): void {
    item.rank = rank;
    if (item.place < 0) {
      item.order = ++this.added;
      item.place = this.items.length;
      this.items.push(item);
    }
    this.settle(item);
  }

  remove(item: Item): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.items.pop() as Item;
    if (last === item) return;
    this.set(last, place);
    this.settle(last);
  }

  private set(item: Item, place: number): void {
    this.items[place] = item;
    item.place = place;
  }

  private settle(item: Item): void {
    const { items } = this;
    let { place } = item;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = items[above] as Item;
      if (!isBefore(item, parent)) break;
      this.set(parent, place);
      place = above;
    }
    for (;;) {
      const left = items[2 * place + 1];
      const right = items[2 * place + 2];
      const least = left && right && isBefore(right, left) ? right : left;
      if (!least || !isBefore(least, item)) break;
      const { place: below } = least;
      this.set(least, place);
      place = below;
    }
    this.set(item, place);
  }
}
