import { errorText } from "../../core/service/service-error.ts";
import { FairOrder } from "../../core/turns/fair-order.ts";
import type { Message } from "../engine/routing/message.ts";
import { isOver } from "../engine/session/away-sessions.ts";
import { abandonSession, adoptSession, deliverMissed, restoreClosed } from "../engine/session/move-session.ts";
import type { Session } from "../engine/session/session.ts";
import type { StoredSession } from "../engine/session/session-store.ts";
import { steadyNow } from "../engine/steady-clock.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import type { Reply } from "./cluster-scripts.ts";
import { framesAfter, isLater } from "./journal.ts";
import { MissedMessages } from "./missed-messages.ts";
import { type ReadSession, readSession } from "./session-fields.ts";
import type { LoadedMessages } from "./stored-messages.ts";

/** Names and values of the fields of sessions that are opened together. */
const valuesAtOnce = 100_000;
/** The same of clients that have asked for theirs: of the others of all addresses, some wait until these are open. */
const valuesOfClients = 10_000;

/** The fields of its hash, as Redis answers, and the `term` in which it has them, with the broker's name then. */
export interface Claimed {
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

interface Waiting {
  readonly key: string;
  readonly claims: readonly Claimed[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const valuesIn = (claims: readonly Claimed[]): number => claims.reduce((sum, { values }) => sum + values.length, 0);

/** Opens sessions that this broker has claimed. */
export class SessionAdoption {
  private readonly waiting = new FairOrder<Waiting>();
  private isWorking = false;
  private readonly parts: ClusterParts;

  constructor(parts: ClusterParts) {
    this.parts = parts;
  }

  /**
   * Opens sessions that this broker has taken over, in the state in which the other broker stored them. One search of the journal takes place
   * at a time: some of those that come meanwhile share the next one, and the addresses for whose clients they are (`key`) take turns.
   */
  adopt(claims: readonly Claimed[], key = ""): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.add({ key, claims, resolve, reject });
      if (!this.isWorking) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    for (let next = this.waiting.take(); next; next = this.waiting.take()) {
      const together: Waiting[] = [];
      for (let values = 0, one: Waiting | undefined = next; one; one = values < valuesOfClients ? this.waiting.take() : undefined) {
        together.push(one);
        values += valuesIn(one.claims);
      }
      try {
        await this.adoptAll(together.flatMap(({ claims }) => claims));
        for (const { resolve } of together) resolve();
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    this.isWorking = false;
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
        if (!restored) continue;
        await this.inTurns(this.catchUp(one, restored, missed));
        await incoming.betweenFrames(() => this.openOne(one, restored, missed));
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

  /**
   * A step for each message that it has missed, before it is opened: thousands may have been published. They are in Redis in steps too, each
   * with its place in the journal: who adopts it after a crash goes on behind them. A session that is rewritten gets them there with all others.
   */
  private *catchUp(
    read: ReadSession & Claimed,
    { stored, session, isAsStored }: Restored,
    missed: MissedMessages,
  ): Generator<undefined, void> {
    const { clientId } = session;
    if (isAsStored) session.expirySeconds = stored.expirySeconds;
    while (!this.isNotWanted(read)) {
      const next = missed.next(clientId);
      if (!next) return;
      deliverMissed(session, next);
      const { journalPlace } = next.message;
      if (session.store && journalPlace) this.parts.store.caughtUpTo(session, journalPlace);
      yield;
    }
  }

  /** `missed` has the rest of what was applied here and is not in its state. */
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
}
