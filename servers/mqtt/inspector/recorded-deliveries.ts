import type { DeliveryPlace, DeliveryTrace, DropReason } from "../engine/routing/message.ts";
import type { NotedDelivery, RoutedMessage, WaitingPlace } from "./describe-message.ts";

/** Most recorded deliveries of a message; further ones are only counted. */
const keptDeliveries = 100;
/** Deliveries in the detail of a row; the page requests the rest. */
export const recordedDeliveries = 10;
/** Most listed deliveries as a retained message. */
const keptRetained = 10;

/** Whom a record tells what becomes of its message. */
export interface DeliveryObserver<Record> {
  /** All expected acknowledgements have arrived. */
  readonly onAcknowledged: (record: Record) => void;
  /** It was sent to a frozen or delayed client, or never will be. */
  readonly onReleased: (record: Record) => void;
  /** After its row was complete. */
  readonly onChanged: (record: Record) => void;
}

/** What becomes of a recorded message: the part of its record that changes. */
export abstract class RecordedDeliveries implements DeliveryTrace {
  abstract readonly id: number;
  at = Date.now();
  readonly qos: number;
  matched = 0;
  /** To subscriptions that came later. */
  private sentAsRetainedCount = 0;
  deliveredCount = 0;
  /** Deliveries held back for frozen or delayed clients. */
  private heldBackCount = 0;
  acknowledgeableCount = 0;
  acknowledgedCount = 0;
  droppedCount = 0;
  /** Deliveries that wait in queues now. */
  protected queuedCount = 0;
  /** Those that were sent, or are held back, and are not acknowledged. */
  private openCount = 0;
  /** Of those that were dropped, because the broker stopped. */
  protected lostCount = 0;
  /** Of those that were dropped, because their time was over. */
  private expiredCount = 0;
  /** Deliveries that went to another broker of the cluster. */
  protected movedCount = 0;
  /** Its bytes in the recorder's total; 0 after its eviction. */
  countedBytes = 0;
  /** No more acknowledgements are expected. */
  settled = false;
  private startedAt = performance.now();
  private deliveries: NotedDelivery[] | undefined = undefined;
  /** Characters of the client identifiers in it, which the record keeps when the clients are gone. */
  private deliveryNames = 0;
  protected settledAfterMs = 0;

  constructor(qos: number) {
    this.qos = qos;
  }

  protected abstract readonly observer: DeliveryObserver<this>;
  protected abstract readonly waitingPlace: WaitingPlace;

  /** What an earlier process recorded. */
  protected restoreDeliveries(at: number, routed: RoutedMessage, tookMs: number): void {
    this.at = at;
    this.matched = routed.matched;
    this.sentAsRetainedCount = routed.sentAsRetained;
    this.deliveredCount = routed.delivered;
    this.acknowledgeableCount = routed.acknowledgeable;
    this.acknowledgedCount = routed.acknowledged;
    this.droppedCount = routed.dropped;
    this.lostCount = routed.lost;
    this.expiredCount = routed.expired;
    this.movedCount = routed.moved;
    this.queuedCount = routed.queued;
    this.openCount = routed.open;
    if (routed.deliveries.length > 0) this.deliveries = [...routed.deliveries];
    this.deliveryNames = namesIn(this.deliveries);
    this.settled = true;
    this.settledAfterMs = tookMs;
    this.startedAt -= Math.max(0, Date.now() - at);
  }

  /** Deliveries that the broker still has to make, or of which it awaits the acknowledgement. */
  get owed(): number {
    return this.queuedCount + this.openCount;
  }

  protected get listed(): number {
    return this.deliveries?.length ?? 0;
  }

  protected get listedNames(): number {
    return this.deliveryNames;
  }

  /** Called on eviction. */
  protected shrinkDeliveries(): void {
    this.deliveries = this.settled ? undefined : this.deliveries?.slice(0, recordedDeliveries);
    this.deliveryNames = namesIn(this.deliveries);
  }

  get waiting(): boolean {
    return this.acknowledgedCount < this.acknowledgeableCount || this.heldBackCount > 0;
  }

  settle(): void {
    this.settled = true;
    this.settledAfterMs = this.ageMs;
  }

  /** Since it was published here, whatever was done to the computer's clock. */
  get ageMs(): number {
    return performance.now() - this.startedAt;
  }

  get open(): boolean {
    return this.waiting && !this.settled;
  }

