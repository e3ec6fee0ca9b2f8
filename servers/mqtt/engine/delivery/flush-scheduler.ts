import { FairOrder } from "../../../core/turns/fair-order.ts";
import { systemCpuMs } from "../../../core/turns/thread-cpu.ts";
import { SharedSlab, SlabPool } from "./shared-slab.ts";
import { UnreadLoad } from "./unread-load.ts";

/** Buffered output that is written at the end of a tick. */
export interface Flushable {
  /** Others need not wait for it. */
  readonly isLarge: boolean;
  /** Few bytes for a client that asks for little: they do not wait for others. */
  readonly isUrgent: boolean;
  flush(): void;
}

/** What waits for its turn: `calm` for clients that ask for little, who come first; `fresh` for CONNECTs, of which some come next; `much` for what may take long, such as subscriptions and the ends of sessions, and for clients of which each packet may. */
export type TurnLine = "calm" | "fresh" | "usual" | "much";

interface Waiting {
  /** Of the client, as `rateLimitKey` has it; the broker's own is empty. */
  readonly key: string;
  readonly resume: () => void;
}

interface Moment {
  readonly ms: number;
  /** CPU time of the thread; undefined where the system does not tell it. */
  readonly cpuMs: number | undefined;
}

/** Addresses take turns; what waits for clients of one comes in order. */
class WaitingLine {
  length = 0;
  private readonly order = new FairOrder<Waiting>();

  push(resume: () => void, key: string): void {
    this.order.add({ key, resume });
    this.length++;
  }

  shift(): (() => void) | undefined {
    const first = this.order.take();
    if (first) this.length--;
    return first?.resume;
  }
}

/** Longest delay of writes while clients keep sending. */
const gatheredMs = 1;
/** In one turn of the event loop, of writing each: what was added in this turn, what is left of earlier ones, and large outputs. */
const sliceMs = 4;
/** In one turn of the event loop, of handling the packets of all clients that send many. */
const turnMs = 10;
/**
 * The same after a connection was accepted: libuv accepts one in a turn, so those behind it wait for as many turns. It is followed by turns in which
 * connections are accepted and little else is done, for as long as it took: in the queue of the operating system there are no turns of addresses.
 */
const acceptingTurnMs = 1;
/** Of it for CONNECTs before what others wait for: thousands may come at once. */
const freshMs = 2;
/** In one of so many flushes those with much work have some time, even if the turn is over. */
const turnsOfMuch = 4;
const timeOfMuchMs = 5;
/** Packets of which parts are handled are in memory as objects, each of many times its bytes: no more of all clients at the same time. */
const mostWorks = 64;
/** Messages for many are held until all have them, also when their publishers have left: no more of clients at the same time. */
const mostBroadcasts = 8;

/**
 * Writes all outputs at the end of a tick, after `beforeWrite` has committed: acknowledged messages are on disk before the
 * acknowledgement is sent. With a store, never writes while a message is handled, so its changes are committed together; without
 * one, a full slab is written at once. While clients keep sending, the output of several ticks is combined into fewer, larger writes.
 * What takes long is written over several turns of the event loop. Few bytes do not wait for many, nor few outputs for many.
 */
export class FlushScheduler {
  readonly small = new SlabPool(4_096, 1_024);
  readonly large = new SlabPool(65_536, 512);
  readonly shared = new SharedSlab();
  /** The transports may still read the shared memory. */
  sharedInUse = false;
  /** False if nothing may be written yet; `flush` is then called again later. */
  beforeWrite: (() => boolean) | undefined = undefined;
  /** Clients then have had their time in this turn, however long it took. */
  hasMuchToCommit: (() => boolean) | undefined = undefined;
  readonly unread: UnreadLoad;
  bytesOut = 0;
  /** Number of reads from clients. */
  arrivals = 0;
  /** Number of flushes. */
  turns = 0;
  /** Packets of which a part was handled, of all clients. */
  works = 0;
  /** More is to be written than a turn has time for. */
  isBehind = false;
  private arrivalsSeen = 0;
  private dirty: Flushable[] = [];
  private lateUrgent: Flushable[] = [];
  /** Left over from earlier turns, the oldest first. */
  private late: Flushable[] = [];
  private lateLarge: Flushable[] = [];
  private readonly lines: Readonly<Record<TurnLine, WaitingLine>> = {
    calm: new WaitingLine(),
    fresh: new WaitingLine(),
    usual: new WaitingLine(),
    much: new WaitingLine(),
  };
  /** Clients whose next packet has topic filters. */
  private readonly waitingToBegin = new WaitingLine();
  private readonly waitingToBroadcast = new WaitingLine();
  /** With those that wait. */
  private broadcasts = 0;
  private beganLast = false;
  private turnStartedAt: number | undefined = undefined;
  private hasAccepted = false;
  /** Connections are accepted, and clients have no time in this turn. */
  private acceptsOnly = false;
  /** So long, from then on. */
  private acceptsMs = 0;
  private acceptsFrom: Moment = { ms: 0, cpuMs: 0 };
  /** Of the turn, for clients. */
  private lengthMs = turnMs;
  /** The last turn after a connection was accepted in which more was done than to accept others. */
  private beganAt: Moment = { ms: 0, cpuMs: 0 };
  private scheduled = false;
  /** One in a turn of the event loop, however much is added meanwhile. */
  private immediate: NodeJS.Immediate | undefined = undefined;
  private scheduledAt = 0;
  private readonly now: () => number;
  private readonly cpuMs: (() => number) | undefined;

