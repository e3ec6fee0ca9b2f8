import { credentialFields, notRecorded } from "../../../contract/traffic/mqtt.ts";
import type { Tone } from "../../../contract/traffic/row.ts";
import { hidden } from "../../../contract/traffic/secret-headers.ts";
import { namesSecret } from "../../../contract/traffic/secret-names.ts";
import type { FoundCredentials } from "../../core/credentials/found-credentials.ts";
import { targetWithoutCredentials, textWithoutCredentials } from "../../core/http/record/without-credentials.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import type { DetailDecoder } from "../../core/traffic/detail-decoder.ts";
import { RecordReader } from "../../core/traffic/record-reader.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import {
  type PacketFields,
  payloadWithoutCredentials,
  userPropertyName,
  willContentTypeName,
  willPayloadName,
  withoutCutMark,
} from "./packet-fields.ts";

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
  readonly fields?: PacketFields;
}

const rowTargetLength = 1_000;
const rowClientLength = 200;

/** A row for what a client does beside publishing. */
export function mqttEvent({ id, verb, target, tone, outcome, clientId, peer, text, fields = [] }: MqttEventFacts): TrafficEntry {
  const at = Date.now();
  return {
    id,
    heldBytes:
      300 +
      clientId.length +
      outcome.length +
      target.length +
      text.length +
      fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0),
    open: false,
    queueSlot: notQueued,
    isAnnounced: false,
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
      record.pairs(fields);
    },
  };
}

export const mqttEventDecoder: DetailDecoder<"mqtt-event"> = {
  detail({ row: { id, at }, detail }) {
    const reader = new RecordReader(detail);
    const [clientId, text] = [reader.text(), reader.text()];
    const fields = reader.atEnd ? [] : reader.pairs();
    return { kind: "mqtt-event", id, at, clientId, text, ...(fields.length > 0 && { fields }) };
  },
  withoutCredentials: ({ row, detail }, found) => ({
    row: { ...row, preview: textWithoutCredentials(row.preview, found) },
    detail: detail?.fields ? { ...detail, fields: withoutSecrets(detail.fields, found) } : detail,
  }),
};

function withoutSecrets(fields: PacketFields, found: FoundCredentials): PacketFields {
  const label = fields.find(([name]) => name === willContentTypeName)?.[1] ?? "";
  return fields.map(([name, value]) => {
    const { text, mark } = withoutCutMark(value);
    const isCut = mark !== "";
    if (name === willPayloadName) return [name, payloadWithoutCredentials(text, found, { label, isEncoded: false }, isCut) + mark];
    const isProperty = name.startsWith(userPropertyName);
    const isNamed = isProperty && namesSecret(name.slice(userPropertyName.length));
    if (isNamed || (credentialFields.includes(name) && !value.endsWith(notRecorded))) {
      found.add(text);
      return [name, hidden];
    }
    return [name, (isProperty ? targetWithoutCredentials(text, found) : found.hideIn(text, isCut)) + mark];
  });
}
