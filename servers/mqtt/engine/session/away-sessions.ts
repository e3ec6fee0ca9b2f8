import { neverExpires } from "../engine-limits.ts";
import { type Ranked, RankedHeap } from "./ranked-heap.ts";
import type { Session } from "./session.ts";

/** A session without a connection; its rank is when something is due for it. */
interface Absence extends Ranked {
  readonly session: Session;
  readonly address: AddressShare;
  bytes: number;
}

/** The sessions of clients that were connected from one address, the one that left first in front; the address with most bytes ranks first. */
interface AddressShare extends Ranked {
  readonly key: string;
  readonly absences: Set<Absence>;
  bytes: number;
  readonly turn: AddressTurn;
}

/** What is due of one address; its rank is when the first of it is due, or when the address had its last turn, if that is later. */
interface AddressTurn extends Ranked {
  readonly due: RankedHeap<Absence>;
  hadAt: number;
}

type AwaySession = Pick<Session, "willDueAt" | "disconnectedAt" | "expirySeconds">;

/** When the session ends without its client, in milliseconds since the epoch. */
const endOf = ({ expirySeconds, disconnectedAt }: AwaySession): number =>
  expirySeconds === neverExpires ? Number.POSITIVE_INFINITY : disconnectedAt + expirySeconds * 1_000;

/** For a session without a connection. */
export const isOver = (session: AwaySession, now: number): boolean => session.expirySeconds === 0 || endOf(session) <= now;

export const isWillDue = ({ willDueAt }: AwaySession, now: number): boolean => willDueAt > 0 && willDueAt <= now;

/** Sessions without a connection, by the time at which their wills or their ends are due, and by address. */
export class AwaySessions {
  private readonly absences = new Map<Session, Absence>();
  private readonly turns = new RankedHeap<AddressTurn>();
  private readonly shares = new Map<string, AddressShare>();
  private readonly largest = new RankedHeap<AddressShare>();

  get size(): number {
    return this.absences.size;
  }

  /** From which they were connected. */
  get addresses(): number {
    return this.shares.size;
  }

  /** Of the address that has most. */
  get mostBytes(): number {
    return this.largest.first?.bytes ?? 0;
  }

  add(session: Session): void {
    this.delete(session);
    const address = this.shareOf(session.address);
    const absence: Absence = { session, address, bytes: 0, rank: 0, order: 0, place: -1 };
    this.absences.set(session, absence);
    address.absences.add(absence);
    this.refresh(session);
  }

  private shareOf(key: string): AddressShare {
    let share = this.shares.get(key);
    if (!share) {
      const turn = { due: new RankedHeap<Absence>(), hadAt: 0, rank: 0, order: 0, place: -1 };
      share = { key, absences: new Set(), bytes: 0, turn, rank: 0, order: 0, place: -1 };
      this.shares.set(key, share);
    }
    return share;
  }

  /** To be called when its will is published. */
  refresh(session: Session): void {
    const absence = this.absences.get(session);
    if (!absence) return;
    this.count(absence, session.heldBytes + session.subscriptionBytes);
    const dueAt = Math.min(session.willDueAt > 0 ? session.willDueAt : Number.POSITIVE_INFINITY, endOf(session));
    const { turn } = absence.address;
    if (Number.isFinite(dueAt)) turn.due.put(absence, dueAt);
    else turn.due.remove(absence);
    this.place(turn);
  }

  private place(turn: AddressTurn): void {
    const { first } = turn.due;
    if (first) this.turns.put(turn, Math.max(first.rank, turn.hadAt));
    else this.turns.remove(turn);
  }

  private count(absence: Absence, bytes: number): void {
    const { address } = absence;
    address.bytes += bytes - absence.bytes;
    absence.bytes = bytes;
    if (address.absences.size > 0) this.largest.put(address, -address.bytes);
    else {
      this.largest.remove(address);
      this.shares.delete(address.key);
    }
  }

  delete(session: Session): void {
    const absence = this.absences.get(session);
    if (!absence) return;
    this.absences.delete(session);
    absence.address.absences.delete(absence);
    const { turn } = absence.address;
    turn.due.remove(absence);
    this.place(turn);
    this.count(absence, 0);
  }

  /**
   * Takes a session for which something is due out of the order of due times, until `refresh`: of the address that has waited longest the one for which it has
   * been due longest. Thousands of one address may be due at once.
   */
  nextDue(now: number): Session | undefined {
    const { first: turn } = this.turns;
    const first = turn?.due.first;
    if (!turn || !first || first.rank > now) return undefined;
    turn.due.remove(first);
    turn.hadAt = now;
    this.place(turn);
    return first.session;
  }

  /** The session of the address with most bytes whose client left first. */
  firstOfLargest(): Session | undefined {
    const [absence] = this.largest.first?.absences ?? [];
    return absence?.session;
  }
}
