import type { Qos } from "../../codec/packet.ts";
import { isLongName, textBytes } from "../../codec/topic.ts";
import type { Identity } from "../connection/access.ts";
import { Delivery } from "../delivery/delivery.ts";
import { DeliveryQueue } from "../delivery/delivery-queue.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import { HeldMessages, type MessageLoad } from "../delivery/held-messages.ts";
import { fits } from "../delivery/write-publish.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { EngineLimits } from "../engine-limits.ts";
import { type EngineLog, type EngineObserver, faultText } from "../engine-observer.ts";
import { type RetainedFeed, RetainedFeeds, type RetainedItem } from "../retained/retained-feed.ts";
import type { DropReason, Message } from "../routing/message.ts";
import type { SharedGroup, Subscription } from "../routing/subscription.ts";
import { InflightTable } from "./inflight-table.ts";
import { noteDelivered } from "./note-delivered.ts";
import { type PendingWill, willBytes } from "./pending-will.ts";
import { ReceivedIds } from "./received-ids.ts";
import type { ConnectionFigures, Recipient } from "./recipient.ts";
import type { SessionStore } from "./session-store.ts";

/** Messages of its queue that a client gets between two looks at the clock. */
const sentBetweenLooks = 32;

/** Memory of a session in addition to its client identifier, its will and its subscriptions (940 measured), and of its last connection. */
const ownBytes = 1_200;

/** Memory of a session with this will and the user name of its connection, without its subscriptions and messages. */
export const sessionBytes = (clientId: string, will: PendingWill | undefined, username = ""): number =>
  ownBytes + textBytes(clientId) + textBytes(username) + (will ? willBytes(will) : 0);

export interface SessionContext {
  readonly limits: EngineLimits;
  readonly counters: EngineCounters;
  readonly observer: EngineObserver;
  readonly log: Pick<EngineLog, "error">;
  readonly load: MessageLoad;
  readonly store: SessionStore | undefined;
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
  /** The client can take messages that wait for absent members of its shared subscriptions. */
  gatherShared(session: Session): void;
  readonly expiring: { note(session: Session): void; forget(session: Session): void };
}

/** The session of a client, connected or not (MQTT §4.1). */
export class Session {
  readonly clientId: string;
  storedId = 0;
  v5: boolean;
  /** Undefined while the client is not connected. */
  recipient: Recipient | undefined = undefined;
  /** By filter, as the client sent it. */
  readonly subscriptions = new Map<string, Subscription>();
  /** Of the filters, as `mostBytesOf` counts them, each shared one with a group. */
  subscriptionBytes = 0;
  /** Of its shared subscriptions; most clients have none. */
  groups: Set<SharedGroup> | undefined = undefined;
  readonly queue: DeliveryQueue;
  /** Sent but not acknowledged, in the order of sending. */
  readonly inflight: InflightTable;
  private readonly held: HeldMessages;
  readonly received = new ReceivedIds();
  /** How long the session outlives its connection. */
  expirySeconds = 0;
  disconnectedAt = 0;
  lastConnection: ConnectionFigures | undefined = undefined;
  /** What counts as one client (`rateLimitKey`) of the address from which its client connected last. */
  address = "";
  /** As `sessionBytes`; counted for all sessions together until `release`. */
  heldBytes = 0;
  private ownWill: PendingWill | undefined = undefined;
  /** Tests for topics that the rules hide from the client, whatever it subscribed to. */
  hidden: ((topic: string) => boolean) | undefined = undefined;
  /** Whose rights it was compared with last, in this process. */
  checkedFor: Identity | undefined = undefined;
  /** When a delayed will is due; 0 if none is pending. */
  willDueAt = 0;
  dropped = 0;
  /** It is over or about to end, or at another broker: nothing is delivered to it, though some of its subscriptions may still be there. */
  hasEnded = false;
  /** Another broker has it, with its messages. */
  hasMoved = false;
  readonly createdAt = Date.now();
  /** Deliveries of `inflight` that were not retransmitted yet after a reconnect. */
  private unsent: Delivery[] = [];
  private feeds: RetainedFeeds | undefined = undefined;
  private pumpsLater = false;
  private readonly context: SessionContext;

