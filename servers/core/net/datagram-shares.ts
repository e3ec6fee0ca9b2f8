import type { RemoteInfo } from "node:dgram";
import { rateLimitKey } from "../limits/rate-limit-client.ts";
import type { Log } from "../service/log.ts";
import { addressText } from "./client-socket.ts";

const windowMs = 100;
const betweenWarningsMs = 10_000;

export interface DatagramSharesOptions {
  /** Of one known socket, and of all others together while one address sends. */
  readonly perSecond: number;
  /** What they are, for the log: "Requests of STUN and TURN". */
  readonly what: string;
  readonly log: Pick<Log, "warning">;
  readonly now?: () => number;
}

/**
 * How many datagrams of each socket are worked on. UDP has no back pressure, and all clients share the queues of the system: what one sends
 * beyond its share is dropped before any work, so that the queues are read faster than they fill. A client may have thousands of sockets, so those
 * that are not known share one share. Where it is used up, an address still has its part of it, so that those lose that send most: the share, divided
 * by the addresses of this window or of the one before, whichever are more. Source addresses can be forged: no more are counted than have a part,
 * and of those that come beyond that nobody could tell which is genuine. Clients repeat what gets no answer.
 */
export class DatagramShares {
  readonly #options: DatagramSharesOptions;
  readonly #now: () => number;
  readonly #most: number;
  /** In this window, by known socket. */
  readonly #taken = new Map<string, number>();
  #unknown = 0;
  /** Of them, in this window, by address as `rateLimitKey` has it; no more than `#most`. */
  readonly #ofAddresses = new Map<string, number>();
  #addressesBefore = 0;
  #endsAt = 0;
  #nextWarningAt = 0;

  constructor(options: DatagramSharesOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#most = Math.ceil((options.perSecond * windowMs) / 1_000);
  }

  /** Whether one more of this sender is worked on. Known is one that has shown who it is. */
  take({ address, port }: Pick<RemoteInfo, "address" | "port">, isKnown: boolean): boolean {
    const now = this.#now();
    if (now >= this.#endsAt) {
      this.#taken.clear();
      this.#unknown = 0;
      // Of a window that has just ended: the parts are as small from the first datagram on.
      this.#addressesBefore = now < this.#endsAt + windowMs ? this.#ofAddresses.size : 0;
      this.#ofAddresses.clear();
      this.#endsAt = now + windowMs;
    }
    if (!isKnown) {
      if (this.#takeUnknown(rateLimitKey(address))) return true;
      this.#warn(address, port, now);
      return false;
    }
    const sender = `${address} ${port}`;
    const taken = this.#taken.get(sender) ?? 0;
    if (taken >= this.#most) {
      this.#warn(address, port, now);
      return false;
    }
    this.#taken.set(sender, taken + 1);
    return true;
  }

  #takeUnknown(address: string): boolean {
    const counts = this.#ofAddresses;
    const taken = counts.get(address) ?? 0;
    const isCounted = taken > 0 || counts.size < this.#most;
    const addresses = Math.max(this.#addressesBefore, counts.size + (taken === 0 ? 1 : 0));
    const hasPart = isCounted && taken < Math.floor(this.#most / addresses);
    if (this.#unknown >= this.#most && !hasPart) return false;
    this.#unknown++;
    if (isCounted) counts.set(address, taken + 1);
    return true;
  }

  #warn(address: string, port: number, now: number): void {
    if (now < this.#nextWarningAt) return;
    this.#nextWarningAt = now + betweenWarningsMs;
    const { what, perSecond, log } = this.#options;
    log.warning(`${what} over UDP are dropped: more than ${perSecond} a second come, the last one from ${addressText(address, port)}.`);
  }
}