  protected routed(deliveries = keptDeliveries): RoutedMessage {
    return {
      matched: this.matched,
      sentAsRetained: this.sentAsRetainedCount,
      delivered: this.deliveredCount,
      acknowledgeable: this.acknowledgeableCount,
      acknowledged: this.acknowledgedCount,
      dropped: this.droppedCount,
      lost: this.lostCount,
      expired: this.expiredCount,
      moved: this.movedCount,
      queued: this.queuedCount,
      open: this.openCount,
      waits: this.waitingPlace,
      deliveries: this.deliveries?.slice(0, deliveries) ?? [],
    };
  }

  delivered(clientId: string, qos: number): void {
    this.deliveredCount++;
    if (qos > 0) this.acknowledgeableCount++;
    this.note(clientId, qos);
    this.changed();
  }

  protected changed(): void {
    if (this.settled) this.observer.onChanged(this);
  }

  owes(place: DeliveryPlace, more: number): void {
    if (place === "sent") this.openCount += more;
    else {
      this.queuedCount += more;
      this.changed();
    }
  }

  heldBack(): void {
    this.heldBackCount++;
  }

  released(clientId: string, qos: number): void {
    this.heldBackCount--;
    this.delivered(clientId, qos);
    this.observer.onReleased(this);
  }

  unsent(): void {
    this.heldBackCount--;
    this.observer.onReleased(this);
  }

  acknowledged(clientId: string, reason: number): void {
    this.acknowledgedCount++;
    // A process before this one has held it back, or ended before it could record that it was sent.
    if (this.acknowledgedCount > this.acknowledgeableCount) this.delivered(clientId, this.qos);
    this.noteAcknowledged(clientId, reason, false);
    if (!this.waiting) this.observer.onAcknowledged(this);
    this.changed();
  }

  dropped(clientId: string, why: DropReason): void {
    this.droppedCount++;
    if (why === "expired") this.expiredCount++;
    const delivery = this.note(clientId, this.qos);
    if (delivery) delivery.dropped = why;
    this.changed();
  }

  moved(clientId: string): void {
    this.movedCount++;
    const delivery = this.note(clientId, this.qos);
    if (delivery) delivery.moved = true;
    this.changed();
  }

  /** The process that owed these deliveries has ended, or ends: they are lost, other brokers have them, or the stored sessions say which of them are still owed. */
  end(how: "lost" | "moved" | "stored"): void {
    const { owed } = this;
    this.queuedCount = this.openCount = 0;
    if (how === "moved") this.movedCount += owed;
    if (how === "lost") {
      this.droppedCount += owed;
      this.lostCount += owed;
    }
    this.changed();
  }

  /** A retained message may be sent without limit: only the first deliveries are recorded, and only while it is in the history. */
  sentAsRetained(clientId: string, qos: number): void {
    this.sentAsRetainedCount++;
    if (this.countedBytes > 0 && this.sentAsRetainedCount <= keptRetained) this.note(clientId, qos, true);
  }

  acknowledgedAsRetained(clientId: string, reason: number): void {
    this.noteAcknowledged(clientId, reason, true);
  }

  private noteAcknowledged(clientId: string, reason: number, asRetained: boolean): void {
    const delivery = this.deliveries?.find(
      (candidate) => candidate.clientId === clientId && candidate.asRetained === asRetained && candidate.acknowledgedAfterMicros < 0,
    );
    if (!delivery) return;
    delivery.acknowledgedAfterMicros = this.microsNow();
    delivery.reason = reason;
  }

  private note(clientId: string, qos: number, asRetained = false): NotedDelivery | undefined {
    const { deliveries } = this;
    if (deliveries && deliveries.length >= (this.countedBytes > 0 ? keptDeliveries : recordedDeliveries)) return undefined;
    const delivery: NotedDelivery = {
      clientId,
      qos,
      afterMicros: this.microsNow(),
      acknowledgedAfterMicros: -1,
      reason: 0,
      dropped: undefined,
      moved: false,
      asRetained,
    };
    this.deliveryNames += clientId.length;
    // Most messages go to one client: a literal allocates one place, a push to an empty list 17.
    if (deliveries) deliveries.push(delivery);
    else this.deliveries = [delivery];
    return delivery;
  }

  private microsNow(): number {
    return Math.round(this.ageMs * 1_000);
  }
}

const namesIn = (deliveries: readonly NotedDelivery[] = []): number => deliveries.reduce((sum, { clientId }) => sum + clientId.length, 0);