  constructor(clientId: string, v5: boolean, context: SessionContext) {
    this.clientId = clientId;
    this.v5 = v5;
    this.context = context;
    this.held = new HeldMessages(context.load);
    this.queue = new DeliveryQueue(this.held, this);
    this.inflight = new InflightTable(this.held);
    this.count(sessionBytes(clientId, undefined));
    if (isLongName(clientId)) context.counters.longClients++;
  }

  get will(): PendingWill | undefined {
    return this.ownWill;
  }

  set will(will: PendingWill | undefined) {
    if (will === this.ownWill) return;
    this.ownWill = will;
    this.recount();
  }

  /** To be called when its client has connected or disconnected, too. */
  recount(): void {
    const { recipient, received } = this;
    const ofConnection = recipient?.leftOpen?.heldBytes ?? 0;
    this.count(
      sessionBytes(this.clientId, this.will, (recipient?.identity ?? this.checkedFor)?.username) + received.heldBytes + ofConnection,
    );
  }

  /** A QoS 2 message with this identifier has arrived. */
  receive(packetId: number): void {
    this.received.add(packetId);
    this.recount();
  }

  /** The client has released it. False if it was not there. */
  releaseReceived(packetId: number): boolean {
    const known = this.received.release(packetId);
    if (known) this.recount();
    return known;
  }

  private count(bytes: number): void {
    this.context.counters.sessionBytes += bytes - this.heldBytes;
    this.heldBytes = bytes;
  }

  /** The session is over, or at another broker. Its messages are not removed here: they are dropped, or the other broker has them. */
  release(): void {
    this.hasEnded = true;
    this.expirySeconds = 0;
    this.will = undefined;
    if (this.heldBytes > 0 && isLongName(this.clientId)) this.context.counters.longClients--;
    this.count(0);
    this.context.expiring.forget(this);
  }

  expiresSooner(): void {
    this.context.expiring.note(this);
  }

  /** The store, if this session survives the process. */
  get store(): SessionStore | undefined {
    return this.expirySeconds > 0 ? this.context.store : undefined;
  }

  save(): void {
    this.store?.saveSession(this);
  }

  /**
   * Rank as a member of a shared subscription. 4: can take the message now; 3: connected, but has to queue it; 2: absent, or its queue
   * is full; 1: the message is too large or hidden by the rules; 0: cannot take it.
   */
  readiness(message: Message | undefined, { options, identifiers }: Subscription): number {
    const { recipient } = this;
    if (message && this.hidden?.(message.topic)) return 1;
    if (!recipient) return this.expirySeconds > 0 ? 2 : 0;
    if (message && recipient.maximumPacketSize > 0) {
      const qos = message.qos < options.qos ? message.qos : options.qos;
      if (!fits(recipient, message, qos, identifiers)) return 1;
    }
    if (this.mayStart(recipient)) return 4;
    return this.queue.length < this.context.limits.queueMessages ? 3 : 2;
  }

  /** An error ends only this client's connection, not the publisher's, and does not stop the delivery to others. */
  deliver(message: Message, qos: Qos, retain: boolean, identifiers: readonly number[] | undefined, shared: Subscription | undefined): void {
    try {
      this.sendOrQueue(message, qos, retain, identifiers, shared);
    } catch (error) {
      if (this.recipient) this.recipient.fault(error);
      else this.context.log.error(`An error while queueing a message for ${this.clientId}: ${faultText(error)}`);
    }
  }

