import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import type { WorkConnection, WorkShare } from "../../core/turns/work-connection.ts";

/** What is done to the data of one relay, in both directions, so that an application can be tested with it. */
export interface Impairment {
  /** Nothing passes. The allocation and its answers stay. */
  readonly isCut: boolean;
  /** Part of the datagrams that are lost, from 0 to 1. */
  readonly loss: number;
  readonly delayMs: number;
}

export const noImpairment: Impairment = { isCut: false, loss: 0, delayMs: 0 };

export interface ImpairedPathOptions {
  /** What is delayed at the same time; more is lost. */
  readonly mostDelayedBytes: number;
  /** The same of all relays, with what else waits for clients: beyond it those lose what is delayed that have most. */
  readonly unsent: SharedBudget;
  /** Of the client. */
  readonly address: string;
  /** Of the client: much may be due at once, as when a delay ends. */
  readonly work: WorkConnection;
  /** So many datagrams are never forwarded. */
  readonly onLost: (datagrams: number) => void;
  /** What forwarding one has thrown. */
  readonly onFault: (error: unknown) => void;
  /** From 0 to 1, as `Math.random`. */
  readonly random?: () => number;
}

interface Delayed {
  readonly bytes: number;
  readonly forward: () => void;
  dueMs: number;
}

/** What waiting costs beside the data. */
const entryBytes = 500;
/** Much that is due at once would overflow the receive buffer of whom it is for. */
const burstBytes = 16 << 10;
const burstIntervalMs = 5;

const noWait = (): void => {};

/** Holds back, or loses, the datagrams of one relay. They keep their order. */
export class ImpairedPath {
  readonly #options: ImpairedPathOptions;
  readonly #random: () => number;
  readonly #delayed: Delayed[] = [];
  readonly #share: BudgetShare;
  readonly #turn: WorkShare;
  #impairment = noImpairment;
  #timer: NodeJS.Timeout | undefined;
  #waitsForTurn = false;
  #endWait = noWait;
  /** Of the burst that has begun, which goes on in further turns. */
  #burstLeft = 0;
  /** Since that burst began. */
  #arrivedBytes = 0;
  /** With what the entries take. */
  delayedBytes = 0;

  constructor(options: ImpairedPathOptions) {
    this.#options = options;
    this.#share = options.unsent.open(options.address, () => this.lose());
    this.#turn = options.work.join(() => {
      this.#waitsForTurn = false;
      this.#forwardDue();
    });
    this.#random = options.random ?? Math.random;
  }

  get impairment(): Impairment {
    return this.#impairment;
  }

  /** Each datagram passes at once. */
  get isIdle(): boolean {
    const { isCut, loss, delayMs } = this.#impairment;
    return !isCut && loss === 0 && delayMs === 0 && this.#delayed.length === 0;
  }

  /** What is delayed keeps its time as long as there is a delay; without one it is forwarded now. A cut loses it. */
  change(impairment: Impairment): void {
    this.#impairment = impairment;
    if (impairment.isCut) this.lose();
    if (impairment.delayMs > 0 || this.#delayed.length === 0) return;
    for (const delayed of this.#delayed) delayed.dueMs = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#waitsForTurn) this.#beginBurst();
  }

  /** Forwards the datagram of this size, now or later, or loses it. */
  pass(size: number, forward: () => void): void {
    const { isCut, loss, delayMs } = this.#impairment;
    const { mostDelayedBytes, onLost } = this.#options;
    const bytes = size + entryBytes;
    const isDelayed = delayMs > 0 || this.#delayed.length > 0;
    if (isCut || (loss > 0 && this.#random() < loss) || (isDelayed && this.delayedBytes + bytes > mostDelayedBytes)) onLost(1);
    else if (isDelayed) {
      this.#delayed.push({ bytes, forward, dueMs: Math.max(performance.now() + delayMs, this.#delayed.at(-1)?.dueMs ?? 0) });
      this.#arrivedBytes += bytes;
      // It may be the one that has most then, and lose all of it.
      this.#count(bytes);
      this.#schedule();
    } else forward();
  }

  #count(bytes: number): void {
    this.delayedBytes += bytes;
    this.#share.add(bytes);
  }

  #schedule(): void {
    const [first] = this.#delayed;
    if (!first || this.#timer || this.#waitsForTurn) return;
    const waitMs = Math.max(1, first.dueMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#beginBurst();
    }, waitMs);
  }

  /** With as much as has arrived since the last one: else what comes fast would be late for ever. */
  #beginBurst(arrived = 0): void {
    this.#burstLeft = Math.max(burstBytes, this.delayedBytes >> 4) + arrived;
    this.#arrivedBytes = 0;
    this.#forwardDue();
  }

  #forwardDue(): void {
    const nowMs = performance.now();
    for (let first = this.#delayed[0]; first && first.dueMs <= nowMs; first = this.#delayed[0]) {
      const isBurstOver = this.#burstLeft <= 0;
      if (isBurstOver || this.#turn.isOver) {
        this.#waitsForTurn = true;
        if (isBurstOver) this.#waitForBurst();
        else this.#turn.later();
        return;
      }
      this.#delayed.shift();
      this.#burstLeft -= first.bytes;
      this.#count(-first.bytes);
      try {
        first.forward();
      } catch (error) {
        this.#options.onFault(error);
      }
    }
    this.#schedule();
  }

  #waitForBurst(): void {
    const end = this.#options.work.wait(burstIntervalMs, () => {
      this.#endWait = noWait;
      this.#waitsForTurn = false;
      this.#beginBurst(this.#arrivedBytes);
    });
    this.#endWait = () => {
      end();
      this.#endWait = noWait;
      this.#waitsForTurn = false;
    };
  }

  /** What is delayed is lost. */
  lose(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#endWait();
    const { length } = this.#delayed.splice(0);
    this.#count(-this.delayedBytes);
    if (length > 0) this.#options.onLost(length);
  }

  /** With what is delayed. */
  close(): void {
    this.lose();
    this.#share.close();
  }
}
