import type { DeliveryPlace, DeliveryTrace, DropReason } from "../engine/routing/message.ts";
import type { MessageRecord } from "./message-record.ts";

/** Applied in a fraction of a millisecond. */
const notesOfStep = 256;

type Note = (record: MessageRecord) => void;

/**
 * Connects messages that wait in stored sessions with their records of earlier processes, which are read while clients are served already:
 * what becomes of messages meanwhile is noted. That takes less memory than the deliveries that end with it.
 */
export class EarlierRecords {
  private noted: { readonly trace: EarlierTrace; readonly note: Note }[] | undefined = [];
  private owing: EarlierTrace[] = [];
  private readonly find: (id: number) => MessageRecord | undefined;

  constructor(find: (id: number) => MessageRecord | undefined) {
    this.find = find;
  }

  readonly traceOf = (id: number, at: number): DeliveryTrace => new EarlierTrace(id, at, this);

  note(trace: EarlierTrace, note: Note): void {
    if (this.noted) {
      this.noted.push({ trace, note });
      return;
    }
    const record = this.recordOf(trace);
    if (record) note(record);
  }

  owes(trace: EarlierTrace, place: DeliveryPlace, more: number): void {
    if (!this.noted) {
      this.recordOf(trace)?.owes(place, more);
      return;
    }
    if (!trace.owed) {
      trace.owed = { queued: 0, sent: 0 };
      this.owing.push(trace);
    }
    trace.owed[place] += more;
  }

  private recordOf({ id, at }: EarlierTrace): MessageRecord | undefined {
    const record = this.find(id);
    // Identifiers begin anew when the history was lost.
    return record?.at === at ? record : undefined;
  }

  /** The records are read, as far as they are kept. In steps, during which more may be noted. */
  *read(): Generator<undefined, void> {
    let steps = 0;
    while (this.noted && this.noted.length + this.owing.length > 0) {
      const { noted, owing } = this;
      this.noted = [];
      this.owing = [];
      for (const trace of owing) {
        const { queued, sent } = trace.owed ?? { queued: 0, sent: 0 };
        trace.owed = undefined;
        const record = this.recordOf(trace);
        if (queued !== 0) record?.owes("queued", queued);
        if (sent !== 0) record?.owes("sent", sent);
        if (++steps % notesOfStep === 0) yield;
      }
      for (const { trace, note } of noted) {
        const record = this.recordOf(trace);
        if (record) note(record);
        if (++steps % notesOfStep === 0) yield;
      }
    }
    this.noted = undefined;
  }
}

/** There may be one for each of 100,000 messages: they do not have their records. */
class EarlierTrace implements DeliveryTrace {
  readonly id: number;
  readonly at: number;
  /** Until the records are read. */
  owed: Record<DeliveryPlace, number> | undefined = undefined;
  private readonly records: EarlierRecords;

  constructor(id: number, at: number, records: EarlierRecords) {
    this.id = id;
    this.at = at;
    this.records = records;
  }

  delivered(clientId: string, qos: number): void {
    this.records.note(this, (record) => record.delivered(clientId, qos));
  }

  heldBack(): void {
    this.records.note(this, (record) => record.heldBack());
  }

  released(clientId: string, qos: number): void {
    this.records.note(this, (record) => record.released(clientId, qos));
  }

  unsent(): void {
    this.records.note(this, (record) => record.unsent());
  }

  acknowledged(clientId: string, reason: number): void {
    this.records.note(this, (record) => record.acknowledged(clientId, reason));
  }

  sentAsRetained(clientId: string, qos: number): void {
    this.records.note(this, (record) => record.sentAsRetained(clientId, qos));
  }

  acknowledgedAsRetained(clientId: string, reason: number): void {
    this.records.note(this, (record) => record.acknowledgedAsRetained(clientId, reason));
  }

  dropped(clientId: string, why: DropReason): void {
    this.records.note(this, (record) => record.dropped(clientId, why));
  }

  moved(clientId: string): void {
    this.records.note(this, (record) => record.moved(clientId));
  }

  owes(place: DeliveryPlace, more: number): void {
    this.records.owes(this, place, more);
  }
}
