import { reasonCode } from "../codec/reason-code.ts";
import { isSystemTopic } from "../codec/topic.ts";
import type { ClusterLink } from "./cluster-link.ts";
import type { Access } from "./connection/access.ts";
import { Connection, type ConnectionOrigin } from "./connection/connection.ts";
import { unsubscribe } from "./connection/subscribe.ts";
import type { QueueLoad } from "./delivery/delivery-queue.ts";
import { FlushScheduler } from "./delivery/flush-scheduler.ts";
import type { Transport } from "./delivery/output.ts";
import type { EngineLimits } from "./engine-limits.ts";
import type { EngineLog, EngineObserver, EngineOptions } from "./engine-options.ts";
import { Figures } from "./figures.ts";
import type { Message } from "./routing/message.ts";
import type { MessageBus } from "./routing/message-bus.ts";
import { routeMessage } from "./routing/route-message.ts";
import { redistribute } from "./routing/shared-handover.ts";
import type { SharedGroup } from "./routing/subscription.ts";
import { SubscriptionTrie } from "./routing/subscription-trie.ts";
import { restoreSession } from "./session/move-session.ts";
import type { PendingWill } from "./session/pending-will.ts";
import { publishWill } from "./session/publish-will.ts";
import { recheckSession } from "./session/recheck-session.ts";
import { Session } from "./session/session.ts";
import type { SessionStore } from "./session/session-store.ts";
import { StoreGuard } from "./session/store-guard.ts";
import { sweep, sweepIntervalMs } from "./session/sweep.ts";

/** Less would drop messages for clients that read as quickly as they can. */
const leastUnreadBytes = 65_536;

/** Sessions, routing, wills and expiry: the broker without its listeners. */
export class Engine {
  readonly limits: EngineLimits;
  readonly access: Access;
  readonly bus: MessageBus;
  readonly cluster: ClusterLink | undefined;
  readonly store: SessionStore | undefined;
  readonly observer: EngineObserver;
  readonly log: EngineLog;
  readonly figures = new Figures();
  readonly scheduler = new FlushScheduler();
  readonly sessions = new Map<string, Session>();
  readonly connections = new Set<Connection>();
  readonly trie = new SubscriptionTrie();
  readonly groups = new Map<string, SharedGroup>();
  /** Sessions without a connection. */
  readonly away = new Set<Session>();
  readonly load: QueueLoad = { bytes: 0, queues: 0 };
  connectedClients = 0;
  private readonly guard: StoreGuard | undefined = undefined;
  private stopping = false;
  private coarseNow = Date.now();
  private readonly timer: NodeJS.Timeout;

  constructor(options: EngineOptions) {
    this.limits = options.limits;
    this.access = options.access;
    this.bus = options.bus;
    this.cluster = options.cluster;
    this.store = options.store;
    this.observer = options.observer ?? {};
    this.log = options.log;
    const { store } = this;
    if (store) {
      const guard = new StoreGuard({ store, connections: this.connections, log: this.log, onRecovered: this.scheduler.flush });
      this.guard = guard;
      this.scheduler.beforeWrite = () => guard.commit();
      for (const kept of options.restored ?? []) restoreSession(this, kept);
    }
    this.bus.onMessage((message) => routeMessage(this, message));
    this.cluster?.attach(this);
    this.timer = setInterval(() => {
      this.coarseNow = Date.now();
      sweep(this, this.coarseNow);
      this.scheduler.trim();
      this.guard?.commit();
    }, sweepIntervalMs);
  }

  /** Nothing is kept at the moment, and so nobody served. */
  get stands(): boolean {
    return this.guard?.failing ?? false;
  }

  /** The time as of the last sweep: good enough for keep alive, and free. */
  now(): number {
    return this.coarseNow;
  }

  /** Takes over a client's connection; feed what arrives to `receive`, and tell `drained` and `close`. */
  open(transport: Transport, origin: ConnectionOrigin): Connection {
    const { cluster } = this;
    const gated = cluster ? cluster.gate(transport, () => connection.drained()) : transport;
    const connection: Connection = new Connection(this, gated, origin);
    this.connections.add(connection);
    if (this.guard?.failing) this.guard.hold(connection);
    const isFull = this.connections.size > this.limits.sockets;
    if (isFull) this.observer.turnedAway?.();
    if (isFull || this.stopping) transport.destroy();
    this.figures.connections++;
    return connection;
  }

  /** Undefined: it is routed and kept already. */
  publish(message: Message): Promise<void> | undefined {
    if (!message.retain) return this.bus.publish(message);
    const keep = message.payload.length === 0 || this.retainedRoom(message);
    const kept = keep ? this.bus.retained.store(message) : undefined;
    if (keep) this.observer.retainedChanged?.(message.topic, message.payload.length > 0 ? message : undefined);
    else this.observer.notRetained?.(message);
    const routed = this.bus.publish(message);
    return kept || routed ? Promise.all([kept, routed]).then(() => {}) : undefined;
  }

