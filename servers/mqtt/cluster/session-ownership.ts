import { setTimeout as sleep } from "node:timers/promises";
import { errorText } from "../../core/service/service-error.ts";
import { reasonCode } from "../codec/reason-code.ts";
import type { WaitingClient } from "../engine/cluster-link.ts";
import { surrenderSession } from "../engine/session/move-session.ts";
import type { Session } from "../engine/session/session.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix, replyList, replyText } from "./cluster-scripts.ts";
import type { Entry } from "./frame.ts";
import type { GroupMembers } from "./group-members.ts";
import { type Claimed, SessionAdoption } from "./session-adoption.ts";
import { stateAtText } from "./session-fields.ts";
import { WorkPlaces } from "./work-places.ts";

const ownersKey = `${keyPrefix}owners`;
/** Interval of retries: requests and answers are not in the journal. */
const answerMs = 500;
const retryMs = 100;
const clientsAtOnce = 200;
/** Sessions for clients of one address that are read from Redis and opened at the same time. */
const fetchedAtOnce = 32;
type Wanted = Entry & { type: "wanted" };

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
  /** By client: how many connections are about to open its session. Until then it stays here. */
  private readonly opening = new Map<string, number>();
  /** By client, and by the broker that wants its session then. */
  private readonly wanted = new Map<string, Map<string, Wanted>>();
  private readonly answered = new Map<string, () => void>();
  /** Clients that connected while Redis was lost: their sessions were not requested, or somebody else may have them since. */
  private readonly unclaimed = new Set<string>();
  private readonly places = new WorkPlaces(fetchedAtOnce);
  private readonly adoption: SessionAdoption;
  private readonly parts: ClusterParts;
  private readonly options: OwnershipOptions;

  constructor(options: OwnershipOptions) {
    this.parts = options.parts;
    this.adoption = new SessionAdoption(options.parts);
    this.options = options;
  }

  /** `settled` is to be called once for each call. */
  bring(clientId: string, cleanStart: boolean, client?: WaitingClient): Promise<boolean> {
    this.opening.set(clientId, (this.opening.get(clientId) ?? 0) + 1);
    return this.request(clientId, cleanStart, client?.key ?? "", () => this.opening.has(clientId));
  }

  /** Nothing is begun for a client that has left, and `isWanted` says so. */
  private request(clientId: string, cleanStart: boolean, key = "", isWanted = () => true): Promise<boolean> {
    const before = this.bringing.get(clientId);
    if (!before && this.parts.engine.sessions.has(clientId)) return Promise.resolve(true);
    const work = (before ?? Promise.resolve())
      .then(() => this.fetch(clientId, cleanStart, key, isWanted))
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
      if (this.bringing.get(clientId) !== work) return;
      this.bringing.delete(clientId);
      setImmediate(() => this.rest(clientId));
    });
  }

  /** The connection has opened the session, or is closed. */
  settled(clientId: string): void {
    const left = (this.opening.get(clientId) ?? 0) - 1;
    if (left > 0) {
      this.opening.set(clientId, left);
      return;
    }
    this.opening.delete(clientId);
    setImmediate(() => this.rest(clientId));
  }

  /** Nobody here is about to open the session: others may have it. */
  private rest(clientId: string): void {
    if (this.isBusyWith(clientId)) return;
    const { parts, wanted, unclaimed } = this;
    if (!parts.engine.sessions.has(clientId)) {
      // The connection closed before the session was opened.
      unclaimed.delete(clientId);
      parts.note({ type: "release", clientId });
    } else if (unclaimed.has(clientId) && parts.isConnected) {
      void this.claimLate(clientId).then(() => this.rest(clientId));
      return;
    }
    const waiting = wanted.get(clientId) ?? [];
    wanted.delete(clientId);
    for (const [from, one] of waiting) this.answerWanted(one, from);
  }

  private isBusyWith(clientId: string): boolean {
    return this.bringing.has(clientId) || this.opening.has(clientId);
  }

  private async fetch(clientId: string, cleanStart: boolean, key: string, isWanted: () => boolean): Promise<boolean> {
    const { parts } = this;
    let end = performance.now() + this.options.patienceMs;
    let hasAsked = false;
    while (performance.now() < end) {
      if (parts.engine.sessions.has(clientId)) return true;
      await parts.comingBack;
      if (!parts.isConnected) {
        this.unclaimed.add(clientId);
        return true;
      }
      const from = performance.now();
      await this.places.enter(key);
      end += performance.now() - from;
      let owner: string | undefined;
      try {
        // What the other broker has been asked for comes here.
        if (!hasAsked && !isWanted()) return false;
        const { brokerId } = parts;
        hasAsked = true;
        const claim = await this.claim(clientId, true);
        if (parts.brokerId !== brokerId) continue;
        if (claim.kind === "theirs") ({ owner } = claim);
        else {
          if (claim.claimed.values.length === 0) return true;
          await this.adoption.adopt([claim.claimed], key);
          if (parts.brokerId !== brokerId) continue;
          // An expired or unreadable session is removed; the next claim then finds none.
          if (!parts.engine.sessions.has(clientId)) this.ended(clientId);
        }
      } catch (error) {
        const problem = errorText(error);
        // The key is not a hash, so it is not a session of a broker.
        if (problem.includes("WRONGTYPE")) this.ended(clientId);
        else parts.lost(problem);
        await sleep(retryMs, undefined, { ref: false });
      } finally {
        this.places.leave(key);
      }
      if (owner === undefined) continue;
      // Others of the address do not wait for that broker, which may be dead.
      parts.outgoing.add({ type: "wanted", to: owner, clientId, cleanStart });
      parts.flush();
      await this.answer(clientId);
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

  private answerWanted(wanted: Wanted, from: string): void {
    try {
      this.onWanted(wanted, from);
    } catch (error) {
      this.parts.log.error(`An error while the session of ${wanted.clientId} was transferred: ${errorText(error)}`);
    }
  }

  onWanted(wanted: Wanted, from: string): void {
    const { parts } = this;
    const { to, clientId, cleanStart } = wanted;
    if (to !== parts.brokerId) return;
    // Redis does not have what the session got meanwhile. The other broker asks again.
    if (!parts.isConnected || parts.comingBack) return;
    if (this.isBusyWith(clientId)) {
      this.wanted.set(clientId, (this.wanted.get(clientId) ?? new Map<string, Wanted>()).set(from, wanted));
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
    for (const clientId of clients) void this.request(clientId, false);
  }

  opened(session: Session): void {
    const { clientId } = session;
    // The previous connection may have released it in this tick.
    if (!this.unclaimed.has(clientId)) this.parts.note({ type: "call", values: ["HSET", ownersKey, clientId, this.parts.brokerId] });
    // The session ends with its connection, but its will must be published even if this broker crashes.
    if (session.will && session.expirySeconds === 0) this.parts.store.saveSession(session);
  }

  ended(clientId: string): void {
    if (!this.opening.has(clientId)) this.unclaimed.delete(clientId);
    this.parts.store.removeSession({ clientId });
    // Another connection of the client is about to open a new one.
    if (!this.opening.has(clientId)) this.parts.note({ type: "release", clientId });
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
      await this.adoption.adopt(claims.flatMap((claim) => (claim.kind === "mine" ? claim.claimed : [])));
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

  /** What was claimed may be no more: Redis was emptied, or the others have declared this broker dead. */
  doubt(): void {
    for (const clientId of this.opening.keys()) this.unclaimed.add(clientId);
  }

  /** Whether a session that was opened without Redis may stay. */
  private async claimOpened(clientId: string): Promise<void> {
    const { engine, store, log } = this.parts;
    const session = engine.sessions.get(clientId);
    const claim = session && (await this.claim(clientId, false));
    this.unclaimed.delete(clientId);
    if (claim?.kind !== "theirs") return;
    log.info(`${clientId} connected while Redis was lost, but its session is at another broker: it has to connect again.`);
    engine.clients.get(clientId)?.disconnect(reasonCode.serverShuttingDown, "The session is at another broker; connect again.");
    surrenderSession(engine, clientId, false);
    // The other broker writes it.
    store.forget(clientId);
  }

  private async claimLate(clientId: string): Promise<void> {
    const { engine, store } = this.parts;
    try {
      await this.claimOpened(clientId);
    } catch (error) {
      this.parts.lost(errorText(error));
      return;
    }
    const session = engine.sessions.get(clientId);
    if (session && (session.store || session.will)) store.rewrite(session);
  }

  /** Redis is back: rewrites all sessions of this broker, replacing what Redis has. */
  async claimAll(): Promise<void> {
    const { engine, store } = this.parts;
    this.doubt();
    for (const clientId of [...this.unclaimed]) if (!this.opening.has(clientId)) await this.claimOpened(clientId);
    let count = 0;
    // In what is called then, and not where Redis has answered: a commit that is due would follow in the same turn of the event loop.
    await engine.scheduler.nextTurn();
    // Sessions that begin meanwhile are written as always.
    for (const session of [...engine.sessions.values()]) {
      if (engine.scheduler.isTurnOver()) {
        await this.commitInTurn();
        await this.parts.caughtUp();
        await engine.scheduler.nextTurn();
      }
      if (!this.parts.isConnected) return;
      if (engine.sessions.get(session.clientId) !== session) continue;
      this.parts.note({ type: "call", values: ["HSET", ownersKey, session.clientId, this.parts.brokerId] });
      if (session.store || session.will) store.rewrite(session);
      if (++count % clientsAtOnce === 0) this.parts.flush();
    }
    await this.commitInTurn();
  }

  /** What was written is committed in a turn of its own, if it is much. */
  private async commitInTurn(): Promise<void> {
    const { scheduler } = this.parts.engine;
    if (scheduler.isTurnOver()) await scheduler.nextTurn();
    this.parts.flush();
  }
}
