import { setImmediate } from "node:timers/promises";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { SharedBudget } from "../../core/limits/shared-budget.ts";
import type { Packet } from "../codec/packet.ts";
import { type PacketError, reasonCode } from "../codec/reason-code.ts";
import { isLongName, isSystemTopic, mostLongNames } from "../codec/topic.ts";
import type { ClusterLink } from "./cluster-link.ts";
import type { Access, Identity } from "./connection/access.ts";
import { Connection } from "./connection/connection.ts";
import { handlePacket, refusePacket } from "./connection/packet-flow.ts";
import { type Place, Places } from "./connection/places.ts";
import { FlushScheduler } from "./delivery/flush-scheduler.ts";
import type { MessageLoad } from "./delivery/held-messages.ts";
import type { Transport } from "./delivery/output.ts";
import { UnreadLoad } from "./delivery/unread-load.ts";
import { EngineCounters } from "./engine-counters.ts";
import type { EngineLimits } from "./engine-limits.ts";
import { addressOf, type ConnectionOrigin, type EngineLog, type EngineObserver } from "./engine-observer.ts";
import { RetainedRoom } from "./retained/retained-room.ts";
import { Broadcasts } from "./routing/broadcasts.ts";
import type { Message } from "./routing/message.ts";
import type { MessageBus } from "./routing/message-bus.ts";
import { routeMessage } from "./routing/route-message.ts";
import { SharedHandover } from "./routing/shared-handover.ts";
import type { SharedGroup } from "./routing/subscription.ts";
import { SubscriptionTrie } from "./routing/subscription-trie.ts";
import { AwaySessions } from "./session/away-sessions.ts";
import { Departures } from "./session/departures.ts";
import { EndedSessions } from "./session/ended-sessions.ts";
import { ExpiringQueues } from "./session/expiring-queues.ts";
import { restoreInSteps } from "./session/move-session.ts";
import { type PendingWill, publishWill } from "./session/pending-will.ts";
import { recheckSession } from "./session/recheck-session.ts";
import { figuresOf } from "./session/recipient.ts";
import { Session, sessionBytes } from "./session/session.ts";
import type { SessionStore, StoredState } from "./session/session-store.ts";
import { StoreGuard } from "./session/store-guard.ts";
import { Sweep, sweepIntervalMs } from "./session/sweep.ts";
import { steadyNow } from "./steady-clock.ts";

export interface EngineOptions {
  readonly limits: EngineLimits;
  readonly access: Access;
  readonly bus: MessageBus;
  readonly cluster?: ClusterLink | undefined;
  readonly store?: SessionStore | undefined;
  readonly observer?: EngineObserver;
  readonly log: EngineLog;
}

/** For wills, of the 5 s after which a service that stops is killed: the listeners and the store need the rest. */
const longestStopMs = 2_500;

/** Of a session in its shared groups. */
const movesBetweenLooks = 64;

/** The broker without its listeners: sessions, routing, wills and expiry. Its parts get only the dependencies that they need. */
export class Engine {
  readonly limits: EngineLimits;
  readonly access: Access;
  readonly bus: MessageBus;
  readonly cluster: ClusterLink | undefined;
  readonly store: SessionStore | undefined;
  readonly observer: EngineObserver;
  readonly log: EngineLog;
  readonly counters = new EngineCounters();
  readonly scheduler: FlushScheduler;
  readonly arriving: SharedBudget;
  readonly sessions = new Map<string, Session>();
  readonly connections = new Set<Connection>();
  /** Connections whose CONNECT was accepted, by client identifier. */
  readonly clients = new Map<string, Connection>();
  readonly places: Places;
  readonly trie = new SubscriptionTrie();
  readonly groups = new Map<string, SharedGroup>();
  readonly away = new AwaySessions();
  readonly broadcasts = new Broadcasts(this);
  readonly departures = new Departures(this);
  readonly handover = new SharedHandover(this);
  readonly retainedRoom = new RetainedRoom(this);
  readonly endedSessions = new EndedSessions(this);
  readonly expiring = new ExpiringQueues(this);
  readonly load: MessageLoad = { waiting: 0, bytes: 0, holders: 0, inChunks: 0 };
  private readonly guard: StoreGuard | undefined = undefined;
  private restoring = false;
  private stopped: Promise<void> | undefined = undefined;
  private coarseNow = performance.now();
  private readonly sweep = new Sweep(this);
  private readonly timer: NodeJS.Timeout;

