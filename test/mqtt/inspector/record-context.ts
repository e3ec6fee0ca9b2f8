import type { RecordContext } from "../../../servers/mqtt/inspector/message-record.ts";

/** Of a broker by itself, without persistence; nobody is told of its records. */
export const recordContext: RecordContext = {
  payloadLimit: 1_000,
  inCluster: false,
  isStored: false,
  hasStoredSessions: false,
  onAcknowledged() {},
  onReleased() {},
  onChanged() {},
};
