import type { Delivery } from "../engine/delivery/delivery.ts";
import type { JournalPlace, Message } from "../engine/routing/message.ts";
import type { Subscription } from "../engine/routing/subscription.ts";
import type { Session } from "../engine/session/session.ts";
import type { HeldRows, SavedSession, SessionKey, SessionStore, StoredDelivery } from "../engine/session/session-store.ts";
import { keyPrefix, type ScriptArgument } from "./cluster-scripts.ts";
import { isLater } from "./journal.ts";
import type { RedisOperation } from "./redis-operation.ts";
import {
  aheadField,
  atField,
  deliveryField,
  deliveryText,
  placeText,
  progressField,
  progressText,
  type ReadSession,
  receivedField,
  sessionField,
  sessionText,
  subscriptionField,
  subscriptionText,
} from "./session-fields.ts";
import { type LoadedMessages, type StoredMessage, StoredMessages } from "./stored-messages.ts";

const sessionKey = (clientId: string): string => `${keyPrefix}session:${clientId}`;

/** Most fields and values in one call: Lua's `unpack` takes a few thousand. */
const valuesAtOnce = 1_000;

/** Fields that are written in about as long as clients have in a turn of the event loop. */
const fieldsOfTurn = 2_000;

/** The same in bytes of their values and of messages. */
const bytesOfTurn = 1 << 20;

/** Changes of one session since the last commit; the last change of a field wins. */
interface Change {
  /** The hash is removed first. */
  anew: boolean;
  /** Of the last message of the journal that it got. */
  place: JournalPlace | undefined;
  /** Its state in Redis is from before the broker's position, and `place` is how far it has come. */
  isLate: boolean;
  readonly fields: Map<string, string | undefined>;
  /** By the number of the delivery; without text those that are removed. */
  readonly deliveries: Map<number, { readonly stored: StoredMessage; readonly text: string | undefined }>;
}

export interface RedisSessionStoreOptions {
  /** There is something to commit. */
  readonly noted: () => void;
  readonly commit: () => void;
  readonly retainedChanged: (message: Message) => void;
  readonly retainedRemoved: (topic: string) => void;
  readonly retainedExpired: (message: Message) => void;
}

/** Collects changes of sessions; each commit sends them to Redis as operations. */
export class RedisSessionStore implements SessionStore {
  readonly messages = new StoredMessages();
  private changes = new Map<string, Change>();
  private lastDelivery = 0;
  /** Number of the last shared subscription that a delivery named. */
  private lastShared = 0;
  /** Messages that the next commit writes. */
  private unwritten = new Set<StoredMessage>();
  /** What the next commit adds to lists of waiting messages. */
  private waits: { readonly key: string; readonly stored: StoredMessage; readonly most: number }[] = [];
  /** Since `take`. */
  private noted = 0;
  private notedBytes = 0;
  /** Of the values and messages that are not taken. */
  heldBytes = 0;
  /** Of them those of messages of other brokers. */
  heldOfOthers = 0;
  /** Deliveries of messages of other brokers, since the start. */
  queuedOfOthers = 0;
  /** What is counted now is of others. */
  private isOfOthers = false;
  private readonly options: RedisSessionStoreOptions;

  constructor(options: RedisSessionStoreOptions) {
    this.options = options;
  }

  private change(clientId: string): Change {
    let change = this.changes.get(clientId);
    if (!change) {
      if (this.changes.size === 0) this.options.noted();
      change = { anew: false, place: undefined, isLate: false, fields: new Map(), deliveries: new Map() };
      this.changes.set(clientId, change);
    }
    return change;
  }

  private count(bytes: number): void {
    this.notedBytes += bytes;
    this.heldBytes += bytes;
    if (this.isOfOthers) this.heldOfOthers += bytes;
  }

  private set(clientId: string, field: string, value: string | undefined): void {
    this.noted++;
    this.count(value?.length ?? 0);
    this.change(clientId).fields.set(field, value);
  }

  saveSession(session: SavedSession): void {
    this.set(session.clientId, sessionField, sessionText(session));
  }

  removeSession({ clientId }: Pick<SessionKey, "clientId">, held?: HeldRows): void {
    if (held) this.handedOver(held.deliveries);
    this.begin(clientId);
  }

  private begin(clientId: string): void {
    const change = this.change(clientId);
    change.anew = true;
    change.place = undefined;
    change.isLate = false;
    change.fields.clear();
    change.deliveries.clear();
  }

