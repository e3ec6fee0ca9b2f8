import { rateLimitKey } from "../limits/rate-limit-client.ts";
import { ClientLeft } from "../service/client-left.ts";
import { StacklessError } from "../service/stackless-error.ts";
import { JobSlots } from "../turns/job-slots.ts";

/** Who logs in: one client may have many connections, and log in to many accounts. */
export interface LoginClient {
  readonly address: string;
  readonly connection: object;
  /** Nobody waits for the answer any more: a login that still waits is not checked. */
  hasLeft(): boolean;
}

/** Thrown when more logins wait than this machine can check in reasonable time. */
export class TooBusy extends StacklessError {
  override readonly name = "TooBusy";
}

interface Keys {
  readonly address: string;
  readonly account: string;
  readonly connection: object;
}

interface Waiting<Item> extends Keys {
  readonly client: LoginClient;
  readonly item: Item;
}

/** Why a login that waits has no turn. */
type Lost = TooBusy | ClientLeft;

const mostWaiting = 1_000;
/** Addresses and accounts of which it is known when they had a turn; then all are forgotten. */
const mostKnown = 20_000;
const never = -1;

/**
 * Logins that wait. Next is one of the address that had a turn longest ago, of its account that had one longest ago, and of the connections that
 * use it that one. Beyond the bound the one that has most waiting loses one, by the same three. Those whose client has left are lost before that.
 */
export class LoginQueue<Item> {
  readonly #lose: (item: Item, why: Lost) => void;
  readonly #most: number;
  /** In the order in which they came. */
  readonly #waiting: Waiting<Item>[] = [];
  readonly #turnOf = new Map<string, number>();
  readonly #turnOfConnection = new WeakMap<object, number>();
  #turns = 0;

  constructor(lose: (item: Item, why: Lost) => void, most = mostWaiting) {
    this.#lose = lose;
    this.#most = most;
  }

  add(client: LoginClient, account: string | undefined, item: Item): void {
    this.#waiting.push({ ...keysOf(client, account), client, item });
    if (this.#waiting.length > this.#most) this.#loseLeft();
    if (this.#waiting.length > this.#most) this.#lose(this.#remove(this.#largest()), new TooBusy());
  }

  /** The next of those that are ready. */
  take(isReady: (item: Item) => boolean = () => true): Item | undefined {
    this.#loseLeft();
    const waiting = this.#waiting;
    let next = never;
    for (let index = 0; index < waiting.length; index++) {
      const one = waiting[index] as Waiting<Item>;
      const isNext = next === never || this.#isBefore(one, waiting[next] as Waiting<Item>);
      if (isNext && isReady(one.item)) next = index;
    }
    if (next === never) return undefined;
    this.#hasTurn(waiting[next] as Waiting<Item>);
    return this.#remove(next);
  }

  /** Of all that are so, whose turn it is not. */
  takeAll(isSo: (item: Item) => boolean): readonly Item[] {
    return this.#removeAll(({ item }) => isSo(item));
  }

  /** Has a turn without waiting. */
  pass(client: LoginClient, account: string | undefined): void {
    this.#hasTurn(keysOf(client, account));
  }

  #loseLeft(): void {
    for (const item of this.#removeAll(({ client }) => client.hasLeft())) this.#lose(item, new ClientLeft());
  }

  #hasTurn({ address, account, connection }: Keys): void {
    const turn = ++this.#turns;
    if (this.#turnOf.size > mostKnown) this.#turnOf.clear();
    this.#turnOf.set(address, turn).set(account, turn);
    this.#turnOfConnection.set(connection, turn);
  }

  #isBefore(one: Waiting<Item>, other: Waiting<Item>): boolean {
    const turn = (key: string) => this.#turnOf.get(key) ?? never;
    if (one.address !== other.address) return turn(one.address) < turn(other.address);
    if (one.account !== other.account) return turn(one.account) < turn(other.account);
    return this.#lastTurn(one) < this.#lastTurn(other);
  }

  #lastTurn({ connection }: Waiting<Item>): number {
    return this.#turnOfConnection.get(connection) ?? never;
  }

  /** Index of the newest. Where connections have as many waiting, of the one that had a turn last. */
  #largest(): number {
    const ofAddress = mostOf(this.#waiting, ({ address }) => address);
    const ofAccount = mostOf(ofAddress, ({ account }) => account);
    const ofConnections = Map.groupBy(ofAccount, ({ connection }) => connection);
    const most = Math.max(...Array.from(ofConnections.values(), ({ length }) => length));
    const loser = [...ofConnections.values()]
      .filter(({ length }) => length === most)
      .map((ofOne) => ofOne.at(-1) as Waiting<Item>)
      .reduce((one, other) => (this.#lastTurn(other) >= this.#lastTurn(one) ? other : one));
    return this.#waiting.lastIndexOf(loser);
  }

  #removeAll(isSo: (one: Waiting<Item>) => boolean): readonly Item[] {
    if (!this.#waiting.some(isSo)) return [];
    const { gone = [], kept = [] } = Object.groupBy(this.#waiting.splice(0), (one) => (isSo(one) ? "gone" : "kept"));
    for (const one of kept) this.#waiting.push(one);
    return gone.map(({ item }) => item);
  }

  #remove(index: number): Item {
    const [{ item }] = this.#waiting.splice(index, 1) as [Waiting<Item>];
    return item;
  }
}

function keysOf({ address, connection }: LoginClient, account = ""): Keys {
  const key = rateLimitKey(address);
  return { address: key, account: `${key} ${account}`, connection };
}

function mostOf<One>(all: readonly One[], keyOf: (one: One) => string): readonly One[] {
  return [...Map.groupBy(all, keyOf).values()].reduce((one, other) => (other.length > one.length ? other : one));
}

/** Hashes of passwords take tens of milliseconds of a thread: two are computed at once, and those who wait have them in turns. */
export class HashTurns {
  readonly #queue = new LoginQueue<{ readonly begin: () => void; readonly lose: (why: Lost) => void }>(({ lose }, why) => lose(why));
  readonly #slots = new JobSlots(() => this.#queue.take()?.begin());

  /** Rejects with `TooBusy` where too many wait, and with `ClientLeft`. */
  run<Result>(client: LoginClient, account: string | undefined, work: () => Promise<Result>): Promise<Result> {
    if (client.hasLeft()) return Promise.reject(new ClientLeft());
    if (!this.#slots.isFull) {
      this.#queue.pass(client, account);
      return this.#slots.run(work);
    }
    return new Promise((resolve, reject) => {
      this.#queue.add(client, account, { begin: () => resolve(this.#slots.run(work)), lose: reject });
    });
  }
}