  /** `now` replaces both clocks. */
  constructor(now?: () => number, unread = new UnreadLoad()) {
    this.now = now ?? (() => performance.now());
    this.cpuMs = now ? undefined : systemCpuMs;
    this.unread = unread;
  }

  add(output: Flushable): void {
    this.dirty.push(output);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.scheduledAt = this.now();
    this.waitForTurn();
  }

  private waitForTurn(): void {
    this.immediate ??= setImmediate(this.endTick);
  }

  private readonly endTick = (): void => {
    this.immediate = undefined;
    if (!this.scheduled) return;
    const { arrivals } = this;
    const quiet = arrivals === this.arrivalsSeen;
    this.arrivalsSeen = arrivals;
    if (this.isBehind || quiet || this.now() - this.scheduledAt >= gatheredMs) this.takeTurn();
    else this.waitForTurn();
  };

  /** A listener has just accepted a connection. */
  accepted(): void {
    this.hasAccepted = true;
    this.schedule();
  }

  private takeTurn(): void {
    const { hasAccepted } = this;
    this.hasAccepted = false;
    if (hasAccepted && !this.acceptsOnly && this.lengthMs === acceptingTurnMs) {
      this.acceptsMs = Math.min(this.since(this.beganAt), turnMs);
      this.acceptsFrom = this.moment();
    }
    this.acceptsOnly = hasAccepted && this.since(this.acceptsFrom) < this.acceptsMs;
    if (this.acceptsOnly) {
      this.waitForTurn();
      return;
    }
    this.lengthMs = hasAccepted ? acceptingTurnMs : turnMs;
    if (hasAccepted) this.beganAt = this.moment();
    this.flush();
  }

  private moment(): Moment {
    return { ms: this.now(), cpuMs: this.cpuMs?.() };
  }

  /** Milliseconds, without those in which other programs had the processor. */
  private since({ ms, cpuMs }: Moment): number {
    const passed = this.now() - ms;
    return cpuMs === undefined || !this.cpuMs ? passed : Math.min(passed, this.cpuMs() - cpuMs);
  }

  /** Full buffers are set aside until it is their output's turn: nothing may be written yet, or not that much at once. */
  get setsAside(): boolean {
    return this.isBehind || this.beforeWrite !== undefined;
  }

  /** More than a turn has time for is about to be added. */
  expectMuch(): void {
    this.isBehind = true;
    this.schedule();
  }

  /**
   * The clients have had their time in this turn of the event loop; asked by those that send many packets, or for many.
   * `parts`: how many times as much those have that ask.
   */
  isTurnOver(parts = 1): boolean {
    if (this.acceptsOnly) return true;
    const now = this.now();
    if (this.turnStartedAt === undefined) {
      this.turnStartedAt = now;
      setImmediate(() => {
        this.turnStartedAt = undefined;
      });
    }
    return now - this.turnStartedAt >= parts * this.lengthMs || this.hasMuchToCommit?.() === true;
  }

  /**
   * `resume` is called in a later turn, when everything is written that was added before; for calm clients and CONNECTs also if there is more to write. Those that wait
   * take turns, by their `address` as `rateLimitKey` has it, and those with much work come after the others, but not always.
   */
  whenWritten(resume: () => void, line: TurnLine = "usual", address = ""): void {
    this.lines[line].push(resume, address);
    this.schedule();
  }

  /** The same for a packet that may be handled in parts: when one more may be begun. */
  whenWorkBegins(resume: () => void, address = ""): void {
    this.waitingToBegin.push(resume, address);
    this.schedule();
  }

  /** Clients wait for their turn, or for what is to be written. */
  get isCrowded(): boolean {
    return this.isBehind || this.lines.usual.length > 0;
  }

  /** For a message for many: `begin` is called, at once or later, when there is a place for it, which `endBroadcast` gives back. */
  beginBroadcast(begin: () => void, address = ""): void {
    if (this.broadcasts++ < mostBroadcasts) begin();
    else this.waitingToBroadcast.push(begin, address);
  }

  endBroadcast(): void {
    this.broadcasts--;
    const next = this.waitingToBroadcast.shift();
    if (next) this.whenWritten(next, "much");
  }

