import type { MessageRecord } from "./message-record.ts";

/** Recorded messages by their ids, the oldest first, with the bytes that they are counted for. */
export class AgedRecords {
  bytes = 0;
  private readonly byId = new Map<number, MessageRecord>();
  private byAge: Iterator<MessageRecord> = this.byId.values();

  get size(): number {
    return this.byId.size;
  }

  add(record: MessageRecord): void {
    this.byId.set(record.id, record);
    this.bytes += record.countedBytes;
  }

  /** False where it is not among them. */
  remove(record: MessageRecord): boolean {
    if (!this.byId.delete(record.id)) return false;
    this.bytes -= record.countedBytes;
    return true;
  }

  find(id: number): MessageRecord | undefined {
    return this.byId.get(id);
  }

  values(): Iterable<MessageRecord> {
    return this.byId.values();
  }

  /** To be removed before the next is asked for. */
  oldest(): MessageRecord | undefined {
    const next = this.byAge.next();
    if (!next.done) return next.value;
    this.rest();
    return this.byAge.next().value;
  }

  /** Between messages: an iterator that rests holds every earlier state of the map. */
  rest(): void {
    this.byAge = this.byId.values();
  }
}
