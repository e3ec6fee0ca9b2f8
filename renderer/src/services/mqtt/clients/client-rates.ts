import type { MqttClient } from "../../../../../contract/services/mqtt-client.ts";

interface Count {
  readonly at: number;
  readonly messages: number;
}
interface Counted {
  readonly since: number;
  /** The newest is last; the first one is the oldest that a rate needs. */
  readonly changes: readonly Count[];
  /** Whether the first one is that of the first view, and no change: when its last message came is not known. */
  readonly isFirstView: boolean;
}
export interface ClientRates {
  readonly counted: ReadonlyMap<string, Counted>;
  /** Messages per second, in and out together. */
  readonly perSecond: ReadonlyMap<string, number>;
}

/** A message a second is in one view and not in the next: over a shorter time it would be none, or two. */
const windowMs = 5_000;
/** Of a client that was not seen for longer, over this time at least. */
const leastMs = 1_000;

export const noClientRates: ClientRates = { counted: new Map(), perSecond: new Map() };

/** Rates by the views' timestamps over the last 5 s, from change to change; a client that reconnected starts at 0. */
export function clientRates(known: ClientRates, clients: readonly MqttClient[], now: number): ClientRates {
  const counted = new Map<string, Counted>();
  const perSecond = new Map<string, number>();
  for (const { clientId, messagesIn = 0, messagesOut = 0, since } of clients) {
    const count = { at: now, messages: messagesIn + messagesOut };
    const before = known.counted.get(clientId);
    const next = before?.since === since ? withCount(before, count) : { since, changes: [count], isFirstView: true };
    counted.set(clientId, next);
    perSecond.set(clientId, rateOf(next, now));
  }
  return { counted, perSecond };
}

function withCount({ since, changes, isFirstView }: Counted, count: Count): Counted {
  const all = changes.at(-1)?.messages === count.messages ? changes : [...changes, count];
  const oldest = Math.max(
    // The change before the window: what came since has all of its time.
    all.findLastIndex(({ at }) => at <= count.at - windowMs),
    isFirstView && all.length > 2 ? 1 : 0,
  );
  return { since, changes: all.slice(oldest), isFirstView: isFirstView && oldest === 0 };
}

function rateOf({ changes }: Counted, now: number): number {
  const first = changes.at(0);
  const last = changes.at(-1);
  if (!first || !last || first === last) return 0;
  const messages = last.messages - first.messages;
  const untilLast = last.at - first.at;
  // The next one is late as soon as more time has passed than between two of them.
  const ms = Math.max(untilLast, now - first.at - untilLast / messages, leastMs);
  return (messages * 1_000) / ms;
}
