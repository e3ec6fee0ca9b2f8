import { rateLimitKey } from "../limits/rate-limit-client.ts";
import { FairOrder, Rotation } from "./fair-order.ts";
import { ReadTurns } from "./read-turns.ts";
import { ThreadTurns } from "./thread-turns.ts";
import { WaitTurns } from "./wait-turns.ts";

const turnMs = 4;
/**
 * After a connection was accepted: libuv accepts one in a turn of the event loop, so those behind it wait for as many turns. Where what was read
 * took longer, it is as long as that: else a client that connects again and again would leave no time for what all others have sent.
 */
const acceptingTurnMs = 0.5;
/** Of one connection, before the others have theirs. */
const shareMs = 0.25;
/** Of a connection that has had less in a turn whose time is used up. */
const itemsBehindTime = 8;
/** After so many beginnings it is known that a connection has little to do at a time: no more than some shares. */
const calmAfter = 8;
const sharesOfCalm = 4;
/** So long one that has used up a share comes behind those with less to do. */
const turnsBehind = 16;
/** An item that takes so many times what is usual for its connection was held up by something else, such as a garbage collection or other programs. */
const mostOfUsual = 8;

/** The part of one task in the turns of all. */
export interface WorkShare {
  /** Asked before each item: what is left is to be done later. */
  readonly isOver: boolean;
  /** Calls back once, when it is the task's turn again. */
  later(): void;
}

/** The part of one connection: its tasks take turns in it. */
export interface WorkConnection {
  /** Of its address, as `rateLimitKey` has it. */
  readonly key: string;
  /** A task is what has items of its own to be done: a reader, a stream. `goOn` does them while the share is not over. */
  join(goOn: () => void): WorkShare;
  /** A task of steps that each take less than a share. Resolves with what they return, rejects with what one throws. */
  run<Result>(steps: Iterator<void, Result>): Promise<Result>;
  /** A job of another thread, when it is the connection's turn to have one. Settles as the job does. */
  runElsewhere<Result>(job: () => Promise<Result>): Promise<Result>;
  /** Calls back before the poll of the event loop in which it is the connection's turn to be read. */
  readLater(readOn: () => void): void;
  /** Calls back once, in its turn, when so much time is over. Returns the function that ends the wait. */
  wait(milliseconds: number, act: () => void): () => void;
}

/** Work that is one step, for `run`. */
export const oneStep = <Result>(act: () => Result): Iterator<void, Result> => ({ next: () => ({ done: true, value: act() }) });

function* stepsOf<Item>(items: Iterable<Item>, act: (item: Item) => void): Generator<void, void> {
  for (const item of items) {
    act(item);
    yield;
  }
}

/**
 * A few bytes of a client may be much work. All clients together have some milliseconds of each turn of the event loop, in small shares.
 * Those with more to do take turns: first their addresses, then the connections of each, as one client may open thousands, then the tasks of
 * each connection.
 */
export class WorkTurns {
  readonly #now: () => number;
  #turn = 0;
  #endMs: number | undefined;
  #immediate: NodeJS.Immediate | undefined;
  /** What waits is being done. */
  #isWorking = false;
  /** The connection of which something that waited was done last. */
  #worked: Connection | undefined;
  /** When it was, so far. */
  #workedMs = 0;
  /** Connections that have used up a share. */
  readonly #waiting = new FairOrder<Connection>();
  /** Those of which nothing is known yet: they come before, for half of the time. Thousands may be opened at once. */
  readonly #fresh = new FairOrder<Connection>();
  /** Those that had little to do several times: they come first, for half of the time. */
  readonly #calm = new FairOrder<Connection>();
  readonly #orders: Orders;
  readonly threads = new ThreadTurns<Connection>();
  readonly reads = new ReadTurns<Connection>();
  readonly waits = new WaitTurns(this.connection(""));
  /** The one that asked last, and when, until what it does then is over. */
  #running: Connection | undefined;
  #askedMs = 0;
  #isEnding = false;
  /** A connection came since the last turn of the event loop. */
  #hasAccepted = false;
  /** Of this turn. */
  #lengthMs = turnMs;

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    const [calm, fresh, waiting] = [this.#calm, this.#fresh, this.#waiting];
    this.#orders = { first: [calm, fresh, waiting], half: [waiting, fresh, calm], atTimes: [fresh, waiting, calm] };
  }

  /** A connection has a new share in each. */
  get turn(): number {
    return this.#turn;
  }

  connection(address: string): WorkConnection {
    return new Connection(this, rateLimitKey(address), false);
  }

  /** For one that a listener has just accepted. */
  accepted(address: string): WorkConnection {
    this.#hasAccepted = true;
    this.#immediate ??= setImmediate(this.#next);
    return this.connection(address);
  }

  /** For what goes on by itself, such as media to a player: it never comes before the work for those who ask for little. */
  background(address: string): WorkConnection {
    return new Connection(this, rateLimitKey(address), true);
  }

