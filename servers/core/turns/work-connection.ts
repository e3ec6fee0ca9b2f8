import { Rotation } from "./fair-order.ts";
import type { ReadTurns } from "./read-turns.ts";
import { RecentUse } from "./recent-use.ts";
import type { ThreadTurns } from "./thread-turns.ts";
import type { WaitTurns } from "./wait-turns.ts";

/** Milliseconds of one connection, before the others have theirs. */
export const shareMs = 0.25;
/** After so many beginnings it is known what a connection has to do at a time. */
const knownAfter = 8;
/** Little at a time is less than this. */
const littleMs = 4 * shareMs;
/** An item that takes so many times what is usual for its connection was held up by something else, such as a garbage collection or other programs. */
const mostOfUsual = 8;
/** What is left of the items of other turns in what is usual, with each turn. */
const keptOfUsual = 7 / 8;

/**
 * What is known of a connection: it has had a share or less at a time for long, or little more; nothing is known, and it has had nothing yet of what it
 * asks for, or little; it has had much; it goes on by itself.
 */
export type Use = "calm" | "little" | "first" | "new" | "much" | "background";

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
  /** It is known to have little to do at a time. */
  readonly isCalm: boolean;
  /** Milliseconds of work that it has had lately. */
  readonly usedMs: number;
  /** Whether what it does next goes on with what it had, such as a request that has waited for something: by default it is asked for anew. */
  goesOn?: (() => boolean) | undefined;
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

