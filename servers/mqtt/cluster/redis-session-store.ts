import type { Delivery } from "../engine/delivery/delivery.ts";
import type { Message } from "../engine/routing/message.ts";
import type { SubscriptionOptions } from "../engine/routing/subscription.ts";
import type { Session } from "../engine/session/session.ts";
import type { HeldRows, SavedSession, SessionKey, SessionStore } from "../engine/session/session-store.ts";
import { keyPrefix, type RedisOperation } from "./cluster-scripts.ts";
import {
  deliveryBytes,
  messageField,
  optionsText,
  progressField,
  progressText,
  receivedField,
  sessionField,
  sessionText,
  subscriptionField,
} from "./session-fields.ts";

const sessionKey = (clientId: string): string => `${keyPrefix}session:${clientId}`;

/** Most fields and values in one call: Lua's `unpack` takes a few thousand. */
const valuesAtOnce = 1_000;

/** Fields that are written in about as long as clients have in a turn of the event loop. */
const fieldsOfTurn = 4_000;

/** The same in bytes of their values. */
const bytesOfTurn = 1 << 20;

/** Changes of one session since the last commit; the last change of a field wins. */
interface Change {
  /** The hash is removed first. */
  anew: boolean;
  readonly fields: Map<string, string | Buffer | undefined>;
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
  private changes = new Map<string, Change>();
  private lastDelivery = 0;
  /** Since `commit` was called last. */
  private noted = 0;
  private notedBytes = 0;
  /** Of the values that are not taken. */
  heldBytes = 0;
  private readonly options: RedisSessionStoreOptions;

  constructor(options: RedisSessionStoreOptions) {
    this.options = options;
  }

  private change(clientId: string): Change {
    let change = this.changes.get(clientId);
    if (!change) {
      if (this.changes.size === 0) this.options.noted();
      change = { anew: false, fields: new Map() };
      this.changes.set(clientId, change);
    }
    return change;
  }

  private set(clientId: string, field: string, value: string | Buffer | undefined): void {
    this.noted++;
    this.notedBytes += value?.length ?? 0;
    this.heldBytes += value?.length ?? 0;
    this.change(clientId).fields.set(field, value);
  }

  saveSession(session: SavedSession): void {
    this.set(session.clientId, sessionField, sessionText(session));
  }

  removeSession({ clientId }: Pick<SessionKey, "clientId">, held?: HeldRows): void {
    for (const delivery of held?.deliveries ?? []) delivery.storedId = 0;
    const change = this.change(clientId);
    change.anew = true;
    change.fields.clear();
  }

  subscribed({ clientId }: SessionKey, filter: string, options: SubscriptionOptions): void {
    this.set(clientId, subscriptionField(filter), optionsText(options));
  }

  unsubscribed({ clientId }: SessionKey, filter: string): void {
    this.set(clientId, subscriptionField(filter), undefined);
  }

  queued(session: SessionKey, delivery: Delivery): void {
    delivery.storedId = ++this.lastDelivery;
    this.set(session.clientId, messageField(delivery.storedId), deliveryBytes(delivery));
    if (delivery.packetId > 0) this.updated(session, delivery);
  }

  updated({ clientId }: SessionKey, delivery: Delivery): void {
    this.set(clientId, progressField(delivery.storedId), progressText(delivery));
  }

  removed({ clientId }: SessionKey, delivery: Delivery): void {
    if (delivery.storedId === 0) return;
    this.set(clientId, messageField(delivery.storedId), undefined);
    this.set(clientId, progressField(delivery.storedId), undefined);
    delivery.storedId = 0;
  }

  received({ clientId }: SessionKey, packetId: number): void {
    this.set(clientId, receivedField(packetId), "");
  }

  released({ clientId }: SessionKey, packetId: number): void {
    this.set(clientId, receivedField(packetId), undefined);
  }

  /** Writes the whole session, replacing what Redis has. */
  rewrite(session: Session): void {
    this.removeSession(session);
    this.saveSession(session);
    if (!session.store) return;
    for (const { filter, options } of session.subscriptions.values()) this.subscribed(session, filter, options);
    for (const packetId of session.received.all()) this.received(session, packetId);
    for (const delivery of session.deliveries()) this.queued(session, delivery);
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
    this.noted = 0;
    this.notedBytes = 0;
    this.options.commit();
  }

  get hasMuchToCommit(): boolean {
    return this.noted > fieldsOfTurn || this.notedBytes > bytesOfTurn;
  }

  take(): RedisOperation[] {
    const operations: RedisOperation[] = [];
    for (const [clientId, { anew, fields }] of this.changes) {
      const key = sessionKey(clientId);
      if (anew) operations.push({ type: "call", values: ["DEL", key] });
      const written: (string | Buffer)[] = [];
      const removed: string[] = [];
      for (const [field, value] of fields) {
        if (value !== undefined) written.push(field, value);
        else if (!anew) removed.push(field);
      }
      operations.push(...calls("HSET", key, written), ...calls("HDEL", key, removed));
    }
    this.changes = new Map();
    this.heldBytes = 0;
    return operations;
  }
}

function calls(command: string, key: string, values: readonly (string | Buffer)[]): RedisOperation[] {
  const operations: RedisOperation[] = [];
  for (let at = 0; at < values.length; at += valuesAtOnce) {
    operations.push({ type: "call", values: [command, key, ...values.slice(at, at + valuesAtOnce)] });
  }
  return operations;
}
