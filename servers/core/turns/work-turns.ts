import { rateLimitKey } from "../limits/rate-limit-client.ts";
import { FairOrder } from "./fair-order.ts";
import { ReadTurns } from "./read-turns.ts";
import { systemCpuMs } from "./thread-cpu.ts";
import { ThreadTurns } from "./thread-turns.ts";
import { WaitTurns } from "./wait-turns.ts";
import { WeightedQueue } from "./weighted-queue.ts";
import { Connection, shareMs, type Use, type WorkConnection, type WorkShare } from "./work-connection.ts";

const turnMs = 4;
/**
 * After a connection was accepted: libuv accepts one in a turn of the event loop, so those behind it wait for as many turns. Where what was read
 * took longer, it is as long as that: else a client that connects again and again would leave no time for what all others have sent. It is
 * followed by turns in which connections are accepted and nothing else is done, for as long as it took: in the queue of the operating system
 * there are no turns of addresses.
 */
const acceptingTurnMs = 0.5;
/** Of a connection that has had less in a turn whose time is used up. */
const itemsBehindTime = 8;

/** An item that seems longer than this is measured by CPU time: other programs may have had the processor meanwhile. */
const checkedMs = shareMs / 2;
/** In a turn in which nobody waits: so much is known of those who have little to do on a busy machine. Each reading takes half a microsecond. */
const measuredAlone = 4;

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
  readonly #cpuMs: (() => number) | undefined;
  #turn = 0;
  #endMs: number | undefined;
  #immediate: NodeJS.Immediate | undefined;
  /** What waits is being done. */
  #isWorking = false;
  /** Until when it was, so far. */
  #workedMs = 0;
  /** The turn is one after a connection was accepted. */
  #isAccepting = false;
  /** When it began, by both clocks; of such a turn only, as each reading takes half a microsecond. */
  #beganMs = 0;
  #beganCpuMs: number | undefined;
  /** So long it took: as long connections are accepted, and nothing else is done. One item may be a handshake of TLS. */
  #acceptMs = 0;
  /** CPU time when the last of it was done. */
  #workedCpuMs: number | undefined;
  /** The connection of which something that waited was done last. */
  #worked: Connection | undefined;
  /** Those that have tasks that wait. */
  readonly #orders: Readonly<Record<Use, FairOrder<Connection>>> = {
    calm: new FairOrder(),
    little: new FairOrder(),
    first: new FairOrder(),
    new: new FairOrder(),
    much: new FairOrder(),
    background: new FairOrder(),
  };
  readonly #waiting: WeightedQueue<Connection>;
  /** Connections in them. Asked before each item, so it is not looked for in each of the orders. */
  #waitingCount = 0;
  readonly threads = new ThreadTurns<Connection>();
  readonly reads = new ReadTurns<Connection>();
  readonly waits = new WaitTurns(this.connection(""));
  /** The one that asked last, and when, until what it does then is over. */
  #running: Connection | undefined;
  #askedMs = 0;
  /** CPU time at that moment; undefined where it is not measured. */
  #askedCpuMs: number | undefined;
  /** In this turn. */
  #measuredAlone = 0;
  #isEnding = false;
  /** A connection came since the last turn of the event loop. */
  #hasAccepted = false;
  /** Of this turn. */
  #lengthMs = turnMs;

  /** Clocks in milliseconds: of the time, and of the CPU time of this thread. */
  constructor(now?: () => number, cpuMs?: () => number) {
    this.#now = now ?? (() => performance.now());
    this.#cpuMs = now ? cpuMs : systemCpuMs;
    const { calm, little, first, new: begun, much, background } = this.#orders;
    const asked = new WeightedQueue([calm, 4], [little, 2], [first, 4], [begun, 2], [much, 2]);
    this.#waiting = new WeightedQueue([asked, 3], [background, 1]);
  }

  get nowMs(): number {
    return this.#now();
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
      connection.begin(this.#turn);
      connection.comesBack();
    } else if (connection.isDone && !this.#isWorking) connection.comesBack();
    this.#spendUntil(nowMs, connection);
    this.#running = connection;
    this.#askedMs = nowMs;
    this.#askedCpuMs = this.#hasWaiting || this.#measuredAlone++ < measuredAlone ? this.#cpuMs?.() : undefined;
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
    if (this.#isWorking) return;
    if (this.#running) this.#spendUntil(this.#now(), this.#running);
    this.#running = undefined;
  };

  /** What passed since the connection asked last is its own, if no other one has asked since. */
  #spendUntil(nowMs: number, connection: Connection): void {
    if (this.#running !== connection) return;
    const owedMs = connection.spend(this.#sinceAsked(nowMs), nowMs);
    // Those that have little to do come first, and do not pay for it later; and where nobody waits it costs nobody anything.
    if (owedMs <= 0 || connection.hasLittle || !this.#hasWaiting) return;
    const owed = owedMs / shareMs;
    connection.owed += owed;
    this.#orders[connection.use].owe(connection.key, owed);
  }

  /** Without the time in which other programs had the processor. */
  #sinceAsked(nowMs: number): number {
    const ms = nowMs - this.#askedMs;
    if (ms <= checkedMs || this.#askedCpuMs === undefined || !this.#cpuMs) return ms;
    return Math.min(ms, this.#cpuMs() - this.#askedCpuMs);
  }

  get #hasWaiting(): boolean {
    return this.#waitingCount > 0;
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
    this.#add(connection);
    this.#immediate ??= setImmediate(this.#next);
  }

  #add(connection: Connection): void {
    if (connection.isInOrder) return;
    connection.isInOrder = true;
    this.#waitingCount++;
    const order = this.#orders[connection.use];
    if (connection.hasLittle) order.add(connection);
    else order.add(connection, connection.takeOwed());
  }

  #endOfTurn(nowMs: number): number {
    this.#endMs ??= nowMs + this.#lengthMs;
    this.#immediate ??= setImmediate(this.#next);
    return this.#endMs;
  }

  readonly #next = (): void => {
    this.#immediate = undefined;
    const acceptsOnly = this.#hasAccepted && this.#hasWaiting && this.#since(this.#workedMs, this.#workedCpuMs) < this.#acceptMs;
    if (acceptsOnly) {
      this.#hasAccepted = false;
      this.#immediate = setImmediate(this.#next);
      return;
    }
    this.#endMs = undefined;
    this.#isAccepting = this.#hasAccepted;
    this.#hasAccepted = false;
    this.#lengthMs = turnMs;
    if (this.#isAccepting) {
      // As long as reading took.
      this.#lengthMs = Math.min(turnMs, Math.max(acceptingTurnMs, this.#since(this.#workedMs, this.#workedCpuMs)));
      this.#beganMs = this.#now();
      this.#beganCpuMs = this.#cpuMs?.();
    }
    this.#running = undefined;
    this.#measuredAlone = 0;
    this.#turn++;
    this.#goOn();
  };

  /** Milliseconds since then, without those in which other programs had the processor. */
  #since(fromMs: number, fromCpuMs: number | undefined): number {
    const ms = this.#now() - fromMs;
    return fromCpuMs === undefined || !this.#cpuMs ? ms : Math.min(ms, this.#cpuMs() - fromCpuMs);
  }

  readonly #goOn = (): void => {
    const isNext = this.#hasWaiting;
    if (!isNext && !this.#isWorking) return;
    const nowMs = this.#now();
    if (this.#running) this.#spendUntil(nowMs, this.#running);
    this.#running = undefined;
    const endMs = this.#endOfTurn(nowMs);
    // A longer item may have been held up by something else.
    if (this.#isWorking) this.#waiting.spend(Math.min(nowMs - this.#workedMs, turnMs));
    if (this.#worked) this.#worked.isDone = !this.#worked.isWaiting;
    this.#worked = undefined;
    this.#isWorking = isNext && nowMs < endMs;
    this.#workedMs = nowMs;
    if (!this.#isWorking) {
      this.#acceptMs = this.#isAccepting ? Math.min(this.#since(this.#beganMs, this.#beganCpuMs), turnMs) : 0;
      this.#workedCpuMs = this.#cpuMs?.();
      return;
    }
    const connection = this.#waiting.take() as Connection;
    this.#waitingCount--;
    connection.isInOrder = false;
    const task = connection.takeTask();
    // Behind the others, and its turn again when each address has had a share.
    if (connection.isWaiting) this.#add(connection);
    connection.begin(this.#turn);
    connection.current = task;
    this.#worked = connection;
    // What the task goes on with in promises is done before the next one, and within the time of the turn.
    queueMicrotask(this.#afterPromises);
    task?.goOn();
    connection.current = undefined;
  };

  /** Ticks come when no promise has anything left to do. */
  readonly #afterPromises = (): void => process.nextTick(this.#goOn);

  /** What waits is not done. */
  close(): void {
    clearImmediate(this.#immediate);
    for (const order of Object.values(this.#orders)) order.clear();
    this.#waitingCount = 0;
    this.threads.close();
    this.reads.close();
    this.waits.close();
  }
}
