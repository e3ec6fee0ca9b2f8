import { expect, it } from "vitest";
import type { TrafficQuery } from "../../servers/supervisor/traffic/row-search.ts";
import { createTrafficMemory } from "../../servers/supervisor/traffic/traffic-memory.ts";
import { createTrafficStore } from "../../servers/supervisor/traffic/traffic-store.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { recordsOf } from "../support/records.ts";

const row = (id: number, isCut: boolean, tone: "ok" | "failed" = "ok") => ({
  id,
  at: id,
  kind: "http" as const,
  verb: "GET",
  target: `/${id}`,
  tone,
  outcome: "200",
  bytesIn: 0,
  bytesOut: 0,
  client: "curl",
  peer: "127.0.0.1:1",
  preview: "",
  isCut,
});

it("[BL-370] rows that were searched in part only are counted, of those that the rest of the filter lets through", async () => {
  const store = createTrafficStore({ service: "http", decoders: {}, memory: createTrafficMemory(1 << 20), turns: createTurns(), rows: 10 });
  const rows = [row(1, false), row(2, true), row(3, true), row(4, true, "failed")];
  store.add({
    records: recordsOf(rows.map((one) => ({ row: one, detail: Buffer.from(one.id === 3 ? "needle" : "hay") }))),
    droppedRows: 0,
  });
  const inPart = async (query: Partial<TrafficQuery>) => (await store.read({ text: "", tone: "all", limit: 10, ...query })).searchedInPart;
  expect(await inPart({ text: "needle", inDetails: true })).toBe(2);
  expect(await inPart({ text: "needle", inDetails: true, tone: "ok" })).toBe(1);
  for (const query of [{ text: "needle" }, { tone: "ok", inDetails: true }, {}] as const) expect(await inPart(query)).toBeUndefined();
});
