import { getHeapStatistics } from "node:v8";
import type { Log } from "./log.ts";
import { countOf, countText } from "./quantity.ts";

/** A connection of a client. */
export interface GuardedConnection {
  /** Of its address, as `rateLimitKey` has it. */
  readonly key: string;
  /** It has little to do: it is neither held back nor ended. */
  readonly isCalm: boolean;
  /** What it has used lately, in milliseconds. */
  readonly used: number;
  /** Bytes that it has sent beyond what it was answered: what is kept for it is not much more. */
  readonly unansweredBytes: number;
  /** To be called at intervals, before `isCalm` and `used`. */
  look(): void;
  holdReading(isHeld: boolean): void;
  end(why: string): void;
}

export interface MemoryGuardOptions {
  readonly mostBytes: number;
  /** Its name in the environment. */
  readonly setting: string;
  readonly connections: () => Iterable<GuardedConnection>;
  readonly log: Pick<Log, "warning">;
  readonly memory: ProcessMemory;
  /** In milliseconds, steady. */
  readonly now?: () => number;
}

/** Of the process. */
export interface ProcessMemory {
  /** Bytes of objects and buffers, with those that V8 has not collected yet. */
  readonly bytes: () => number;
  /** Collects at once: what was used for a short time, or all. Undefined where the process cannot. */
  readonly collect: ((what: "minor" | "major") => void) | undefined;
}

/**
 * Not what the system says the process has: the allocator keeps what was freed for what comes, so that the figure stays high when all is over. Takes 4 µs;
 * that of the system takes 30.
 */
export const processMemory: ProcessMemory = {
  bytes() {
    const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics();
    return heap + buffers;
  },
  collect: globalThis.gc && ((type) => void globalThis.gc?.({ type })),
};

/** Of the bound: above it reading is held back. */
const firstMark = 3 / 4;
/** Of the bound: how much is free after connections were ended. */
const step = 1 / 16;
/** Of the bound: how much more there may be after a collection before the next one, which takes long where much is in use. V8 collects earlier by itself. */
const growth = 1 / 8;
/** Of the bound: what a calm connection has to have sent to be ended. */
const large = 1 / 256;
/** Of the connections that may be ended: how many are ended before memory is looked at again. */
const endedAtOnce = 1 / 16;
/** So fast memory may grow without passing a mark unseen. */
const bytesPerMs = 1 << 20;
const leastBetweenMs = 10;
const betweenWhileHoldingMs = 50;
const mostBetweenMs = 1_000;
/** Collections of everything take up to this part of the time. */
const collectingPart = 1 / 10;
/** For connections to be closed, in the turns of all. */
const closingMs = 100;
const mebibytes = (bytes: number): string => `${countText(Math.round(bytes / (1 << 20)))} MiB`;

/**
 * The last resort for the memory of a process: what no other limit counts, and what comes faster than V8 collects. Above a mark, connections that are not calm
 * are not read until V8 has collected. Where more than the bound is in use, connections of the address that has used most lately are ended, those that have used
 * most first, a part at a time. Where none but calm ones are left, those are that have sent most without an answer: what came slowly may be much.
 * It does not see what libraries allocate by themselves, such as the state of TLS: that grows with the number of connections, which is bounded.
 */