  get mayBeginWork(): boolean {
    return this.works < mostWorks;
  }

  /** Resolves in a later turn, when long work of the broker itself may go on: after that of clients, but not always. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => this.whenWritten(resolve, "much"));
  }

  /** Work of the broker itself, such as an answer to the page, of which each step is short. */
  inTurns<Result>(work: Iterator<unknown, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const goOn = () => {
        try {
          for (let step = work.next(); ; step = work.next()) {
            if (step.done) return resolve(step.value);
            if (this.isTurnOver()) return this.whenWritten(goOn);
          }
        } catch (error) {
          reject(error);
        }
      };
      goOn();
    });
  }

  readonly flush = (): void => {
    this.scheduled = false;
    const mustCommit = this.dirty.length + this.lateLength > 0 || this.hasMuchToCommit?.() === true;
    if (mustCommit && this.beforeWrite?.() === false) return;
    this.turns++;
    const { dirty } = this;
    this.dirty = [];
    const usual = dirty.some(({ isUrgent }) => isUrgent) ? this.withoutUrgent(dirty) : dirty;
    const small = usual.some(({ isLarge }) => isLarge) ? this.withoutLarge(usual) : usual;
    this.lateUrgent = this.writeSlice(this.lateUrgent);
    const rest = this.writeSlice(small);
    this.late = this.late.length > 0 ? this.writeSlice(this.late).concat(rest) : rest;
    this.lateLarge = this.writeSlice(this.lateLarge);
    if (this.lateLength > 0) {
      this.isBehind = true;
      this.resumeFirst();
      this.schedule();
      return;
    }
    this.isBehind = false;
    this.shared.reset(this.sharedInUse || this.dirty.length > 0);
    this.sharedInUse = false;
    if (this.isWaitedFor) this.resumeWaiting();
  };

  private get lateLength(): number {
    return this.lateUrgent.length + this.late.length + this.lateLarge.length;
  }

  private withoutUrgent(outputs: readonly Flushable[]): Flushable[] {
    this.lateUrgent = this.lateUrgent.concat(outputs.filter(({ isUrgent }) => isUrgent));
    return outputs.filter(({ isUrgent }) => !isUrgent);
  }

  private withoutLarge(outputs: readonly Flushable[]): Flushable[] {
    this.lateLarge = this.lateLarge.concat(outputs.filter(({ isLarge }) => isLarge));
    return outputs.filter(({ isLarge }) => !isLarge);
  }

  /** Gives the outputs for which there was no time. */
  private writeSlice(outputs: Flushable[]): Flushable[] {
    if (outputs.length === 0) return outputs;
    const until = this.now() + Math.min(sliceMs, this.lengthMs);
    let written = 0;
    do (outputs[written++] as Flushable).flush();
    while (written < outputs.length && this.now() < until);
    return outputs.slice(written);
  }

  private get isWaitedFor(): boolean {
    const { calm, fresh, usual, much } = this.lines;
    return calm.length + fresh.length + usual.length + much.length + this.waitingToBegin.length > 0;
  }

  /** Also while there is more to write. */
  private resumeFirst(): void {
    const { calm, fresh } = this.lines;
    for (let count = calm.length; count > 0 && !this.isTurnOver(); count--) calm.shift()?.();
    if (fresh.length === 0) return;
    // The same part of a short turn: some time is left for the others.
    const until = this.now() + (freshMs * this.lengthMs) / turnMs;
    for (let count = fresh.length; count > 0 && this.now() < until && !this.isTurnOver(); count--) fresh.shift()?.();
  }

  private resumeWaiting(): void {
    const { usual, much } = this.lines;
    this.resumeFirst();
    // One at least: those that come first may use up each turn.
    for (let count = usual.length, left = 1; count > 0 && (this.hasTime || (left > 0 && !this.isBehind)); count--, left--)
      usual.shift()?.();
    // Others may use up each turn.
    if (this.turns % turnsOfMuch === 0 && !this.isBehind) {
      if (this.isTurnOver()) this.turnStartedAt = this.now() - this.lengthMs + Math.min(timeOfMuchMs, this.lengthMs);
      this.resumeMuch();
    }
    for (let count = much.length + this.waitingToBegin.length; count > 0 && this.hasTime; count--) this.resumeMuch();
    if (this.isWaitedFor) this.schedule();
  }

  private get hasTime(): boolean {
    return !this.isBehind && !this.isTurnOver();
  }

  /** Those that begin and those that go on take turns. */
  private resumeMuch(): void {
    const { lines, waitingToBegin } = this;
    const begins = this.mayBeginWork && (this.beganLast ? lines.much.length === 0 : waitingToBegin.length > 0);
    this.beganLast = begins;
    (begins ? waitingToBegin : lines.much).shift()?.();
  }

  trim(): void {
    this.small.trim();
    this.large.trim();
  }
}