  subscribed({ clientId }: SessionKey, subscription: Pick<Subscription, "filter" | "options" | "storedId">): void {
    this.set(clientId, subscriptionField(subscription.filter), subscriptionText(subscription));
  }

  unsubscribed({ clientId }: SessionKey, filter: string): void {
    this.set(clientId, subscriptionField(filter), undefined);
  }

  queued(session: SessionKey, delivery: Delivery): void {
    this.isOfOthers = delivery.message.fromElsewhere;
    if (this.isOfOthers) this.queuedOfOthers++;
    this.put(session, delivery, this.messages.use(delivery.message), delivery.shared);
    this.isOfOthers = false;
  }

  private put(session: SessionKey, delivery: Delivery, stored: StoredMessage, shared: Subscription | undefined): void {
    const sharedAs = this.numberOf(session, shared);
    delivery.storedId = ++this.lastDelivery;
    const text = deliveryText(delivery, stored, sharedAs);
    const change = this.change(session.clientId);
    change.deliveries.set(delivery.storedId, { stored, text });
    if (!delivery.shared && !delivery.asRetained) change.place = delivery.message.journalPlace ?? change.place;
    this.noteName(stored, text.length);
    if (delivery.packetId > 0) this.updated(session, delivery);
  }

  /** Something of so many bytes names the message. */
  private noteName(stored: StoredMessage, bytes: number): void {
    this.noted++;
    this.count(bytes);
    if (this.messages.isWritten(stored) || this.unwritten.has(stored)) return;
    this.unwritten.add(stored);
    this.count(stored.message.bytes);
  }

  /** Adds the message to a list in Redis that keeps so many. */
  waitIn(key: string, message: Message, most: number): void {
    const stored = this.messages.use(message);
    this.noteName(stored, key.length + stored.name.length);
    this.waits.push({ key, stored, most });
    if (this.changes.size === 0) this.options.noted();
  }

  private numberOf(session: SessionKey, shared: Subscription | undefined): number {
    if (!shared) return 0;
    if (shared.storedId === 0) {
      shared.storedId = ++this.lastShared;
      this.subscribed(session, shared);
    }
    return shared.storedId;
  }

  updated({ clientId }: SessionKey, delivery: Delivery): void {
    this.set(clientId, progressField(delivery.storedId), progressText(delivery));
  }

  removed({ clientId }: SessionKey, delivery: Delivery): void {
    const { storedId, message } = delivery;
    if (storedId === 0) return;
    delivery.storedId = 0;
    const stored = this.messages.release(message);
    const { deliveries } = this.change(clientId);
    // Redis does not know of it yet.
    if (!deliveries.delete(storedId) && stored) deliveries.set(storedId, { stored, text: undefined });
    this.set(clientId, progressField(storedId), undefined);
  }

  handedOver(deliveries: Iterable<Delivery>): void {
    for (const delivery of deliveries) {
      if (delivery.storedId > 0) this.messages.release(delivery.message);
      delivery.storedId = 0;
    }
  }

  received({ clientId }: SessionKey, packetId: number): void {
    this.set(clientId, receivedField(packetId), "");
  }

  released({ clientId }: SessionKey, packetId: number): void {
    this.set(clientId, receivedField(packetId), undefined);
  }

  /**
   * The deliveries of a session that was read, with their messages, which `messages.load` returned; without those whose message is lost.
   * `onDiffering` is called if Redis has to get them anew: `rewrite`, not `keep`.
   */
  *restored(
    { session, deliveries }: Pick<ReadSession, "session" | "deliveries">,
    { messages, era }: LoadedMessages,
    onDiffering: () => void,
  ): Generator<StoredDelivery> {
    // Numbers that are given later differ from those that another broker gave.
    for (const { storedId } of session.subscriptions) this.lastShared = Math.max(this.lastShared, storedId);
    for (const { id } of deliveries) this.lastDelivery = Math.max(this.lastDelivery, id);
    for (const delivery of deliveries) {
      if (delivery.message) {
        const { message } = this.messages.use(delivery.message);
        onDiffering();
        yield { ...delivery, message };
        continue;
      }
      const loaded = messages.get(delivery.name);
      if (!loaded) {
        onDiffering();
        continue;
      }
      const stored = this.messages.useNamed(delivery.name, loaded, era);
      if (stored.name !== delivery.name || !this.messages.isWritten(stored)) onDiffering();
      yield { ...delivery, message: stored.message };
    }
  }

