import { expect, it } from "vitest";
import { httpDecoder } from "../../servers/core/http/messages/decode-http.ts";
import { createTrafficMemory } from "../../servers/supervisor/traffic/traffic-memory.ts";
import { createTrafficStore } from "../../servers/supervisor/traffic/traffic-store.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { type Row, recordsOf } from "../support/records.ts";

it("[BL-322] one answer has a bounded number of bytes of parts, and the next one goes on after it", async () => {
  const store = createTrafficStore({
    service: "http",
    decoders: { http: async () => httpDecoder },
    memory: createTrafficMemory(64 << 20),
    turns: createTurns(),
    rows: 100,
  });
  const sizes = [...Array<number>(300).fill(10_000), 900_000, 10, 200_000, 1_500_000, 20];
  const list = sizes.map((size, index) => ({ index, content: Buffer.alloc(size, 97) }));
  const row: Row = {
    id: 1,
    at: 1,
    kind: "http",
    verb: "GET",
    target: "/api/stream",
    tone: "pending",
    outcome: "200",
    bytesIn: 0,
    bytesOut: 0,
    client: "curl",
    peer: "127.0.0.1:1",
    preview: "",
    parts: list.length,
  };
  store.add({ records: recordsOf([{ row, parts: list.slice(0, 301) }]), droppedRows: 0 });
  store.add({ records: recordsOf([{ row, parts: list.slice(301) }]), droppedRows: 0 });
  const kept: number[] = [];
  const answers: number[] = [];
  for (let from = 0; from < list.length; ) {
    const page = await store.parts(1, from, 1_000);
    const parts = (page?.parts ?? []) as readonly { readonly index: number; readonly bytes: number }[];
    kept.push(...parts.map(({ index }) => index));
    answers.push(parts.length);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    if (parts.length > 1) expect(bytes).toBeLessThanOrEqual(1 << 20);
    expect(page?.next).toBe((kept.at(-1) ?? 0) + 1);
    from = page?.next ?? list.length;
  }
  // All that the row keeps, once.
  expect(kept).toEqual(Array.from(kept, (_, at) => list.length - kept.length + at));
  expect(answers.slice(-2)).toEqual([1, 1]);
  const newestOf = async (limit: number) =>
    (await store.parts(1, undefined, limit))?.parts.map((part) => (part as { index: number }).index);
  expect([await newestOf(1), await newestOf(2), await newestOf(1_000)]).toEqual([[304], [304], [304]]);
});
