import { setTimeout as sleep } from "node:timers/promises";
import { errorText } from "../../core/service/service-error.ts";
import { reasonCode } from "../codec/reason-code.ts";
import type { Message } from "../engine/routing/message.ts";
import { isOver } from "../engine/session/away-sessions.ts";
import { abandonSession, adoptSession, restoreClosed, surrenderSession } from "../engine/session/move-session.ts";
import type { Session } from "../engine/session/session.ts";
import type { StoredSession } from "../engine/session/session-store.ts";
import { steadyNow } from "../engine/steady-clock.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix, type Reply, replyList, replyText } from "./cluster-scripts.ts";
import type { Entry } from "./frame.ts";
import type { GroupMembers } from "./group-members.ts";
import { framesAfter, isLater } from "./journal.ts";
import { MissedMessages } from "./missed-messages.ts";
import { type ReadSession, readSession, stateAtText } from "./session-fields.ts";
import type { LoadedMessages } from "./stored-messages.ts";

const ownersKey = `${keyPrefix}owners`;
/** Interval of retries: requests and answers are not in the journal. */
const answerMs = 500;
const retryMs = 100;
const clientsAtOnce = 200;
/** Names and values of the fields of sessions that are opened together. */
const valuesAtOnce = 100_000;

/** The fields of its hash, as Redis answers, and the `term` in which it has them, with the broker's name then. */
interface Claimed {
  readonly clientId: string;
  readonly values: readonly Reply[];
  readonly term: number;
  readonly brokerId: string;
}

/** A session of another broker, to be opened. */
interface Restored {
  readonly stored: StoredSession;
  readonly session: Session;
  /** Redis has it so. */
  readonly isAsStored: boolean;
}

type Claim = { readonly kind: "mine"; readonly claimed: Claimed } | { readonly kind: "theirs"; readonly owner: string };

export interface OwnershipOptions {
  readonly parts: ClusterParts;
  readonly members: GroupMembers;
  /** Timeout for a handover; long enough for a broker that has crashed to be declared dead. */
  readonly patienceMs: number;
  /** Whether a broker that does not answer counts as dead; false right after Redis was started. */
  readonly mayBury: () => boolean;
}

/** Exactly one broker owns a client's session at any time; this moves it to where the client connects. */
export class SessionOwnership {
  /** By client: the operation that has to end before the next one starts. */
  private readonly bringing = new Map<string, Promise<unknown>>();
  private readonly answered = new Map<string, () => void>();
  /** Clients that connected while Redis was lost: their sessions were not requested. */
  private readonly unclaimed = new Set<string>();
  /** To be opened by `nextAdoption`. */
  private readonly claimed: Claimed[] = [];
  private nextAdoption: Promise<void> | undefined = undefined;
  private lastAdoption: Promise<void> = Promise.resolve();
  private readonly parts: ClusterParts;
  private readonly options: OwnershipOptions;

  constructor(options: OwnershipOptions) {
    this.parts = options.parts;
    this.options = options;
  }

  bring(clientId: string, cleanStart: boolean): Promise<boolean> {
    const before = this.bringing.get(clientId);
    if (!before && this.parts.engine.sessions.has(clientId)) return Promise.resolve(true);
    const work = (before ?? Promise.resolve())
      .then(() => this.fetch(clientId, cleanStart))
      .catch((error: unknown) => {
        this.parts.log.error(`An error while the session of ${clientId} was fetched: ${errorText(error)}`);
        return false;
      });
    this.during(clientId, work);
    return work;
  }

  private during(clientId: string, work: Promise<unknown>): void {
    this.bringing.set(clientId, work);
    void work.then(() => {
      // After the waiting connection has opened the session.
      setImmediate(() => {
        if (this.bringing.get(clientId) !== work) return;
        this.bringing.delete(clientId);
        // The connection closed before the session was opened.
        if (!this.parts.engine.sessions.has(clientId)) this.parts.note({ type: "release", clientId });
      });
    });
  }

