import type { DetailDecoder } from "../../core/traffic/detail-decoder.ts";
import { RecordReader } from "../../core/traffic/record-reader.ts";
import { describeMessage } from "./describe-message.ts";
import { readMessage } from "./message-bytes.ts";

export const mqttMessageDecoder: DetailDecoder = {
  detail({ row, detail }) {
    const { message, routed } = readMessage(row, detail);
    return describeMessage(message, routed);
  },
};

export const mqttEventDecoder: DetailDecoder = {
  detail({ row: { id, at }, detail }) {
    const reader = new RecordReader(detail);
    return { kind: "mqtt-event", id, at, clientId: reader.text(), text: reader.text() };
  },
};
