import type { MqttClient } from "../../../../../contract/services/mqtt-client.ts";

interface Counted {
  readonly at: number;
  readonly messages: number;
  readonly since: number;
}
export interface ClientRates {
  readonly counted: ReadonlyMap<string, Counted>;
  /** Messages per second, in and out together. */
  readonly perSecond: ReadonlyMap<string, number>;
}

/** A rate over a shorter time is meaningless. */
const leastMs = 250;

export const noClientRates: ClientRates = { counted: new Map(), perSecond: new Map() };

/** Rates by the views' timestamps, smoothed with the previous rates; a client that reconnected starts at 0. */
export function clientRates(known: ClientRates, clients: readonly MqttClient[], now: number): ClientRates {
  const counted = new Map<string, Counted>();
  const perSecond = new Map<string, number>();
  for (const { clientId, messagesIn, messagesOut, since } of clients) {
    const messages = messagesIn + messagesOut;
    const before = known.counted.get(clientId);
    const isTooSoon = before?.since === since && now - before.at < leastMs;
    counted.set(clientId, isTooSoon ? before : { at: now, messages, since });
    if (!before || before.since !== since || isTooSoon) {
      perSecond.set(clientId, known.perSecond.get(clientId) ?? 0);
      continue;
    }
    const rate = (Math.max(0, messages - before.messages) * 1_000) / (now - before.at);
    const last = known.perSecond.get(clientId) ?? rate;
    perSecond.set(clientId, rate === 0 && last < 1 ? 0 : last * 0.5 + rate * 0.5);
  }
  return { counted, perSecond };
}
