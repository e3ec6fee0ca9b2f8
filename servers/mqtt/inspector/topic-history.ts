import type { MessageRecord } from "./message-record.ts";

/** The recorded messages of one topic, linked through the records themselves. */
export class TopicHistory {
  oldest: MessageRecord | undefined = undefined;
  newest: MessageRecord | undefined = undefined;
  count = 0;
  bytes = 0;

  add(record: MessageRecord): void {
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

  *newestFirst(): Generator<MessageRecord> {
    for (let record = this.newest; record; record = record.older) yield record;
  }
}
