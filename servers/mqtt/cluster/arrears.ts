/** Deliveries, beside the first of each message, that this broker may owe to what all others have sent: some tenths of a second of work. One that a session keeps counts as several. */
const mostOwed = 20_000;
/** It says again that it is behind, while it is: who hears nothing more goes on (`Backlog`). */
const saidAgainMs = 500;
/** What is known of earlier messages, beside the last one. */
const earlier = 15 / 16;
/** Brokers have a new name each time that they start. */
const mostAccounts = 64;

export interface ArrearsOptions {
  readonly brokers: () => number;
  /** To the broker that sent the frames. */
  readonly say: (to: string, isBehind: boolean) => void;
  readonly now?: () => number;
}

/** Of one other broker. */
interface Account {
  /** Of its frames that wait. */
  bytes: number;
  /** Of the messages that were delivered last. */
  readonly applied: { bytes: number; deliveries: number };
  saidAt: number | undefined;
}

/**
 * What this broker has to deliver of the frames that it has received: a short one may be for thousands of its sessions. It is estimated from what
 * the same broker sent before. A message for one session does not count, so that bytes alone bound those (`Backlog`).
 */
export class Arrears {
  private readonly accounts = new Map<string, Account>();
  private readonly options: ArrearsOptions;
  private readonly now: () => number;

  constructor(options: ArrearsOptions) {
    this.options = options;
    this.now = options.now ?? (() => performance.now());
  }

  received(from: string, bytes: number): void {
    const account = this.accounts.get(from);
    if (!account) {
      if (this.accounts.size >= mostAccounts) this.forgetIdle();
      this.accounts.set(from, { bytes, applied: { bytes: 0, deliveries: 0 }, saidAt: undefined });
      return;
    }
    account.bytes += bytes;
    if (account.applied.deliveries > 0) this.look(from, account);
  }

  /** A part of what was received, such as a message; with its deliveries beside the first one. */
  applied(from: string, bytes: number, deliveries: number): void {
    const account = this.accounts.get(from);
    if (!account) return;
    const { applied } = account;
    account.bytes -= bytes;
    applied.bytes = applied.bytes * earlier + bytes;
    applied.deliveries = applied.deliveries * earlier + deliveries;
    if (applied.deliveries < 1) applied.deliveries = 0;
    if (applied.deliveries > 0 || account.saidAt !== undefined) this.look(from, account);
  }

  /** Nothing waits any more. Those that were told go on by themselves. */
  clear(): void {
    this.accounts.clear();
  }

  /** Of brokers that are gone. */
  private forgetIdle(): void {
    for (const [from, { bytes }] of this.accounts) if (bytes < 1) this.accounts.delete(from);
  }

  private look(from: string, account: Account): void {
    const { bytes, applied, saidAt } = account;
    const isTold = saidAt !== undefined;
    const owed = applied.bytes > 0 ? bytes * (applied.deliveries / applied.bytes) : 0;
    const most = mostOwed / Math.max(1, this.options.brokers() - 1);
    if (owed > most) {
      const now = this.now();
      if (isTold && now - saidAt < saidAgainMs) return;
      account.saidAt = now;
      this.options.say(from, true);
    } else if (isTold && owed < most / 2) {
      account.saidAt = undefined;
      this.options.say(from, false);
    }
  }
}

const words = { behind: "behind", ready: "ready" } as const;

/** What one broker says to another, on the channel of that one. */
export const saying = (broker: string, isBehind: boolean): string => `${isBehind ? words.behind : words.ready} ${broker}`;

/** Undefined if it is nothing of that kind. */
export function readSaying(text: string): { readonly broker: string; readonly isBehind: boolean } | undefined {
  const [word, broker, ...more] = text.split(" ");
  if ((word !== words.behind && word !== words.ready) || !broker || more.length > 0) return undefined;
  return { broker, isBehind: word === words.behind };
}
