import { setTimeout as delay } from "node:timers/promises";
import { rateLimitKey } from "../limits/rate-limit-client.ts";
import { type LoginClient, LoginQueue } from "./login-queue.ts";

export interface FailureDecision {
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** A check of credentials in progress: its result is not known yet. */
export interface Attempt {
  failed(): FailureDecision;
  /** The credentials were right: nothing is counted, and `forgive` clears the account's failures. */
  succeeded(forgive: boolean): FailureDecision;
  /** The check was abandoned: nothing is counted. */
  dropped(): FailureDecision;
}

export type AttemptResult = Attempt | (FailureDecision & { readonly refused: true });

export interface FailureLimits {
  /**
   * Begins an attempt, or refuses it where the allowed number of failures is reached. Where the attempts in progress could
   * still reach it, it waits for their results, in the turns of `LoginQueue`. Rejects with TooBusy when too many wait, and with ClientLeft. If failures from other addresses have
   * reached an account's limit, an address that logged in to it before is only slowed down: strangers must not lock its owner out.
   */
  begin(client: LoginClient, account: string | undefined): Promise<AttemptResult>;
  /** Counts a failure of what was checked without an attempt. */
  count(address: string): void;
  /** The state of an address, without beginning an attempt. */
  stateOf(address: string): FailureDecision;
  usage(): FailureUsage;
  reset(): void;
}

export interface FailureUsage {
  readonly failures: number;
  readonly windowSeconds: number;
  /** Those with a failure in the window. */
  readonly addresses: number;
  readonly accounts: number;
  /** Those with the most failures, at most 20. */
  readonly busiest: readonly { readonly kind: "address" | "account"; readonly name: string; readonly failures: number }[];
}

interface Failures {
  /** When each happened, oldest first. */
  times: number[];
  underWay: number;
}

type Kept = readonly (readonly [map: Map<string, Failures>, key: string, part: Failures])[];

interface WaitingAttempt {
  readonly addressKey: string;
  readonly accountKey: string | undefined;
  readonly resolve: (begun: AttemptResult) => void;
  readonly reject: (error: Error) => void;
}

/** An account with its own limit reached, and an address from which it was logged in to before. */
const slowedMs = 1_000;

/** Most addresses, and most accounts, that are tracked; beyond it the one longest without a failure is evicted. */
const mostKeys = 20_000;

/** A sliding window of failures. Attempts in progress hold up further ones, so that many at once cannot pass the limit together. */
export function createFailureLimits(options: {
  readonly failures: number;
  readonly windowMs: number;
  readonly now?: () => number;
  readonly slowedMs?: number;
  /** An attempt failed, or was refused because of the limit. */
  readonly onFailure?: () => void;
  /** The text shown for an account: users type passwords into the wrong field. */
  readonly accountName?: (name: string) => string;
}): FailureLimits {
  const {
    failures: limit,
    windowMs,
    now = () => performance.now(),
    slowedMs: slowed = slowedMs,
    onFailure,
    accountName = (name) => name,
  } = options;
  const addresses = new Map<string, Failures>();
  /** Where an account was logged in to: "address account". */
  const known = new Set<string>();
  const accounts = new Map<string, Failures>();
  const waiting = new LoginQueue<WaitingAttempt>(({ reject }, why) => reject(why));

  function slide(part: Failures): Failures {
    const end = now() - windowMs;
    while (part.times.length > 0 && (part.times[0] as number) <= end) part.times.shift();
    return part;
  }

  function of(map: Map<string, Failures>, key: string): Failures {
    const tracked = map.get(key);
    if (tracked) return slide(tracked);
    const fresh: Failures = { times: [], underWay: 0 };
    if (map.size >= mostKeys) map.delete(map.keys().next().value as string);
    map.set(key, fresh);
    return fresh;
  }

  function decision(parts: readonly Failures[]): FailureDecision {
    const tightest = parts.reduce((left, right) => (right.times.length > left.times.length ? right : left));
    const oldest = tightest.times[0] ?? now();
    return {
      remaining: Math.max(0, limit - tightest.times.length),
      resetSeconds: Math.max(1, Math.ceil((oldest + windowMs - now()) / 1_000)),
    };
  }

  function tidy(kept: Kept): void {
    for (const [map, key, part] of kept) if (part.times.length + part.underWay === 0 && map.get(key) === part) map.delete(key);
  }

  function remember(addressKey: string, accountKey: string): void {
    const pair = `${addressKey} ${accountKey}`;
    known.delete(pair);
    if (known.size >= mostKeys) known.delete(known.keys().next().value as string);
    known.add(pair);
  }

  /** Whether an attempt may begin; "later" where it depends on the attempts in progress. */
  function verdictOf({ addressKey, accountKey }: Pick<WaitingAttempt, "addressKey" | "accountKey">): "begin" | "refuse" | "later" {
    const isKnown = known.has(`${addressKey} ${accountKey}`);
    const parts = [addresses.get(addressKey), isKnown || accountKey === undefined ? undefined : accounts.get(accountKey)];
    let verdict: "begin" | "later" = "begin";
    for (const part of parts) {
      if (!part) continue;
      const { times, underWay } = slide(part);
      if (times.length >= limit) return "refuse";
      if (times.length + underWay >= limit) verdict = "later";
    }
    return verdict;
  }

  function begin(addressKey: string, accountKey: string | undefined, isRefused: boolean): AttemptResult {
    const kept: Kept = [
      [addresses, addressKey, of(addresses, addressKey)],
      ...(accountKey === undefined ? [] : ([[accounts, accountKey, of(accounts, accountKey)]] as const)),
    ];
    const isKnown = known.has(`${addressKey} ${accountKey}`);
    /** Those whose limit may refuse it. */
    const parts = (isKnown ? kept.slice(0, 1) : kept).map(([, , part]) => part);
    if (isRefused) {
      const decided = decision(parts);
      tidy(kept);
      onFailure?.();
      return { ...decided, refused: true };
    }
    for (const [, , part] of kept) part.underWay += 1;
    return attemptOf(kept, parts);
  }

  function attemptOf(kept: Kept, parts: readonly Failures[]): Attempt {
    function settle(change: () => void): FailureDecision {
      for (const [, , part] of kept) part.underWay -= 1;
      change();
      const decided = decision(parts);
      tidy(kept);
      admitWaiting();
      return decided;
    }
    return {
      failed: () =>
        settle(() => {
          for (const [map, key, part] of kept) {
            part.times.push(now());
            if (part.times.length > limit) part.times.shift();
            // Moved to the end: the first is the one longest without a failure.
            map.delete(key);
            map.set(key, part);
          }
          onFailure?.();
        }),
      succeeded: (forgive) =>
        settle(() => {
          const [[, addressKey], account] = kept as [Kept[number], Kept[number]?];
          if (!forgive || !account) return;
          account[2].times.length = 0;
          remember(addressKey, account[1]);
        }),
      dropped: () => settle(() => {}),
    };
  }

  /** Begins or refuses the waiting attempts that are decided now. */
  function admitWaiting(): void {
    for (const { addressKey, accountKey, resolve } of waiting.takeAll((attempt) => verdictOf(attempt) === "refuse"))
      resolve(begin(addressKey, accountKey, true));
    for (;;) {
      const next = waiting.take((attempt) => verdictOf(attempt) === "begin");
      if (!next) return;
      next.resolve(begin(next.addressKey, next.accountKey, false));
    }
  }

  return {
    begin(client, account) {
      const addressKey = rateLimitKey(client.address);
      const accountKey = account?.toLowerCase().slice(0, 200);
      const verdict = verdictOf({ addressKey, accountKey });
      if (verdict === "later")
        return new Promise((resolve, reject) => waiting.add(client, accountKey, { addressKey, accountKey, resolve, reject }));
      const begun = begin(addressKey, accountKey, verdict === "refuse");
      const isSlowed = verdict === "begin" && accountKey !== undefined && (accounts.get(accountKey)?.times.length ?? 0) >= limit;
      return isSlowed ? delay(slowed, begun) : Promise.resolve(begun);
    },
    count(address) {
      const addressKey = rateLimitKey(address);
      const isRefused = verdictOf({ addressKey, accountKey: undefined }) === "refuse";
      const begun = begin(addressKey, undefined, isRefused);
      if (!("refused" in begun)) begun.failed();
    },
    stateOf(address) {
      const tracked = addresses.get(rateLimitKey(address));
      return decision([tracked ? slide(tracked) : { times: [], underWay: 0 }]);
    },
    usage() {
      const counted = (kind: "address" | "account", map: Map<string, Failures>) =>
        [...map.keys()]
          .map((key) => ({ kind, name: kind === "address" ? key : accountName(key), failures: of(map, key).times.length }))
          .filter(({ failures }) => failures > 0);
      const [ofAddresses, ofAccounts] = [counted("address", addresses), counted("account", accounts)];
      for (const map of [addresses, accounts]) tidy([...map].map(([name, part]) => [map, name, part] as const));
      const busiest = [...ofAddresses, ...ofAccounts].sort((left, right) => right.failures - left.failures).slice(0, 20);
      return {
        failures: limit,
        windowSeconds: windowMs / 1_000,
        addresses: ofAddresses.length,
        accounts: ofAccounts.length,
        busiest,
      };
    },
    reset() {
      for (const map of [addresses, accounts]) {
        for (const part of map.values()) part.times.length = 0;
        tidy([...map].map(([name, part]) => [map, name, part] as const));
      }
      admitWaiting();
    },
  };
}