  /** For a connection with one task. */
  join(address: string, goOn: () => void): WorkShare {
    return this.connection(address).join(goOn);
  }

  isOver(connection: Connection): boolean {
    const nowMs = this.#now();
    const endMs = this.#endOfTurn(nowMs);
    if (connection.turn !== this.#turn) {
      connection.comesBack();
      connection.begin(this.#turn);
    } else if (connection.isDone && !this.#isWorking) connection.comesBack();
    this.#spendUntil(nowMs, connection);
    this.#running = connection;
    this.#askedMs = nowMs;
    this.#endAfterwards();
    if (connection.spentMs >= shareMs) return true;
    if (connection.isBackground) return nowMs >= endMs;
    // One that has little to do does not wait for those with much. Thousands may have little at once, so this has an end too.
    const isLate = nowMs >= endMs && (connection.items >= itemsBehindTime || nowMs >= endMs + turnMs);
    if (!isLate) connection.items++;
    return isLate;
  }

  /** What others do later, who ask for no share, is not for the connection to pay. */
  #endAfterwards(): void {
    if (this.#isEnding || this.#isWorking) return;
    this.#isEnding = true;
    queueMicrotask(this.#endAfterPromises);
  }

  readonly #endAfterPromises = (): void => process.nextTick(this.#end);

  readonly #end = (): void => {
    this.#isEnding = false;
    if (this.#running && !this.#isWorking) this.#spendUntil(this.#now(), this.#running);
    if (!this.#isWorking) this.#running = undefined;
  };

  /** What passed since the connection asked last is its own, if no other one has asked since. */
  #spendUntil(nowMs: number, connection: Connection): void {
    if (this.#running !== connection) return;
    const owedMs = connection.spend(nowMs - this.#askedMs);
    // Those that have little to do come first, and do not pay for it later.
    if (owedMs <= 0 || connection.isCalm) return;
    const owed = owedMs / shareMs;
    connection.owed += owed;
    this.#waiting.owe(connection.key, owed);
  }

  /** Work of the service itself for each item, such as what is due every second. Resolves when all are done. */
  each<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
    return this.connection("").run(stepsOf(items, act));
  }

  /** No time is left in this turn to read, which has some after what waited was done, however long that took. The turn begins now if nobody has asked before. */
  isUsedUp(): boolean {
    if (this.#isWorking) return false;
    const nowMs = this.#now();
    return nowMs >= Math.max(this.#endOfTurn(nowMs), this.#workedMs) + turnMs;
  }

  /** The connection has tasks that wait. */
  later(connection: Connection): void {
    if (connection.isCalm) this.#calm.add(connection);
    else if (connection.hadMuch || connection.isBackground) this.#wait(connection);
    else if (!this.#waiting.has(connection)) this.#fresh.add(connection);
    this.#immediate ??= setImmediate(this.#next);
  }

  #wait(connection: Connection): void {
    if (this.#waiting.has(connection)) return;
    this.#waiting.add(connection, connection.owed);
    connection.owed = 0;
  }

  #endOfTurn(nowMs: number): number {
    this.#endMs ??= nowMs + this.#lengthMs;
    this.#immediate ??= setImmediate(this.#next);
    return this.#endMs;
  }

  readonly #next = (): void => {
    this.#immediate = undefined;
    this.#endMs = undefined;
    this.#lengthMs = this.#hasAccepted ? Math.min(turnMs, Math.max(acceptingTurnMs, this.#now() - this.#workedMs)) : turnMs;
    this.#hasAccepted = false;
    this.#running = undefined;
    this.#turn++;
    this.#goOn();
  };

  readonly #goOn = (): void => {
    const isNext = this.#waiting.size + this.#fresh.size + this.#calm.size > 0;
    if (!isNext && !this.#isWorking) return;
    const nowMs = this.#now();
    if (this.#running) this.#spendUntil(nowMs, this.#running);
    this.#running = undefined;
    const endMs = this.#endOfTurn(nowMs);
    if (this.#worked) this.#worked.isDone = !this.#worked.isWaiting;
    this.#worked = undefined;
    this.#isWorking = isNext && nowMs < endMs;
    this.#workedMs = nowMs;
    if (!this.#isWorking) return;
    const connection = this.#order(endMs - nowMs)
      .find(({ size }) => size > 0)
      ?.take() as Connection;
    const task = connection.takeTask();
    // Behind the others, and its turn again when each address has had a share.
    if (connection.isWaiting) {
      if (connection.isCalm) this.#calm.add(connection);
      else this.#wait(connection);
    }
    connection.begin(this.#turn);
    connection.current = task;
    this.#worked = connection;
    // What the task goes on with in promises is done before the next one, and within the time of the turn.
    queueMicrotask(this.#afterPromises);
    task?.goOn();
    connection.current = undefined;
  };

  /** In which those that wait are asked for work: each has a part of the time, also in short turns and while the others never end. */
  #order(leftMs: number): readonly FairOrder<Connection>[] {
    const isFirst = leftMs > this.#lengthMs / 2 && (this.#lengthMs === turnMs || this.#turn % 4 !== 0);
    if (isFirst) return this.#orders.first;
    return this.#turn % 8 === 0 ? this.#orders.atTimes : this.#orders.half;
  }

  /** Ticks come when no promise has anything left to do. */
  readonly #afterPromises = (): void => process.nextTick(this.#goOn);

  /** What waits is not done. */
  close(): void {
    clearImmediate(this.#immediate);
    this.#waiting.clear();
    this.#fresh.clear();
    this.#calm.clear();
    this.threads.close();
    this.reads.close();
    this.waits.close();
  }
}

type Orders = Readonly<Record<"first" | "half" | "atTimes", readonly FairOrder<Connection>[]>>;

class Connection implements WorkConnection {
  readonly turns: WorkTurns;
  readonly key: string;
  readonly isBackground: boolean;
  readonly #tasks = new Rotation<Task>();
  /** The task whose turn it is. */
  current: Task | undefined;
  turn = -1;
  spentMs = 0;
  items = 0;
  /** What waited was done in this turn. */
  isDone = false;
  /** Turns, for what it had beyond its shares. */
  owed = 0;
  /** Between two questions, of late. */
  #usualMs = 0;
  #usedUpTurn = Number.NEGATIVE_INFINITY;
  /** In which it had little to do, one after the other. */
  #calmTimes = 0;
  /** That were used up since it had nothing to do. */
  #sharesInRow = 0;

  constructor(turns: WorkTurns, key: string, isBackground: boolean) {
    this.turns = turns;
    this.key = key;
    this.isBackground = isBackground;
  }

  join(goOn: () => void): WorkShare {
    return new Task(this, goOn);
  }

  run<Result>(steps: Iterator<void, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const goOn = (): void => {
        try {
          while (!share.isOver) {
            const { done, value } = steps.next();
            if (done) {
              resolve(value);
              return;
            }
          }
          share.later();
        } catch (error) {
          reject(error);
        }
      };
      const share = this.join(goOn);
      goOn();
    });
  }

  readLater(readOn: () => void): void {
    this.turns.reads.later(this, readOn);
  }

  wait(milliseconds: number, act: () => void): () => void {
    return this.turns.waits.begin(milliseconds, this, act);
  }

  runElsewhere<Result>(job: () => Promise<Result>): Promise<Result> {
    // Jobs of clients that have left end at their beginning, thousands at once.
    return this.turns.threads.run(this, async () => await this.run(oneStep(job)));
  }

  begin(turn: number): void {
    if (this.spentMs >= shareMs) this.#usedUpTurn = this.turn;
    // The others have had as many turns.
    this.owed = Math.max(0, this.owed - (turn - this.turn));
    this.turn = turn;
    this.spentMs = 0;
    this.items = 0;
    this.isDone = false;
  }

  /** Returns what is beyond its share. */
  spend(ms: number): number {
    const most = mostOfUsual * this.#usualMs;
    this.#usualMs += (ms - this.#usualMs) / mostOfUsual;
    this.spentMs += ms;
    return Math.min(this.spentMs - shareMs, ms, most);
  }

  /** A share was used up, in this turn or not long ago: one that sends again and again has little to do at each beginning. */
  get hadMuch(): boolean {
    return this.spentMs >= shareMs || this.turn - this.#usedUpTurn <= turnsBehind;
  }

  /** It is asked for work in another turn, or in the same one after what it had was done. */
  comesBack(): void {
    this.isDone = false;
    if (this.isWaiting || this.current) return;
    this.#calmTimes++;
    this.#sharesInRow = 0;
  }

  get isCalm(): boolean {
    return this.#calmTimes > calmAfter && !this.isBackground;
  }

  get isWaiting(): boolean {
    return this.#tasks.size > 0;
  }

  takeTask(): Task | undefined {
    return this.#tasks.take();
  }

  later(task: Task): void {
    if (this.spentMs >= shareMs && ++this.#sharesInRow >= sharesOfCalm) this.#calmTimes = 0;
    this.#tasks.add(task);
    this.turns.later(this);
  }
}

class Task implements WorkShare {
  readonly #connection: Connection;
  readonly goOn: () => void;

  constructor(connection: Connection, goOn: () => void) {
    this.#connection = connection;
    this.goOn = goOn;
  }

  get isOver(): boolean {
    const connection = this.#connection;
    // Tasks of the connection that wait already come first.
    if (connection.isWaiting && connection.current !== this) return true;
    return connection.turns.isOver(connection);
  }

  later(): void {
    this.#connection.later(this);
  }
}
