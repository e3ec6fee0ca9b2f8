/** What it links its messages with. */
interface Linked<Item> {
  readonly countedBytes: number;
  older: Item | undefined;
  newer: Item | undefined;
}

/** The recorded messages of one topic, linked through the records themselves. */
export class TopicHistory<Item extends Linked<Item>> {
  oldest: Item | undefined = undefined;
  newest: Item | undefined = undefined;
  count = 0;
  bytes = 0;

  add(record: Item): void {
    record.older = this.newest;
    if (this.newest) this.newest.newer = record;
    else this.oldest = record;
    this.newest = record;
    this.count++;
    this.bytes += record.countedBytes;
  }

  /** Only the oldest record is ever removed. */
  removeOldest(): void {
    const record = this.oldest;
    if (!record) return;
    this.oldest = record.newer;
    if (this.oldest) this.oldest.older = undefined;
    else this.newest = undefined;
    record.newer = undefined;
    this.count--;
    this.bytes -= record.countedBytes;
  }

  *newestFirst(): Generator<Item> {
    for (let record = this.newest; record; record = record.older) yield record;
  }
}