  private async fetch(clientId: string, cleanStart: boolean): Promise<boolean> {
    const { parts } = this;
    const end = performance.now() + this.options.patienceMs;
    while (performance.now() < end) {
      if (parts.engine.sessions.has(clientId)) return true;
      await parts.comingBack;
      if (!parts.isConnected) {
        this.unclaimed.add(clientId);
        return true;
      }
      try {
        const { brokerId } = parts;
        const claim = await this.claim(clientId, true);
        if (parts.brokerId !== brokerId) continue;
        if (claim.kind === "mine") {
          if (claim.claimed.values.length === 0) return true;
          await this.adopt([claim.claimed]);
          if (parts.brokerId !== brokerId) continue;
          // An expired or unreadable session is removed; the next claim then finds none.
          if (!parts.engine.sessions.has(clientId)) this.ended(clientId);
          continue;
        }
        parts.outgoing.add({ type: "wanted", to: claim.owner, clientId, cleanStart });
        parts.flush();
        await this.answer(clientId);
      } catch (error) {
        const problem = errorText(error);
        // The key is not a hash, so it is not a session of a broker.
        if (problem.includes("WRONGTYPE")) this.ended(clientId);
        else parts.lost(problem);
        await sleep(retryMs, undefined, { ref: false });
      }
    }
    parts.log.warning(`The session of ${clientId} is at another broker, which does not release it.`);
    return false;
  }

  private async claim(clientId: string, withSession: boolean): Promise<Claim> {
    const { parts } = this;
    // Earlier changes of the client are committed first.
    parts.flush();
    const { term } = parts.scripts;
    const { brokerId } = parts;
    const reply = await parts.scripts.run("claim", brokerId, [clientId, withSession ? 1 : 0, this.options.mayBury() ? 1 : 0]);
    const [kind, owner, fields] = replyList(reply);
    if (replyText(kind) === "theirs") return { kind: "theirs", owner: replyText(owner) };
    if (replyText(kind) !== "mine") throw new Error("it gave an answer that says nothing of a session");
    return { kind: "mine", claimed: { clientId, values: replyList(fields), term, brokerId } };
  }

  private async answer(clientId: string): Promise<void> {
    const stop = new AbortController();
    const answered = new Promise<void>((resolve) => this.answered.set(clientId, resolve));
    await Promise.race([answered, sleep(answerMs, undefined, { ref: false, signal: stop.signal }).catch(() => {})]);
    stop.abort();
    this.answered.delete(clientId);
  }

  onSurrendered({ to, clientId }: Entry & { type: "surrendered" }): void {
    if (to === this.parts.brokerId) this.answered.get(clientId)?.();
  }

  private answerWanted(wanted: Entry & { type: "wanted" }, from: string): void {
    try {
      this.onWanted(wanted, from);
    } catch (error) {
      this.parts.log.error(`An error while the session of ${wanted.clientId} was transferred: ${errorText(error)}`);
    }
  }

  onWanted(wanted: Entry & { type: "wanted" }, from: string): void {
    const { parts } = this;
    const { to, clientId, cleanStart } = wanted;
    if (to !== parts.brokerId) return;
    const underWay = this.bringing.get(clientId);
    if (underWay) {
      void underWay.then(() => setImmediate(() => this.answerWanted(wanted, from)));
      return;
    }
    parts.flush();
    const groups = [...(parts.engine.sessions.get(clientId)?.subscriptions.values() ?? [])].flatMap(({ group }) => group?.name ?? []);
    if (surrenderSession(parts.engine, clientId, cleanStart)) {
      this.options.members.moved(groups, clientId, from);
      // Messages of this broker up to the frame of the answer were already routed to the session.
      const at = { id: parts.incoming.position, seq: parts.outgoing.lastSeq + 1, from: parts.brokerId };
      parts.note({ type: "surrender", clientId, to: from, at: stateAtText(at) });
    } else parts.note({ type: "release", clientId });
    parts.outgoing.add({ type: "surrendered", to: from, clientId });
    parts.flush();
  }

  /** The broker that requested them is dead: the sessions stay here. */
  takeBack(clients: readonly string[]): void {
    for (const clientId of clients) void this.bring(clientId, false);
  }

  opened(session: Session): void {
    // The previous connection may have released it in this tick.
    this.parts.note({ type: "call", values: ["HSET", ownersKey, session.clientId, this.parts.brokerId] });
    // The session ends with its connection, but its will must be published even if this broker crashes.
    if (session.will && session.expirySeconds === 0) this.parts.store.saveSession(session);
  }

