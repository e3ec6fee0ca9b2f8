/** The first items whose texts together are no longer than `most` characters; at least one. A client may choose names of 64 KB. */
export function firstWithin<Item>(items: readonly Item[], most: number, lengthOf: (item: Item) => number): readonly Item[] {
  let sum = 0;
  const tooMany = items.findIndex((item, index) => {
    sum += lengthOf(item);
    return index > 0 && sum > most;
  });
  return tooMany === -1 ? items : items.slice(0, tooMany);
}