export class MemoryGuard {
  readonly #options: MemoryGuardOptions;
  readonly #now: () => number;
  #mark: number;
  #isHolding = false;
  #collectAtMs = Number.NEGATIVE_INFINITY;
  /** Since memory was above the bound. */
  #ended = 0;
  /** They are closed in their turns. */
  readonly #leaving = new WeakSet<GuardedConnection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemoryGuardOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#mark = options.mostBytes * firstMark;
  }

  /** Looks at memory at intervals. Keeps no process alive. */
  start(): void {
    this.#timer = setTimeout(() => {
      this.look();
      this.start();
    }, this.#untilNextMs()).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#release();
  }

  /** The nearer memory is to the mark, the sooner. */
  #untilNextMs(): number {
    if (this.#isHolding) return betweenWhileHoldingMs;
    return Math.min(mostBetweenMs, Math.max(leastBetweenMs, (this.#mark - this.#options.memory.bytes()) / bytesPerMs));
  }

  look(): void {
    const { mostBytes, memory, connections } = this.#options;
    let bytes = memory.bytes();
    if (bytes >= (mostBytes * firstMark) / 2) for (const connection of connections()) connection.look();
    if (bytes < this.#mark) {
      this.#mark = Math.max(mostBytes * firstMark, Math.min(this.#mark, bytes + mostBytes * growth));
      this.#release();
      return;
    }
    this.#hold();
    memory.collect?.("minor");
    if (memory.bytes() < this.#mark) {
      this.#release();
      return;
    }
    const atMs = this.#now();
    if (atMs < this.#collectAtMs) {
      // It may be due in seconds: until then V8 collects by itself.
      if (memory.bytes() < mostBytes * (1 - step)) this.#release();
      return;
    }
    memory.collect?.("major");
    bytes = memory.bytes();
    this.#collectAtMs = this.#now() + Math.max(closingMs, (this.#now() - atMs) / collectingPart);
    // So much is in use, and not waiting to be collected.
    if (bytes > mostBytes * (1 - step) && this.#endSome(bytes)) return;
    this.#mark = Math.max(mostBytes * firstMark, bytes + mostBytes * growth);
    this.#release();
  }

  #hold(): void {
    this.#isHolding = true;
    // New ones as well.
    for (const connection of this.#options.connections()) if (!connection.isCalm) connection.holdReading(true);
  }

  #release(): void {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    for (const connection of this.#options.connections()) connection.holdReading(false);
    if (this.#ended === 0) return;
    const { log, memory } = this.#options;
    log.warning(
      `${countOf(this.#ended, "connection")} were ended for the memory of the process, which is at ${mebibytes(memory.bytes())}.`,
    );
    this.#ended = 0;
  }

  /** What each connection that may be ended has used. */
  #candidates(): { readonly connection: GuardedConnection; readonly used: number }[] {
    const staying = Array.from(this.#options.connections()).filter((connection) => !this.#leaving.has(connection));
    const busy = staying.filter(({ isCalm }) => !isCalm).map((connection) => ({ connection, used: connection.used }));
    if (busy.length > 0) return busy;
    const least = this.#options.mostBytes * large;
    return staying.map((connection) => ({ connection, used: connection.unansweredBytes })).filter(({ used }) => used >= least);
  }

  /** False if there are none but small calm ones. */
  #endSome(bytes: number): boolean {
    const { mostBytes, setting, log } = this.#options;
    const used = this.#candidates();
    if (used.length === 0) return false;
    const ofAddresses = Map.groupBy(used, ({ connection }) => connection.key);
    const usedBy = new Map(Array.from(ofAddresses, ([key, ofOne]) => [key, ofOne.reduce((sum, one) => sum + one.used, 0)] as const));
    const usedByAddressOf = ({ key }: GuardedConnection): number => usedBy.get(key) ?? 0;
    used.sort((one, other) => usedByAddressOf(other.connection) - usedByAddressOf(one.connection) || other.used - one.used);
    const first = used[0]?.connection.key;
    const why = `the memory of the process is above its limit, ${setting}, and this connection was among those that used most`;
    if (this.#ended === 0)
      log.warning(
        `The process has ${mebibytes(bytes)} in use, of at most ${mebibytes(mostBytes)} (${setting}): connections that use most are ended, first those of ${first}. Raise the limit if they are wanted.`,
      );
    const count = Math.ceil(used.length * endedAtOnce);
    for (const { connection } of used.slice(0, count)) {
      this.#leaving.add(connection);
      connection.end(why);
    }
    this.#ended += count;
    return true;
  }
}
