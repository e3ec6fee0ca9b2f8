import type { ServiceId } from "../../contract/service.ts";
import type { Tone } from "../../contract/traffic/row.ts";
import type { DetailDecoders } from "../../servers/core/traffic/detail-decoder.ts";
import type { TrafficQuery } from "../../servers/supervisor/traffic/row-search.ts";
import { createTrafficMemory } from "../../servers/supervisor/traffic/traffic-memory.ts";
import { createTrafficStore } from "../../servers/supervisor/traffic/traffic-store.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { type Row, recordsOf, type TestRecord } from "../support/records.ts";

export const everything: TrafficQuery = { text: "", tone: "all", limit: 1_000 };
export const row = (id: number, tone: Tone = "ok", extra: Partial<Row> = {}): Row => ({
  id,
  at: id,
  kind: "mqtt-event",
  verb: "GET",
  target: `/${id}`,
  tone,
  outcome: "200",
  bytesIn: 0,
  bytesOut: 0,
  client: "curl",
  peer: "127.0.0.1:1",
  preview: "",
  ...extra,
});
export const record = (one: Row, detail = one.tone as string): TestRecord => ({ row: one, detail: Buffer.from(`${detail} `) });
export const batch = (rows: readonly Row[], droppedRows = 0) => ({ records: recordsOf(rows.map((one) => record(one))), droppedRows });

/** Shows the pieces of a detail as they were written. */
export const decoders: DetailDecoders = {
  "mqtt-event": async () => ({
    detail: ({ row: { id, at }, detail, parts: { total, leftOut } }) => ({
      kind: "mqtt-event",
      id,
      at,
      clientId: `${total} parts, ${leftOut} left out`,
      text: detail
        .toString("latin1")
        .replaceAll(/[^ -~]/g, "")
        .trim(),
    }),
    part: ({ index, at, bytes, content }) => ({ kind: "sse-event", index, at, bytes, text: content.toString() }),
    withoutCredentials: (exported) => exported,
  }),
};
export const createMemory = (mebibytes = 16) => createTrafficMemory(mebibytes << 20);
export const create = (rows = 100, memory = createMemory(), service: ServiceId = "http") =>
  createTrafficStore({ service, decoders, memory, turns: createTurns(), rows });
export const textOf = async (store: ReturnType<typeof create>, id: number) =>
  ((await store.detail(id))?.detail as { text: string } | undefined)?.text;