  private sendOrQueue(
    message: Message,
    qos: Qos,
    retain: boolean,
    identifiers: readonly number[] | undefined,
    shared: Subscription | undefined,
  ): void {
    const { recipient } = this;
    if (this.hidden?.(message.topic)) return;
    if (qos === 0) {
      if (!recipient) return;
      if (recipient.output.congested) {
        this.drop(message, "slow reader");
        return;
      }
      const result = recipient.sendMessage(message, 0, retain, identifiers, 0, false);
      if (result !== "sent") {
        this.drop(message, result);
        return;
      }
      if (message.trace || recipient.output.heldBack) noteDelivered(this, message, 0, recipient);
      return;
    }
    const delivery = new Delivery(message, qos, retain, identifiers, shared);
    if (recipient && this.mayStart(recipient)) this.start(delivery, recipient);
    else this.enqueue(delivery);
  }

  private mayStart(recipient: Recipient): boolean {
    return (
      this.queue.length === 0 &&
      this.unsent.length === 0 &&
      this.feeds === undefined &&
      this.windowOpen(recipient) &&
      this.hasRoomInFlight() &&
      !this.held.isAboveShare(this.context.limits)
    );
  }

  private hasRoomInFlight(): boolean {
    return this.inflight.bytes < this.context.limits.queueBytes;
  }

  private windowOpen(recipient: Recipient): boolean {
    return !recipient.output.congested && this.inflight.size - this.unsent.length < recipient.sendWindow;
  }

  private start(delivery: Delivery, recipient: Recipient): void {
    const { message, qos } = delivery;
    const packetId = this.inflight.nextPacketId();
    const result = recipient.sendMessage(message, qos, delivery.retain, delivery.identifiers, packetId, false);
    if (result !== "sent") {
      if (delivery.storedId > 0) this.store?.removed(this, delivery);
      this.drop(message, result);
      return;
    }
    delivery.packetId = packetId;
    delivery.state = qos === 1 ? "awaiting puback" : "awaiting pubrec";
    this.inflight.add(delivery);
    const { store } = this;
    if (store) {
      if (delivery.storedId > 0) store.updated(this, delivery);
      else store.queued(this, delivery);
    }
    if (delivery.asRetained) message.trace?.sentAsRetained(this.clientId, qos);
    else if (message.trace) noteDelivered(this, message, qos, recipient, delivery);
  }

  /** No further message may wait. */
  get isFull(): boolean {
    return this.queue.isFull(this.context.limits) || this.held.isAboveShare(this.context.limits);
  }

  private enqueue(delivery: Delivery): void {
    const { queue } = this;
    while (this.isFull) {
      if (this.context.limits.queuePolicy === "drop newest" || queue.length === 0) {
        this.drop(delivery.message, "queue full");
        return;
      }
      const oldest = queue.shift() as Delivery;
      this.store?.removed(this, oldest);
      this.drop(oldest.message, "queue full");
    }
    delivery.message.compact();
    queue.push(delivery);
    if (!this.recipient) delivery.shared?.group?.hold(this);
    if (delivery.storedId === 0) this.store?.queued(this, delivery);
  }

  /** Adds the retained messages of new subscriptions, sent as fast as the client takes them. */
  feed(feeds: readonly RetainedFeed[]): void {
    if (feeds.length === 0) return;
    this.feeds ??= new RetainedFeeds();
    this.feeds.add(feeds);
    if (!this.pumpsLater) this.pump();
  }

  endFeed(filter: string): void {
    this.feeds?.remove(filter);
  }

  /** Subscriptions whose retained messages are not all sent. */
  get waitingFeeds(): number {
    return this.feeds?.waiting ?? 0;
  }

