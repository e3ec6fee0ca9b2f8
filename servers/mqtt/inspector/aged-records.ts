import type { MessageRecord } from "./message-record.ts";

/** Recorded messages by id, oldest first, with the total of their counted bytes. */
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

  /** False if it does not contain the record. */
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

  /** The caller has to remove it before it calls this again. */
  oldest(): MessageRecord | undefined {
    const next = this.byAge.next();
    if (!next.done) return next.value;
    this.rest();
    return this.byAge.next().value;
  }

  /** Call it regularly: an open iterator keeps every earlier state of the map in memory. */
  rest(): void {
    this.byAge = this.byId.values();
  }
}
