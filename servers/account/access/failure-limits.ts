import type { AccountViews } from "../../../contract/account.ts";
import { rateLimitKey } from "../../core/rate-limit-client.ts";

export interface FailureDecision {
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** A check of credentials that is under way; it counts as a failure until told otherwise. */
export interface Attempt {
  failed(): FailureDecision;
  /** It was right: nothing is counted, and with `forgive` the account's failures are forgotten. */
  succeeded(forgive: boolean): FailureDecision;
  /** It came to nothing. */
  dropped(): void;
}

export interface FailureLimits {
  /** Where one more is not allowed, the decision that says so. */
  begin(address: string, account: string | undefined): Attempt | (FailureDecision & { readonly refused: true });
  usage(): AccountViews["limits"];
  reset(): void;
}

interface Failures {
  /** When each happened, oldest first. */
  times: number[];
  underWay: number;
}

/** Of each kind; beyond it the one longest without a failure is forgotten. */
const mostKeys = 20_000;

/** Failures slide out of their window one by one. Those under way count, so that many at once do not pass together. */
export function createFailureLimits(options: {
  readonly failures: number;
  readonly windowMs: number;
  readonly now?: () => number;
}): FailureLimits {
  const { failures: limit, windowMs, now = () => performance.now() } = options;
  const addresses = new Map<string, Failures>();
  const accounts = new Map<string, Failures>();

  function of(map: Map<string, Failures>, key: string): Failures {
    const known = map.get(key);
    if (known) {
      const end = now() - windowMs;
      while (known.times.length > 0 && (known.times[0] as number) <= end) known.times.shift();
      return known;
    }
    const fresh: Failures = { times: [], underWay: 0 };
    if (map.size >= mostKeys) map.delete(map.keys().next().value as string);
    map.set(key, fresh);
    return fresh;
  }

  const usedOf = ({ times, underWay }: Failures) => times.length + underWay;

  function decision(parts: readonly Failures[]): FailureDecision {
    const tightest = parts.reduce((left, right) => (usedOf(right) > usedOf(left) ? right : left));
    const oldest = tightest.times[0] ?? now();
    return {
      remaining: Math.max(0, limit - usedOf(tightest)),
      resetSeconds: Math.max(1, Math.ceil((oldest + windowMs - now()) / 1_000)),
    };
  }

  function begin(address: string, account: string | undefined): ReturnType<FailureLimits["begin"]> {
    const addressKey = rateLimitKey(address);
    const accountKey = account?.toLowerCase().slice(0, 200);
    const kept: readonly (readonly [Map<string, Failures>, string, Failures])[] = [
      [addresses, addressKey, of(addresses, addressKey)],
      ...(accountKey === undefined ? [] : ([[accounts, accountKey, of(accounts, accountKey)]] as const)),
    ];
    const parts = kept.map(([, , part]) => part);
    function tidy(): void {
      for (const [map, key, part] of kept) if (usedOf(part) === 0 && map.get(key) === part) map.delete(key);
    }
    if (parts.some((part) => usedOf(part) >= limit)) {
      const told = decision(parts);
      tidy();
      return { ...told, refused: true };
    }
    for (const part of parts) part.underWay += 1;

    function settle(): void {
      for (const part of parts) part.underWay -= 1;
    }
    return {
      failed() {
        settle();
        for (const [map, key, part] of kept) {
          part.times.push(now());
          // To the end: the one longest without a failure comes first.
          map.delete(key);
          map.set(key, part);
        }
        return decision(parts);
      },
      succeeded(forgive) {
        settle();
        const own = kept[1]?.[2];
        if (forgive && own) own.times.length = 0;
        const told = decision(parts);
        tidy();
        return told;
      },
      dropped() {
        settle();
        tidy();
      },
    };
  }

  return {
    begin,
    usage() {
      const counted = (kind: "address" | "account", map: Map<string, Failures>) =>
        [...map.keys()].map((name) => ({ kind, name, failures: of(map, name).times.length })).filter(({ failures }) => failures > 0);
      const [ofAddresses, ofAccounts] = [counted("address", addresses), counted("account", accounts)];
      for (const map of [addresses, accounts]) for (const [name, part] of map) if (usedOf(part) === 0) map.delete(name);
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
      addresses.clear();
      accounts.clear();
    },
  };
}
