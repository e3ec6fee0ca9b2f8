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
  private readonly due = new RankedHeap<Absence>();
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
      share = { key, absences: new Set(), bytes: 0, rank: 0, order: 0, place: -1 };
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
    if (Number.isFinite(dueAt)) this.due.put(absence, dueAt);
    else this.due.remove(absence);
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
    this.due.remove(absence);
    this.count(absence, 0);
  }

  /** Takes the session for which something has been due longest out of the order of due times, until `refresh`. */
  nextDue(now: number): Session | undefined {
    const { first } = this.due;
    if (!first || first.rank > now) return undefined;
    this.due.remove(first);
    return first.session;
  }

  /** The session of the address with most bytes whose client left first. */
  firstOfLargest(): Session | undefined {
    const [absence] = this.largest.first?.absences ?? [];
    return absence?.session;
  }
}
