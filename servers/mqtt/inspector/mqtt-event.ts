import type { Tone } from "../../../contract/traffic/row.ts";
import { textWithoutCredentials } from "../../core/http/without-credentials.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import type { DetailDecoder } from "../../core/traffic/detail-decoder.ts";
import { RecordReader } from "../../core/traffic/record-reader.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";

export interface MqttEventFacts {
  readonly id: number;
  readonly verb: "CONNECT" | "DISCONNECT" | "SUBSCRIBE" | "UNSUBSCRIBE" | "CLEAR" | "RESTORE";
  /** Filters, or the transport. */
  readonly target: string;
  readonly tone: Tone;
  readonly outcome: string;
  readonly clientId: string;
  readonly peer: string;
  readonly text: string;
}

const rowTargetLength = 1_000;
const rowClientLength = 200;

/** A row for what a client does beside publishing. */
export function mqttEvent({ id, verb, target, tone, outcome, clientId, peer, text }: MqttEventFacts): TrafficEntry {
  const at = Date.now();
  return {
    id,
    heldBytes: 300 + target.length + text.length,
    open: false,
    queueSlot: notQueued,
    write(record: RecordWriter) {
      record.row({
        id,
        at,
        verb,
        tone,
        outcome,
        peer,
        kind: "mqtt-event",
        target: target.slice(0, rowTargetLength),
        tookMs: 0,
        bytesIn: 0,
        bytesOut: 0,
        client: clientId.slice(0, rowClientLength),
        preview: "",
      });
      record.text(clientId);
      record.text(text);
    },
  };
}

export const mqttEventDecoder: DetailDecoder<"mqtt-event"> = {
  detail({ row: { id, at }, detail }) {
    const reader = new RecordReader(detail);
    return { kind: "mqtt-event", id, at, clientId: reader.text(), text: reader.text() };
  },
  withoutCredentials: ({ row, detail }, found) => ({ row: { ...row, preview: textWithoutCredentials(row.preview, found) }, detail }),
};
