import type { TurnClient } from "./allocation.ts";

/** RFC 8489 §6.3.1: how long a request may be repeated, with the timers of §6.2.1. */
const keptMs = 40_000;
/** Longer than any request has to be. */
const longestRequest = 2_048;

interface Transaction {
  readonly request: Buffer;
  readonly response: Buffer;
  readonly keptUntil: number;
}

/**
 * Responses to requests over UDP, so that a repeated request gets the same one and is not carried out twice. Only requests with right
 * credentials are kept; the oldest is forgotten when there are too many.
 */
export class TransactionCache {
  readonly #most: number;
  readonly #now: () => number;
  readonly #transactions = new Map<string, Transaction>();

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  find(client: TurnClient, request: Buffer): Buffer | undefined {
    if (this.#transactions.size === 0 || client.transport !== "udp") return undefined;
    const known = this.#transactions.get(keyOf(client, request));
    return known?.request.equals(request) ? known.response : undefined;
  }

  add(client: TurnClient, request: Buffer, response: Buffer): void {
    if (client.transport !== "udp" || this.#most === 0 || request.length > longestRequest) return;
    if (this.#transactions.size >= this.#most) this.#transactions.delete(this.#transactions.keys().next().value as string);
    // The request may be a part of a larger buffer.
    this.#transactions.set(keyOf(client, request), { request: Buffer.from(request), response, keptUntil: this.#now() + keptMs });
  }

  expire(): void {
    const now = this.#now();
    for (const [key, { keptUntil }] of this.#transactions) {
      if (keptUntil > now) return;
      this.#transactions.delete(key);
    }
  }
}

const keyOf = ({ address, port }: TurnClient, request: Buffer): string => `${address} ${port} ${request.toString("latin1", 8, 20)}`;