/** What the steps return, where all of them are done at once. */
export function resultOf<Result>(steps: Iterator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** What a connection needs of the turns of all. */
interface Turns {
  readonly turn: number;
  /** Of the clock of `usedMs`. */
  readonly nowMs: number;
  readonly threads: ThreadTurns<Connection>;
  readonly reads: ReadTurns<Connection>;
  readonly waits: WaitTurns;
  isOver(connection: Connection): boolean;
  /** It has tasks that wait. */
  later(connection: Connection): void;
}

/** One connection in the turns of all. */
export class Connection implements WorkConnection {
  readonly turns: Turns;
  readonly key: string;
  readonly isBackground: boolean;
  goesOn?: (() => boolean) | undefined;
  readonly #tasks = new Rotation<Task>();
  /** The task whose turn it is. */
  current: Task | undefined;
  /** It is in the order of its use. */
  isInOrder = false;
  turn = -1;
  spentMs = 0;
  items = 0;
  /** What waited was done in this turn. */
  isDone = false;
  /** Turns, for what it had beyond its shares. */
  owed = 0;
  /** Of the items of late, and of their squares: a long one counts by its time, else many short ones beside it would hide it. */
  #itemsMs = 0;
  #itemSquares = 0;
  /** That it began to have work. */
  #times = 0;
  /** In which it was read again after a wait. */
  #readOnTurn = Number.NEGATIVE_INFINITY;
  /** For which it had work since then. */
  #rowMs = 0;
  /** Of each item at most a share: one that was held up, such as by a garbage collection, does not cost the connection its place. */
  #rowItemsMs = 0;
  readonly #used = new RecentUse();
  /** Milliseconds of the times before, on average. Once the connection is known, one time that was held up adds little. */
  #usualRowMs = 0;

  constructor(turns: Turns, key: string, isBackground: boolean) {
    this.turns = turns;
    this.key = key;
    this.isBackground = isBackground;
  }

  join(goOn: () => void): WorkShare {
    return new JoinedTask(this, goOn);
  }

  run<Result>(steps: Iterator<void, Result>): Promise<Result> {
    const task = new StepsTask(this, steps);
    try {
      // Most have one step, which is done at once.
      if (task.doSteps()) return Promise.resolve(task.result as Result);
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => task.wait(resolve, reject));
  }

  readLater(readOn: () => void): void {
    this.turns.reads.later(this, () => {
      this.#readOnTurn = this.turns.turn;
      readOn();
    });
  }

  wait(milliseconds: number, act: () => void): () => void {
    return this.turns.waits.begin(milliseconds, this, act);
  }

  runElsewhere<Result>(job: () => Promise<Result>): Promise<Result> {
    // Jobs of clients that have left end at their beginning, thousands at once.
    return this.turns.threads.run(this, async () => await this.run(oneStep(job)));
  }

  begin(turn: number): void {
    // The others have had as many turns.
    this.owed = Math.max(0, this.owed - (turn - this.turn));
    this.turn = turn;
    this.spentMs = 0;
    this.items = 0;
    this.isDone = false;
    this.#itemsMs *= keptOfUsual;
    this.#itemSquares *= keptOfUsual;
  }

  takeOwed(): number {
    const { owed } = this;
    this.owed = 0;
    return owed;
  }

  /** Returns what is beyond its share. */
  spend(ms: number, nowMs: number): number {
    const usual = Math.max(this.#itemsMs > 0 ? this.#itemSquares / this.#itemsMs : 0, shareMs / 2);
    // Of what was held up by something else, a part.
    const own = Math.min(ms, mostOfUsual * usual);
    this.#itemsMs += own;
    this.#itemSquares += own * own;
    this.#rowMs += own;
    this.#rowItemsMs += Math.min(own, shareMs);
    this.spentMs += ms;
    this.#used.add(own, nowMs);
    return Math.min(this.spentMs - shareMs, own);
  }

  get usedMs(): number {
    return this.#used.at(this.turns.nowMs);
  }

  get use(): Use {
    if (this.isBackground) return "background";
    if (Math.max(this.#usualRowMs, this.#isKnown ? this.#rowItemsMs : this.#rowMs) >= littleMs) return "much";
    if (!this.#isKnown) return this.#rowMs === 0 ? "first" : "new";
    return this.#usualRowMs < shareMs ? "calm" : "little";
  }

  get isCalm(): boolean {
    return this.use === "calm";
  }

  /** It comes before those that had much. */
  get hasLittle(): boolean {
    const { use } = this;
    return use !== "much" && use !== "background";
  }

  get #isKnown(): boolean {
    return this.#times > knownAfter;
  }

  /** It is asked for work in another turn, or in the same one after what it had was done. */
  comesBack(): void {
    this.isDone = false;
    // What is read after it had to wait was there before.
    if (this.isWaiting || this.current || this.turns.turn - this.#readOnTurn <= 1 || this.goesOn?.()) return;
    this.#times++;
    const row = this.#isKnown ? Math.min(this.#rowMs, mostOfUsual * Math.max(this.#usualRowMs, shareMs / 2)) : this.#rowMs;
    this.#usualRowMs += (row - this.#usualRowMs) / (this.#isKnown ? knownAfter : 2);
    this.#rowMs = 0;
    this.#rowItemsMs = 0;
  }

  get isWaiting(): boolean {
    return this.#tasks.size > 0;
  }

  takeTask(): Task | undefined {
    return this.#tasks.take();
  }

  later(task: Task): void {
    this.#tasks.add(task);
    this.turns.later(this);
  }
}

abstract class Task implements WorkShare {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  abstract goOn(): void;

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

class JoinedTask extends Task {
  readonly goOn: () => void;

  constructor(connection: Connection, goOn: () => void) {
    super(connection);
    this.goOn = goOn;
  }
}

/** `run`. */
class StepsTask<Result> extends Task {
  readonly #steps: Iterator<void, Result>;
  result: Result | undefined;
  #resolve: ((result: Result) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(connection: Connection, steps: Iterator<void, Result>) {
    super(connection);
    this.#steps = steps;
  }

  /** While the share is not over. False if some are left. */
  doSteps(): boolean {
    while (!this.isOver) {
      const { done, value } = this.#steps.next();
      if (!done) continue;
      this.result = value;
      return true;
    }
    return false;
  }

  wait(resolve: (result: Result) => void, reject: (error: unknown) => void): void {
    this.#resolve = resolve;
    this.#reject = reject;
    this.later();
  }

  goOn(): void {
    try {
      if (this.doSteps()) this.#resolve?.(this.result as Result);
      else this.later();
    } catch (error) {
      this.#reject?.(error);
    }
  }
}