  /** Sends waiting messages as far as the client's receive maximum and unread bytes allow. */
  pump(): void {
    const { recipient } = this;
    if (!recipient) return;
    let sent = 0;
    while (this.unsent.length > 0 && this.windowOpen(recipient)) {
      this.sendAgain(this.unsent.shift() as Delivery, recipient);
      if (this.mustWait(++sent)) return;
    }
    if (this.unsent.length > 0) return;
    if (this.feeds) {
      const { scheduler } = this.context;
      const outcome = this.feeds.give(
        (item) => this.sendRetained(item, recipient),
        () => scheduler.isTurnOver(),
      );
      if (outcome === "turn over") this.pumpLater();
      if (outcome !== "all given") return;
      this.feeds = undefined;
    }
    while (this.queue.length > 0 && this.windowOpen(recipient) && this.hasRoomInFlight()) {
      this.start(this.queue.shift() as Delivery, recipient);
      if (this.mustWait(++sent)) return;
    }
    if (this.groups && this.queue.length === 0) this.context.gatherShared(this);
  }

  /** Thousands of clients may come back together, with a thousand messages each. True if the rest is sent in a later turn. */
  private mustWait(sent: number): boolean {
    if (sent % sentBetweenLooks !== 0 || !this.context.scheduler.isTurnOver()) return false;
    this.pumpLater();
    return true;
  }

  private pumpLater(): void {
    if (this.pumpsLater) return;
    this.pumpsLater = true;
    const goOn = () => {
      this.pumpsLater = false;
      this.recipient?.run(() => this.pump());
    };
    this.context.scheduler.whenWritten(goOn, "usual", this.address);
  }

  /** False if the client's receive maximum or unread bytes do not allow it now. */
  private sendRetained({ message, qos, identifiers }: RetainedItem, recipient: Recipient): boolean {
    if (qos > 0) {
      if (!this.windowOpen(recipient) || !this.hasRoomInFlight()) return false;
      if (this.inflight.size > 0 && this.held.isAboveShare(this.context.limits)) return false;
      const delivery = new Delivery(message, qos, true, identifiers, undefined);
      delivery.asRetained = true;
      this.start(delivery, recipient);
      return true;
    }
    if (recipient.output.congested) return false;
    const result = recipient.sendMessage(message, 0, true, identifiers, 0, false);
    if (result === "sent") message.trace?.sentAsRetained(this.clientId, 0);
    else this.drop(message, result);
    return true;
  }

  /** [MQTT-4.4.0-1]: after a reconnect everything unacknowledged is sent again, with its packet identifiers. */
  resume(recipient: Recipient): void {
    this.recipient = recipient;
    this.unsent = this.inflight.inOrder();
    this.pump();
    // [MQTT5-3.3.4-10]: the receive maximum does not apply to PUBREL.
    for (const delivery of this.unsent) if (delivery.state === "awaiting pubcomp") this.sendAgain(delivery, recipient);
    this.unsent = this.unsent.filter(({ state }) => state !== "awaiting pubcomp");
  }

  private sendAgain(delivery: Delivery, recipient: Recipient): void {
    // Acknowledged in the meantime.
    if (this.inflight.get(delivery.packetId) !== delivery) return;
    if (delivery.state === "awaiting pubcomp") {
      recipient.sendAck("pubrel", delivery.packetId, 0);
      return;
    }
    const { message, qos, retain, identifiers, packetId } = delivery;
    const result = recipient.sendMessage(message, qos, retain, identifiers, packetId, true);
    if (result === "sent") {
      if (delivery.isHeldBack) noteDelivered(this, message, qos, recipient, delivery);
      return;
    }
    this.forget(delivery);
    this.drop(message, result);
  }

  /** The exchange with the client is complete. */
  forget(delivery: Delivery): void {
    this.inflight.delete(delivery.packetId);
    this.store?.removed(this, delivery);
  }

  /** All deliveries in flight and in the queue. */
  *deliveries(): Iterable<Delivery> {
    yield* this.inflight.inOrder();
    yield* this.queue;
  }

  drop(message: Pick<Message, "trace">, why: DropReason): void {
    this.dropped++;
    this.context.counters.dropped[why]++;
    message.trace?.dropped(this.clientId, why);
    this.context.observer.dropped?.(this.clientId, why);
  }
}