  ended(clientId: string): void {
    this.unclaimed.delete(clientId);
    this.parts.store.removeSession({ clientId });
    this.parts.note({ type: "release", clientId });
  }

  /**
   * Opens sessions that this broker has taken over, in the state in which the other broker stored them. One search of the journal takes place
   * at a time: those that come meanwhile share the next one.
   */
  private adopt(claims: readonly Claimed[]): Promise<void> {
    this.claimed.push(...claims);
    this.nextAdoption ??= this.lastAdoption.then(() => {
      this.nextAdoption = undefined;
      return this.adoptAll(this.claimed.splice(0));
    });
    this.lastAdoption = this.nextAdoption.catch(() => {});
    return this.nextAdoption;
  }

  private async adoptAll(claims: readonly Claimed[]): Promise<void> {
    for (let at = 0; at < claims.length; ) {
      const batch: Claimed[] = [];
      for (let values = 0; at < claims.length && (batch.length === 0 || values < valuesAtOnce); at++) {
        const claim = claims[at] as Claimed;
        batch.push(claim);
        values += claim.values.length;
      }
      await this.adoptBatch(batch);
    }
  }

  private async adoptBatch(claims: readonly Claimed[]): Promise<void> {
    const { parts } = this;
    const { incoming, engine } = parts;
    const read: (ReadSession & Claimed)[] = [];
    const missed = new MissedMessages(engine.limits);
    for (const claimed of claims) {
      const { clientId, values } = claimed;
      const session = await this.inTurns(readSession(clientId, values));
      if (session) {
        read.push({ ...claimed, ...session, values: [] });
        await this.inTurns(missed.add(session));
      } else if (values.length > 0) parts.log.warning(`The session of ${clientId} in Redis cannot be read and is left out.`);
    }
    const { places } = missed;
    if (places) await incoming.reached(places.latest);
    const stop = incoming.record(missed.applied);
    try {
      if (places) await this.readJournal(missed, places.earliest, incoming.position);
      for (const one of read) {
        const loaded = await parts.store.messages.load(parts.redis.commands, new Set(one.deliveries.flatMap(({ name }) => name || [])));
        const restored = await this.inTurns(this.restoreOne(one, loaded));
        if (restored) await incoming.betweenFrames(() => this.openOne(one, restored, missed));
      }
    } finally {
      stop();
    }
  }

  /** Up to what was applied here. */
  private async readJournal(missed: MissedMessages, after: string, upTo: string): Promise<void> {
    try {
      for await (const received of framesAfter(this.parts.redis.commands, after)) {
        if (isLater(received.id, upTo)) return;
        await this.inTurns(missed.read(received));
      }
    } catch (error) {
      this.parts.log.warning(`Messages published while a session moved cannot be read: ${errorText(error)}`);
    }
  }

