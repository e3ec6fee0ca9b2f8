import { expect, it } from "vitest";
import type { Tone } from "../../contract/traffic/row.ts";
import { createTrafficMemory } from "../../servers/supervisor/traffic/traffic-memory.ts";
import { createTrafficStore } from "../../servers/supervisor/traffic/traffic-store.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { recordsOf, type TestRecord } from "../support/records.ts";

it("[BL-376] details of open rows are within the budget: the oldest are released, and stay so when their rows end", async () => {
  const memory = createTrafficMemory(4 << 20);
  const decoders = {
    "mqtt-event": async () => ({
      detail: ({ row: { id, at }, detail }: { row: { id: number; at: number }; detail: Buffer }) =>
        ({ kind: "mqtt-event", id, at, clientId: "", text: String(Math.floor(detail.length / 1_000)) }) as const,
      withoutCredentials: <Exported>(exported: Exported) => exported,
    }),
  };
  const store = createTrafficStore({ service: "mqtt", decoders, memory, turns: createTurns(), rows: 100 });
  const fields = {
    kind: "mqtt-event",
    verb: "",
    target: "",
    outcome: "",
    bytesIn: 0,
    bytesOut: 0,
    client: "",
    peer: "",
    preview: "",
  } as const;
  const add = (id: number, tone: Tone = "pending") => {
    const record: TestRecord = { row: { id, at: id, tone, ...fields }, detail: Buffer.alloc(1_000) };
    store.add({ records: recordsOf([record]), droppedRows: 0 });
  };
  const detailBytes = async (id: number) => (await store.detail(id))?.detail;
  const last = 6_000;
  add(1, "ok");
  for (let id = 2; id <= last; id++) add(id);
  expect(await detailBytes(last)).toMatchObject({ text: "1" });
  expect(await detailBytes(2)).toBe(undefined);
  for (const id of [2, last]) add(id, "ok");
  expect(await detailBytes(2)).toBe(undefined);
  expect(await detailBytes(last)).toMatchObject({ text: "2" });
  const read = await store.read({ text: "", tone: "ok", limit: 10 });
  expect(read.rows.map(({ id }) => id)).toEqual([last, 2, 1]);
  expect(read.kept).toBe(last);
});
