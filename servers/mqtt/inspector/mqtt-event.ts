import type { MqttEvent } from "../../../contract/traffic/mqtt.ts";
import type { Tone, TrafficRow } from "../../../contract/traffic/row.ts";
import type { TrafficEntry } from "../../core/service/service.ts";

export interface MqttEventFacts {
  readonly id: number;
  readonly verb: "CONNECT" | "DISCONNECT" | "SUBSCRIBE" | "UNSUBSCRIBE";
  /** Filters, or the transport. */
  readonly target: string;
  readonly tone: Tone;
  readonly outcome: string;
  readonly clientId: string;
  readonly peer: string;
  readonly text: string;
}

/** A row for what a client does beside publishing. */
export function mqttEvent(facts: MqttEventFacts): TrafficEntry {
  const { id, verb, target, tone, outcome, clientId, peer, text } = facts;
  const at = Date.now();
  return {
    id,
    heldBytes: 300 + target.length + text.length,
    row: (): Omit<TrafficRow, "service"> => ({
      id,
      at,
      kind: "mqtt-event",
      verb,
      target: target.slice(0, 1_000),
      tone,
      outcome,
      tookMs: 0,
      bytesIn: 0,
      bytesOut: 0,
      client: clientId.slice(0, 200),
      peer,
      preview: "",
    }),
    detail: (): MqttEvent => ({ kind: "mqtt-event", id, at, clientId, text }),
  };
}