  private async inTurns<Result>(steps: Iterator<unknown, Result>): Promise<Result> {
    const { scheduler } = this.parts.engine;
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (scheduler.isTurnOver()) await scheduler.nextTurn();
    }
  }

  /** Claimed under an identifier that the others have declared dead meanwhile, or open already. */
  private isNotWanted({ session, brokerId }: ReadSession & Claimed): boolean {
    return this.parts.brokerId !== brokerId || this.parts.engine.sessions.has(session.clientId);
  }

  /** A step for each subscription and message. Undefined if the session is not wanted. */
  private *restoreOne(read: ReadSession & Claimed, loaded: LoadedMessages): Generator<undefined, Restored | undefined> {
    if (this.isNotWanted(read)) return undefined;
    const { engine, log, store } = this.parts;
    const { session: kept, deliveries, broken } = read;
    const unreadable = broken + deliveries.filter(({ name }) => name !== "" && !loaded.messages.has(name)).length;
    if (unreadable > 0) log.warning(`${unreadable} parts of the session of ${kept.clientId} cannot be read and are left out.`);
    let isAsStored = !read.isFormer && unreadable === 0;
    const onDiffering = () => {
      isAsStored = false;
    };
    const stored = { ...kept, deliveries: store.restored(read, loaded, onDiffering) };
    const session = yield* restoreClosed(engine, stored);
    return { stored, session, isAsStored };
  }

  /** `missed` has all that was applied here and is not in its state. */
  private openOne(read: ReadSession & Claimed, { stored, session, isAsStored }: Restored, missed: MissedMessages): void {
    const { engine, store } = this.parts;
    if (this.isNotWanted(read)) {
      abandonSession(engine, session);
      return;
    }
    // Messages published here before go into a frame.
    this.parts.flush();
    const { messages, dropped } = missed.takeOf(stored.clientId, read.at ? this.notReceivedBack(read.at) : []);
    adoptSession(engine, session, stored, messages);
    session.dropped += dropped;
    engine.counters.dropped["queue full"] += dropped;
    // Redis may have lost it since.
    if (isAsStored && session.store && read.term === this.parts.scripts.term) store.keep(session);
    else store.rewrite(session);
    if (isOver(session, steadyNow())) engine.endSession(session);
  }

  /** Messages published here and not received back yet: no applied frame contains them. Those that are awaited come to all sessions. */
  private notReceivedBack(at: { readonly from: string; readonly seq: number }): Message[] {
    const { outgoing, brokerId } = this.parts;
    return outgoing.waiting
      .filter(({ seq }) => at.from !== brokerId || seq > at.seq)
      .flatMap(({ entries }) =>
        entries.flatMap((entry) =>
          entry.type === "message" && entry.routed && !outgoing.awaited.has(entry.message) ? [entry.message] : [],
        ),
      );
  }

  /** Takes over all sessions of a dead broker. */
  async takeOver(dead: string): Promise<number> {
    const { redis, engine } = this.parts;
    let count = 0;
    let cursor = "0";
    do {
      const [next, values] = await redis.commands.hscan(ownersKey, cursor, "COUNT", clientsAtOnce);
      cursor = next;
      const clients: string[] = [];
      for (let at = 0; at + 1 < values.length; at += 2) if (values[at + 1] === dead) clients.push(values[at] as string);
      // A client that has just connected claims its session itself, which needs the dead broker's entry.
      const underWay = clients.flatMap((clientId) => this.bringing.get(clientId) ?? []);
      count += await this.takeOverSome(clients.filter((clientId) => !this.bringing.has(clientId) && !engine.sessions.has(clientId)));
      await Promise.all(underWay);
    } while (cursor !== "0");
    return count;
  }

  private async takeOverSome(clients: readonly string[]): Promise<number> {
    if (clients.length === 0) return 0;
    const { brokerId } = this.parts;
    const work = Promise.all(clients.map((clientId) => this.claim(clientId, true))).then(async (claims) => {
      if (this.parts.brokerId !== brokerId) return;
      await this.adopt(claims.flatMap((claim) => (claim.kind === "mine" ? claim.claimed : [])));
    });
    // Whether it succeeds or not, clients that connect meanwhile look up their sessions themselves.
    for (const clientId of clients)
      this.during(
        clientId,
        work.catch(() => {}),
      );
    await work;
    return clients.filter((clientId) => this.parts.engine.sessions.has(clientId)).length;
  }

  /** Redis is back: rewrites all sessions of this broker, replacing what Redis has. */
  async claimAll(): Promise<void> {
    const { engine, store, log } = this.parts;
    for (const clientId of [...this.unclaimed]) {
      const session = engine.sessions.get(clientId);
      const claim = session && (await this.claim(clientId, false));
      this.unclaimed.delete(clientId);
      if (claim?.kind !== "theirs") continue;
      log.info(`${clientId} connected while Redis was lost, but its session is at another broker: it has to connect again.`);
      engine.clients.get(clientId)?.disconnect(reasonCode.serverShuttingDown, "The session is at another broker; connect again.");
      surrenderSession(engine, clientId, false);
      // The other broker writes it.
      store.forget(clientId);
    }
    let count = 0;
    // Sessions that begin meanwhile are written as always.
    for (const session of [...engine.sessions.values()]) {
      if (engine.scheduler.isTurnOver()) {
        this.parts.flush();
        await this.parts.caughtUp();
        await engine.scheduler.nextTurn();
      }
      if (!this.parts.isConnected) return;
      if (engine.sessions.get(session.clientId) !== session) continue;
      this.parts.note({ type: "call", values: ["HSET", ownersKey, session.clientId, this.parts.brokerId] });
      if (session.store || session.will) store.rewrite(session);
      if (++count % clientsAtOnce === 0) this.parts.flush();
    }
    this.parts.flush();
  }
}