  /** From the broker itself: the page, the demo, `$SYS`. */
  publishOwn(message: Message): Promise<void> | undefined {
    if (!isSystemTopic(message.topic)) this.figures.messagesOwn++;
    this.observer.published?.(message, undefined, undefined);
    return this.publish(message);
  }

  retainedRoom(message: Message): boolean {
    if (message.payload.length === 0) return true;
    const { retained } = this.bus;
    const { retainedMessages, retainedBytes } = this.limits;
    if (retained.has(message.topic)) return retained.heldBytes <= retainedBytes;
    return retained.count < retainedMessages && retained.heldBytes + message.bytes <= retainedBytes;
  }

  openSession(
    connection: Connection,
    cleanStart: boolean,
    expirySeconds: number,
    will: PendingWill | undefined,
  ): { session: Session; present: boolean } {
    const { clientId } = connection.identity;
    let session = this.sessions.get(clientId);
    // [MQTT-3.1.4-2]
    session?.connection?.disconnect(reasonCode.sessionTakenOver, "Another connection took the session over.");
    session = this.sessions.get(clientId);
    if (session && cleanStart) {
      this.endSession(session);
      session = undefined;
    }
    const present = session !== undefined;
    if (!session) {
      session = new Session(clientId, connection.v5, this);
      this.sessions.set(clientId, session);
    }
    this.away.delete(session);
    session.willDueAt = 0;
    session.v5 = connection.v5;
    session.will = will;
    connection.session = session;
    session.connection = connection;
    this.countClients(1);
    recheckSession(this, session, connection.identity);
    const wasStored = session.store !== undefined;
    session.expirySeconds = expirySeconds;
    if (expirySeconds > 0) this.store?.saveSession(session);
    else if (wasStored) this.forgetStored(session);
    this.cluster?.opened(session);
    this.tellGroups(session);
    return { session, present };
  }

  private countClients(more: 1 | -1): void {
    this.connectedClients += more;
    this.scheduler.mostUnreadBytes = Math.max(leastUnreadBytes, this.limits.allUnreadBytes / Math.max(1, this.connectedClients));
  }

  private tellGroups(session: Session): void {
    const { cluster } = this;
    if (cluster) for (const { group } of session.subscriptions.values()) if (group) cluster.memberChanged(group.name, session.clientId);
  }

  setExpiry(session: Session, expirySeconds: number): void {
    const stored = session.store !== undefined;
    session.expirySeconds = Math.min(expirySeconds, this.limits.sessionExpirySeconds);
    if (session.expirySeconds > 0) this.store?.saveSession(session);
    else if (stored) this.forgetStored(session);
  }

  private forgetStored(session: Session): void {
    for (const delivery of session.deliveries()) this.store?.removed(session.clientId, delivery);
    this.store?.removeSession(session.clientId);
  }

  connectionClosed(connection: Connection, why: string): void {
    this.connections.delete(connection);
    const { session } = connection;
    this.observer.disconnected?.(connection, why);
    if (!session || session.connection !== connection) return;
    this.countClients(-1);
    session.connection = undefined;
    session.disconnectedAt = Date.now();
    this.away.add(session);
    redistribute(this, session);
    this.tellGroups(session);
    const { will } = session;
    // [MQTT5-3.1.2-10], [MQTT5-3.1.3-9]: at the end of the delay or of the session, whichever is first.
    if (will) {
      const delay = Math.min(will.delaySeconds, session.expirySeconds);
      if (delay === 0) publishWill(this, session);
      else session.willDueAt = session.disconnectedAt + delay * 1_000;
    }
    if (session.expirySeconds === 0) this.endSession(session);
    else this.store?.saveSession(session);
  }

  /** The session and all that belongs to it goes; a will that waits is published now. */
  endSession(session: Session): void {
    if (session.will && session.connection === undefined) publishWill(this, session);
    for (const filter of [...session.subscriptions.keys()]) unsubscribe(this, session, filter);
    this.away.delete(session);
    this.sessions.delete(session.clientId);
    redistribute(this, session);
    if (session.store) this.forgetStored(session);
    session.queue.clear();
    this.cluster?.ended(session.clientId);
  }

  /** Everyone is told that the server shuts down; then nothing moves any more. */
  stop(): void {
    this.stopping = true;
    clearInterval(this.timer);
    for (const connection of [...this.connections]) {
      connection.disconnect(reasonCode.serverShuttingDown, "The server shuts down.");
    }
    this.scheduler.flush();
    this.guard?.commit();
  }
}