  /** A session that is not open yet has got what it missed up to there. */
  caughtUpTo({ clientId }: SessionKey, place: JournalPlace): void {
    const change = this.change(clientId);
    change.place = place;
    change.isLate = true;
  }

  /** Redis has the session as it was restored: writes only what changes with its broker. */
  keep(session: Session): void {
    const change = this.change(session.clientId);
    change.place = undefined;
    change.isLate = false;
    this.saveSession(session);
    this.set(session.clientId, atField, undefined);
    this.set(session.clientId, aheadField, undefined);
    // They are counted anew.
    for (const delivery of session.inflight.inOrder()) this.updated(session, delivery);
  }

  /** Writes the whole session, replacing what Redis has. */
  rewrite(session: Session): void {
    this.begin(session.clientId);
    this.saveSession(session);
    if (!session.store) return;
    for (const subscription of session.subscriptions.values()) {
      // Another broker may have given the same number to another one.
      subscription.storedId = 0;
      this.subscribed(session, subscription);
    }
    for (const packetId of session.received.all()) this.received(session, packetId);
    for (const delivery of session.deliveries()) {
      const { message, storedId, shared } = delivery;
      const stored = (storedId > 0 && this.messages.of(message)) || this.messages.use(message);
      this.put(session, delivery, stored, shared && session.subscriptions.get(shared.filter));
    }
  }

  /** Drops the session's collected changes. */
  forget(clientId: string): void {
    this.changes.delete(clientId);
  }

  retained(message: Message): void {
    this.options.retainedChanged(message);
  }

  retainedRemoved(topic: string): void {
    this.options.retainedRemoved(topic);
  }

  retainedExpired(message: Message): void {
    this.options.retainedExpired(message);
  }

  commit(): void {
    this.options.commit();
  }

  get hasMuchToCommit(): boolean {
    return this.noted > fieldsOfTurn || this.notedBytes > bytesOfTurn;
  }

  /** For a commit with this position in the journal. */
  take(position: string): RedisOperation[] {
    const uses = new Map<StoredMessage, number>();
    const operations: RedisOperation[] = [];
    for (const [clientId, { anew, place, isLate, fields, deliveries }] of this.changes) {
      const key = sessionKey(clientId);
      if (anew) operations.push({ type: "end session", key });
      const written: string[] = [];
      const removed: string[] = [];
      // Others have not got that message yet. `keep` may have removed an earlier place.
      if (place && (isLate || isLater(place.id, position))) fields.set(aheadField, placeText(place));
      const released: string[] = [];
      for (const [field, value] of fields) {
        if (value !== undefined) written.push(field, value);
        else if (!anew) removed.push(field);
      }
      for (const [number, { stored, text }] of deliveries) {
        if (text === undefined) {
          if (!anew) released.push(deliveryField(number), stored.name);
          continue;
        }
        written.push(deliveryField(number), text);
        uses.set(stored, (uses.get(stored) ?? 0) + 1);
      }
      operations.push(...calls("HSET", key, written), ...calls("HDEL", key, removed));
      if (released.length > 0) operations.push({ type: "release messages", key, released });
    }
    for (const { key, stored, most } of this.waits) {
      operations.push({ type: "wait", key, name: stored.name, most });
      uses.set(stored, (uses.get(stored) ?? 0) + 1);
    }
    this.clear();
    if (uses.size === 0) return operations;
    const used: ScriptArgument[] = [];
    for (const [stored, count] of uses) used.push(stored.name, count, this.messages.toWrite(stored) ?? "");
    // First: a message that another session still needs must not lose its last use in between.
    return [{ type: "use messages", uses: used }, ...operations];
  }

  /** Redis is lost, or the sessions are: nothing of it is written. */
  drop(): void {
    this.clear();
    this.messages.unknown();
  }

  private clear(): void {
    for (const { stored } of this.waits) this.messages.release(stored.message);
    this.waits = [];
    this.changes = new Map();
    this.unwritten = new Set();
    this.noted = this.notedBytes = this.heldBytes = this.heldOfOthers = 0;
  }
}

function calls(command: string, key: string, values: readonly string[]): RedisOperation[] {
  const operations: RedisOperation[] = [];
  for (let at = 0; at < values.length; at += valuesAtOnce) {
    operations.push({ type: "call", values: [command, key, ...values.slice(at, at + valuesAtOnce)] });
  }
  return operations;
}
