import { rateLimitKey } from "../limits/rate-limit-client.ts";

const turnMs = 4;
/** Of one connection, before the others have theirs. */
const shareMs = 0.25;
/** Of a connection that has had less in a turn whose time is used up. */
const itemsBehindTime = 8;

/** The part of one connection in the turns of all. */
export interface WorkShare {
  /** Asked before each item: what is left is to be done later. */
  readonly isOver: boolean;
  /** Calls back once, when it is the connection's turn again. */
  later(): void;
}

/**
 * A few bytes of a client may be much work. All connections together have some milliseconds of each turn of the event loop, in small shares.
 * Those with more to do take turns: first their addresses, then the connections of each, as one client may open thousands.
 */
export class WorkTurns {
  readonly #now: () => number;
  /** A connection has a new share in each. */
  #turn = 0;
  #endMs: number | undefined;
  #immediate: NodeJS.Immediate | undefined;
  /** By address, both in the order of their turns. */
  readonly #waiting = new Map<string, Set<Share>>();
  /** The one that asked last, and when. */
  #running: Share | undefined;
  #askedMs = 0;

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** For one connection. */
  join(address: string, goOn: () => void): WorkShare {
    return new Share(this, rateLimitKey(address), goOn);
  }

  isOver(share: Share): boolean {
    const nowMs = this.#now();
    const endMs = this.#endOfTurn(nowMs);
    if (share.turn !== this.#turn) share.begin(this.#turn);
    if (this.#running === share) share.spentMs += nowMs - this.#askedMs;
    this.#running = share;
    this.#askedMs = nowMs;
    if (share.spentMs >= shareMs) return true;
    // One that sends little does not wait for those that send much. Thousands may send little at once, so this has an end too.
    const isLate = nowMs >= endMs && (share.items >= itemsBehindTime || nowMs >= endMs + turnMs);
    if (!isLate) share.items++;
    return isLate;
  }

  later(share: Share): void {
    const { address } = share;
    const ofAddress = this.#waiting.get(address);
    if (ofAddress) ofAddress.add(share);
    else this.#waiting.set(address, new Set([share]));
    this.#immediate ??= setImmediate(this.#next);
  }

  #endOfTurn(nowMs: number): number {
    this.#endMs ??= nowMs + turnMs;
    this.#immediate ??= setImmediate(this.#next);
    return this.#endMs;
  }

  readonly #next = (): void => {
    this.#immediate = undefined;
    this.#endMs = undefined;
    this.#turn++;
    for (const [address, shares] of this.#waiting) {
      const nowMs = this.#now();
      if (nowMs >= this.#endOfTurn(nowMs)) return;
      const [share] = shares;
      if (!share) continue;
      shares.delete(share);
      // Behind the others, and in this loop again when each address has had a share.
      this.#waiting.delete(address);
      if (shares.size > 0) this.#waiting.set(address, shares);
      this.#running = undefined;
      share.begin(this.#turn);
      share.goOn();
    }
  };
}

class Share implements WorkShare {
  readonly #turns: WorkTurns;
  readonly address: string;
  readonly goOn: () => void;
  turn = -1;
  spentMs = 0;
  items = 0;

  constructor(turns: WorkTurns, address: string, goOn: () => void) {
    this.#turns = turns;
    this.address = address;
    this.goOn = goOn;
  }

  begin(turn: number): void {
    this.turn = turn;
    this.spentMs = 0;
    this.items = 0;
  }

  get isOver(): boolean {
    return this.#turns.isOver(this);
  }

  later(): void {
    this.#turns.later(this);
  }
}