  constructor(options: EngineOptions) {
    this.limits = options.limits;
    this.scheduler = new FlushScheduler(undefined, new UnreadLoad(options.limits.allUnreadBytes));
    this.arriving = new SharedBudget(options.limits.allArrivingBytes);
    this.places = new Places(options.limits);
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
      this.scheduler.hasMuchToCommit = () => store.hasMuchToCommit === true;
    }
    this.bus.onMessage((message) => routeMessage(this, message));
    this.timer = setInterval(() => {
      this.coarseNow = performance.now();
      if (this.restoring) return;
      this.sweep.start();
      this.expiring.begin();
      this.scheduler.trim();
      // Much is committed in a turn of its own; where that fails it is tried again here.
      if (store?.hasMuchToCommit && !this.guard?.failing) void this.scheduler.nextTurn();
      else this.guard?.commit();
    }, sweepIntervalMs);
  }

  /**
   * Restores the sessions of an earlier run, over several turns of the event loop; to be awaited before clients are served. Those for
   * which there is no room are left out.
   */
  async restore(sessions: StoredState["sessions"]): Promise<void> {
    const { limits, counters, scheduler, store, guard } = this;
    let leftOut = 0;
    const rest = async () => {
      guard?.commit();
      await setImmediate();
    };
    // What is published now would not reach those that come later.
    this.restoring = true;
    for (const kept of sessions) {
      if (this.stopped) return;
      if (scheduler.isTurnOver()) await rest();
      if (!kept) continue;
      const bytes = sessionBytes(kept.clientId, kept.will);
      if (this.sessions.size >= limits.sessions || counters.sessionBytes + bytes > limits.allSessionBytes) {
        store?.removeSession({ clientId: kept.clientId, storedId: kept.storedId });
        leftOut++;
        continue;
      }
      for (const _ of restoreInSteps(this, kept)) if (scheduler.isTurnOver()) await rest();
    }
    this.restoring = false;
    if (leftOut > 0) this.log.warning(`${leftOut} sessions of an earlier run are above the limits and have ended.`);
  }

  /** The session store is failing, so no client is served. */
  get storeFailing(): boolean {
    return this.guard?.failing ?? false;
  }

  now(): number {
    return this.coarseNow;
  }

  /** For a connection from this address, of which the engine does not know yet. Undefined if there is none: it is to be closed. */
  takePlace(address: string, giveWay: () => void): Place | undefined {
    const place = this.places.take(address, giveWay);
    if (!place) this.observer.turnedAway?.();
    return place;
  }

  /** Opens a client's connection; the caller passes received bytes to `receive`, and calls `drained` and `close`. */
  open(transport: Transport, origin: ConnectionOrigin, place = this.takePlace(addressOf(origin), () => {})): Connection {
    const { cluster } = this;
    const key = rateLimitKey(addressOf(origin));
    const gated = cluster
      ? cluster.gate(transport, { key, drained: () => connection.drained(), run: (step) => connection.run(step) })
      : transport;
    const connection: Connection = new Connection(this, gated, origin, place);
    if (place) {
      place.giveWay = () => {
        if (connection.state !== "connected") this.observer.turnedAway?.();
        connection.giveWay();
      };
    }
    this.connections.add(connection);
    connection.run(() => {
      if (this.guard?.failing) this.guard.hold(connection);
      if (!place || this.stopped) transport.destroy();
      this.counters.connections++;
    });
    return connection;
  }

  onPacket(connection: Connection, packet: Packet): void {
    handlePacket(this, connection, packet);
  }

  onRefused(connection: Connection, error: PacketError): void {
    refusePacket(this, connection, error);
  }

  publish(message: Message): void {
    if (message.retain) this.retain(message);
    this.bus.publish(message);
  }

  /** The message has come back from the journal of the cluster. */
  deliverBack(message: Message): void {
    message.isBack = true;
    // It waits for its turn with those of the broker itself.
    message.publisherTakesTurns = false;
    routeMessage(this, message);
  }

  private retain(message: Message): void {
    if (message.payload.length > 0 && !this.retainedRoom.makeFor(message)) {
      this.observer.notRetained?.(message);
      return;
    }
    this.keepRetained(message);
  }

  /** Without payload: removes what is retained. */
  keepRetained(message: Message): void {
    this.bus.retained.store(message);
    this.observer.retainedChanged?.(message.topic, message.payload.length > 0 ? message : undefined);
  }

  /** Publishes a message of the broker itself: page, sample traffic, wills, `$SYS`. */
  readonly publishInternal = (message: Message): void => {
    if (!isSystemTopic(message.topic)) this.counters.messagesInternal++;
    this.observer.published?.(message, undefined, undefined);
    this.publish(message);
  };

  /**
   * Whether there is room for the session of a client with this will. If not, sessions of absent clients end, of the address that has
   * most of them and the oldest first: nobody can take all the room there is.
   */
  makeRoom({ clientId, username }: Identity, will: PendingWill | undefined): boolean {
    const { sessions, away, limits, counters, scheduler } = this;
    const known = sessions.get(clientId);
    if (!known && isLongName(clientId) && counters.longClients >= mostLongNames) return false;
    const bytes = sessionBytes(clientId, will, username);
    const lacksPlace = () => !known && sessions.size >= limits.sessions;
    const lacksBytes = () => counters.sessionBytes + bytes - (known?.heldBytes ?? 0) > limits.allSessionBytes;
    do {
      // What connected clients hold is no reason to end sessions of an address that has little.
      const isFair = () => lacksBytes() && away.mostBytes > limits.allSessionBytes / (away.addresses + 1);
      const oldest = lacksPlace() || isFair() ? away.firstOfLargest() : undefined;
      if (!oldest || oldest === known) break;
      this.endSession(oldest);
      this.observer.gaveWay?.();
    } while (!scheduler.isTurnOver());
    return !lacksPlace() && (!lacksBytes() || bytes <= limits.allSessionBytes / Math.max(1, sessions.size));
  }

  openSession(
    connection: Connection,
    cleanStart: boolean,
    expirySeconds: number,
    will: PendingWill | undefined,
  ): { session: Session; present: boolean } {
    const { clientId } = connection.identity;
    // [MQTT-3.1.4-2]
    this.clients.get(clientId)?.disconnect(reasonCode.sessionTakenOver, "Another connection took the session over.");
    const known = this.sessions.get(clientId);
    if (known) this.departures.finish(known);
    let session = this.sessions.get(clientId);
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
    session.address = rateLimitKey(connection.address);
    session.v5 = connection.v5;
    session.will = will;
    connection.session = session;
    session.recipient = connection;
    if (session.received.size > 0) connection.leftOpen = session.received.copy();
    session.recount();
    this.clients.set(clientId, connection);
    if (connection.place) this.places.accept(connection.place);
    recheckSession(this, session, connection.identity);
    const wasStored = session.store !== undefined;
    session.expirySeconds = expirySeconds;
    if (expirySeconds > 0) this.store?.saveSession(session);
    else if (wasStored) this.forgetStored(session);
    this.cluster?.opened(session);
    this.moveInGroups(session);
    return { session, present };
  }

  gatherShared(session: Session): void {
    this.handover.gather(session);
  }

  /** The session's client has connected or disconnected: its groups are told, in the turns of all. It may have thousands. */
  private moveInGroups(session: Session): void {
    const { cluster, scheduler } = this;
    const groups = session.groups?.values();
    if (!groups) return;
    const goOn = () => {
      let moved = 0;
      for (let next = groups.next(); !next.done; next = groups.next()) {
        next.value.moved(session);
        cluster?.memberChanged(next.value.name, session.clientId);
        if (++moved % movesBetweenLooks !== 0 || !scheduler.isTurnOver()) continue;
        scheduler.whenWritten(goOn, "much");
        return;
      }
    };
    goOn();
  }

  setExpiry(session: Session, expirySeconds: number): void {
    const stored = session.store !== undefined;
    session.expirySeconds = Math.min(expirySeconds, this.limits.sessionExpirySeconds);
    if (session.expirySeconds > 0) this.store?.saveSession(session);
    else if (stored) this.forgetStored(session);
  }

  private forgetStored(session: Session): void {
    const { inflight, queue, received, subscriptions } = session;
    const rows = inflight.size + queue.length + received.size + subscriptions.size;
    this.store?.removeSession(session, { deliveries: session.deliveries(), rows });
  }

  onClosed(connection: Connection, why: string): void {
    this.connections.delete(connection);
    const { session, place } = connection;
    if (place) this.places.free(place);
    connection.sentAliases?.clear();
    const isCurrent = session?.recipient === connection;
    if (isCurrent) {
      this.clients.delete(session.clientId);
      session.recipient = undefined;
      session.recount();
      session.disconnectedAt = steadyNow();
      session.lastConnection = figuresOf(connection);
    }
    this.observer.disconnected?.(connection, why, session !== undefined);
    if (isCurrent) this.leave(session);
  }

  /** The session's client has disconnected. */
  private leave(session: Session): void {
    // Nobody will take what it got until the departures, to which all that ends now is left.
    session.hasEnded = session.expirySeconds === 0;
    if (session.expirySeconds > 0) {
      // Otherwise a message that looks at the member finds that it is gone.
      if (this.cluster) this.moveInGroups(session);
      this.handover.offer(session);
    }
    const { will, disconnectedAt } = session;
    // [MQTT5-3.1.2-10], [MQTT5-3.1.3-9]: published at the end of the delay or of the session, whichever is first.
    if (will) session.willDueAt = disconnectedAt + Math.min(will.delaySeconds, session.expirySeconds) * 1_000;
    this.away.add(session);
    if (session.expirySeconds > 0) this.store?.saveSession(session);
    this.departures.begin();
  }

  /** Removes the session with its subscriptions and queue; a pending will is published now. */
  endSession(session: Session): void {
    if (session.will && session.recipient === undefined) publishWill(this, session);
    this.away.delete(session);
    this.sessions.delete(session.clientId);
    this.handover.end(session);
    if (session.store) this.forgetStored(session);
    session.release();
    this.endedSessions.remove(session);
    this.cluster?.ended(session.clientId);
  }

  /** Disconnects every client with "server shutting down", publishes the wills that are due, and stops all timers: over several turns of the event loop. */
  stop(): Promise<void> {
    // It is asked for again when the service stops after it could not start.
    this.stopped ??= Promise.resolve().then(() => this.endAll());
    return this.stopped;
  }

  private async endAll(): Promise<void> {
    clearInterval(this.timer);
    this.sweep.stop();
    this.expiring.stop();
    const until = performance.now() + longestStopMs;
    for (const connection of this.connections) {
      connection.disconnect(reasonCode.serverShuttingDown, "The server shuts down.");
      if (this.scheduler.isTurnOver()) await setImmediate();
    }
    while (!(this.departures.isIdle && this.endedSessions.isIdle) && performance.now() < until) await setImmediate();
    if (!this.departures.isIdle)
      this.log.warning("There was no time for all wills at the stop: those of kept sessions are published after the next start.");
    this.departures.stop();
    this.scheduler.flush();
    this.guard?.commit();
  }
}
