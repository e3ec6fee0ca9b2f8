import type { Detail, DetailPart } from "../../contract/traffic/detail.ts";
import type { HeaderList, HttpExchange } from "../../contract/traffic/http.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import type { createTrafficExport } from "../../servers/supervisor/traffic/traffic-export.ts";
import { allDecoders } from "../support/records.ts";

export const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString("base64");
export const row = (id: number, part: Partial<TrafficRow> = {}): TrafficRow => ({
  id,
  service: "http",
  at: 1_000 * id,
  kind: "http",
  verb: "POST",
  target: `/items?n=${id}`,
  tone: "ok",
  outcome: "200",
  tookMs: 3,
  bytesIn: 5,
  bytesOut: 2,
  client: "curl",
  peer: "127.0.0.1:5000",
  preview: "",
  ...part,
});
const requestHeaders: HeaderList = [
  ["Host", "localhost:8080"],
  ["Authorization", "Bearer abc.def"],
  ["Cookie", "session=1234; theme=dark"],
  ["Content-Type", "text/plain"],
];
export const exchange = (id: number, part: Partial<HttpExchange> = {}): HttpExchange => ({
  kind: "http",
  id,
  at: 1_000 * id,
  request: {
    method: "POST",
    target: `/items?n=${id}`,
    httpVersion: "1.1",
    headers: requestHeaders,
    trailers: [],
    body: { bytes: 5, base64: base64("hello") },
  },
  response: {
    status: 200,
    reason: "OK",
    headers: [["Set-Cookie", "session=5678; Path=/"]],
    body: { bytes: 4, base64: base64(Uint8Array.of(0xff, 0xfe)) },
  },
  timing: { receiveMs: 1, answerMs: 2, sendMs: 3, totalMs: 6 },
  connection: { id: 7, remote: "127.0.0.1:5000", local: "127.0.0.1:8080", requests: 1, openedAt: 0 },
  ...part,
});
/** A store of rows with details that counts how many details were read; `parts` are those of all rows. */
export function storeOf(rows: TrafficRow[], details: ReadonlyMap<number, Detail>, parts: readonly DetailPart[] = []) {
  const state = { details: 0 };
  return {
    state,
    decoders: allDecoders,
    newestId: () => rows.at(-1)?.id ?? 0,
    read: async () => ({ rows: [], matching: rows.length, kept: rows.length, total: rows.length, dropped: 0 }),
    readAfter: async ({ after, upTo, limit }: { after: number; upTo: number; limit: number }) =>
      rows.filter(({ id }) => id > after && id <= upTo).slice(0, limit),
    parts: async (_row: number, from = 0, limit = 0) => {
      const page = parts.filter(({ index }) => index >= from).slice(0, limit);
      return { parts: page, next: (page.at(-1)?.index ?? from) + 1, total: parts.length, leftOut: 0 };
    },
    async detail(id: number) {
      state.details++;
      const detail = details.get(id);
      return detail ? { row: rows.find((row) => row.id === id) as TrafficRow, detail } : null;
    },
  };
}
export const options = { text: "", tone: "all", credentials: false, version: "1.2.3" } as const;

export async function allOf(read: ReturnType<typeof createTrafficExport>) {
  let text = "";
  let items = 0;
  let parts = 0;
  let total: number | undefined;
  for (let after: string | undefined, last = false; !last; ) {
    const part = await read(after);
    text += part.text;
    items += part.items;
    total ??= part.total;
    parts++;
    after = part.next;
    last = after === undefined;
  }
  return { text, items, parts, total };
}
