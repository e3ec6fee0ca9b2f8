import { describe, expect, it } from "vitest";
import type { Detail } from "../../contract/traffic/detail.ts";
import type { HeaderList, HttpExchange } from "../../contract/traffic/http.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { createTrafficExport } from "../../servers/supervisor/traffic/traffic-export.ts";
import { allDecoders } from "../support/records.ts";

const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString("base64");
const row = (id: number, part: Partial<TrafficRow> = {}): TrafficRow => ({
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
const exchange = (id: number, part: Partial<HttpExchange> = {}): HttpExchange => ({
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
const message: Detail = { kind: "mqtt-event", id: 2, at: 1_500, clientId: "c", text: "connected" };

/** A store of rows with details that counts how many details were read. */
function storeOf(rows: TrafficRow[], details: ReadonlyMap<number, Detail>) {
  const state = { details: 0 };
  return {
    state,
    decoders: allDecoders,
    newestId: () => rows.at(-1)?.id ?? 0,
    read: async () => ({ rows: [], matching: rows.length, kept: rows.length, total: rows.length, dropped: 0 }),
    readAfter: async ({ after, upTo, limit }: { after: number; upTo: number; limit: number }) =>
      rows.filter(({ id }) => id > after && id <= upTo).slice(0, limit),
    async detail(id: number) {
      state.details++;
      const detail = details.get(id);
      return detail ? { row: rows.find((row) => row.id === id) as TrafficRow, detail } : null;
    },
  };
}
const options = { text: "", tone: "all", credentials: false, version: "1.2.3" } as const;

async function allOf(read: ReturnType<typeof createTrafficExport>) {
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

describe("an export of traffic", () => {
  const http = () => storeOf([row(1), row(3)], new Map<number, Detail>([1, 3].map((id) => [id, exchange(id)])));
  const mqtt = () => storeOf([row(2, { service: "mqtt", kind: "mqtt-event", at: 1_500 })], new Map([[2, message]]));

  it("[BL-205] has one JSON object per line, of several services by time", async () => {
    const { text, items, total } = await allOf(createTrafficExport({ ...options, stores: [http(), mqtt()], format: "jsonl" }));
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ service, id }) => `${service} ${id}`)).toEqual(["http 1", "mqtt 2", "http 3"]);
    expect([items, total]).toEqual([3, 3]);
    expect(lines[1]).toEqual({ ...row(2, { service: "mqtt", kind: "mqtt-event", at: 1_500 }), detail: message });
  });

  it("[BL-206] has every HTTP exchange as HAR 1.2, and nothing else", async () => {
    const { text, items } = await allOf(createTrafficExport({ ...options, stores: [mqtt(), http()], format: "har" }));
    const { log } = JSON.parse(text);
    expect([log.version, log.creator, log.entries.length, items]).toEqual(["1.2", { name: "Backlot", version: "1.2.3" }, 2, 2]);
    expect(log.entries[0]).toMatchObject({
      startedDateTime: "1970-01-01T00:00:01.000Z",
      time: 6,
      request: {
        method: "POST",
        url: "http://localhost:8080/items?n=1",
        httpVersion: "HTTP/1.1",
        queryString: [{ name: "n", value: "1" }],
        postData: { mimeType: "text/plain", text: "hello" },
        bodySize: 5,
      },
      response: { status: 200, statusText: "OK", content: { size: 4, encoding: "base64", comment: "the first 2 of 4 bytes" } },
      timings: { send: 1, wait: 2, receive: 3 },
    });
  });

  it.each([
    ["/items?n=1", undefined, "http://localhost:8080/items?n=1"],
    ["/items?n=1", "TLSv1.3", "https://localhost:8080/items?n=1"],
    ["http://other.example/items", undefined, "http://other.example/items"],
    ["*", "TLSv1.2", "https://localhost:8080"],
  ])("[BL-209] has the URL of %s over %s with the scheme of its connection: %s", async (target, tls, url) => {
    const { request, connection } = exchange(1);
    const detail = exchange(1, { request: { ...request, target }, connection: { ...connection, ...(tls !== undefined && { tls }) } });
    const { text } = await allOf(createTrafficExport({ ...options, stores: [storeOf([row(1)], new Map([[1, detail]]))], format: "har" }));
    expect(JSON.parse(text).log.entries[0].request.url).toBe(url);
  });

  it("[BL-206] is valid HAR when it is empty, and with an unanswered exchange", async () => {
    const empty = await allOf(createTrafficExport({ ...options, stores: [mqtt()], format: "har" }));
    expect(JSON.parse(empty.text).log.entries).toEqual([]);
    const { response: _, ...unanswered } = exchange(1, { aborted: "client left" });
    const store = storeOf([row(1)], new Map([[1, unanswered]]));
    const { text } = await allOf(createTrafficExport({ ...options, stores: [store], format: "har" }));
    expect(JSON.parse(text).log.entries[0]).toMatchObject({ response: { status: 0 }, comment: "ended early: client left" });
  });

  it("[BL-207] masks header fields with credentials, unless they are included by choice", async () => {
    for (const format of ["har", "jsonl"] as const) {
      const { text } = await allOf(createTrafficExport({ ...options, stores: [http()], format }));
      for (const secret of ["abc.def", "1234", "5678"]) expect(text).not.toContain(secret);
      expect(text).toContain("Bearer ••••••");
      const whole = await allOf(createTrafficExport({ ...options, stores: [http()], format, credentials: true }));
      for (const secret of ["Bearer abc.def", "session=1234; theme=dark", "session=5678; Path=/"]) expect(whole.text).toContain(secret);
    }
  });

  describe("without credentials", () => {
    const part = (text: string, type: string, more: HeaderList = []) => ({
      headers: [["Content-Type", type], ...more] as HeaderList,
      body: { bytes: text.length, base64: base64(text) },
    });
    /** The lines of an export of one exchange with that request, whose row has a preview of the body's start. */
    async function exported(target: string, text: string, type: string, more: HeaderList = []) {
      const { request } = exchange(1);
      const detail = exchange(1, { request: { ...request, target, ...part(text, type, more) } });
      const store = () => storeOf([row(1, { target, preview: text.slice(0, 40), bytesIn: text.length })], new Map([[1, detail]]));
      const read = (format: "har" | "jsonl", credentials: boolean) =>
        allOf(createTrafficExport({ ...options, stores: [store()], format, credentials }));
      const decoded = ({ text: line }: { readonly text: string }) => {
        const { detail: written, preview } = JSON.parse(line);
        return [written.request.target, Buffer.from(written.request.body.base64, "base64").toString(), preview];
      };
      const [har, lines, whole] = await Promise.all([read("har", false), read("jsonl", false), read("jsonl", true)]);
      expect(decoded(whole)).toEqual([target, text, text.slice(0, 40)]);
      return { har: JSON.parse(har.text).log.entries[0], lines: JSON.parse(lines.text), decoded: decoded(lines) };
    }

    it("[BL-210] masks query fields, also of URLs in header fields", async () => {
      const location: HeaderList = [["Referer", "http://a/cb?code=123&page=2"]];
      const { har, lines } = await exported("/cb?page=1&access_token=abc", "", "", location);
      expect([har.request.url, har.request.queryString]).toEqual([
        "http://127.0.0.1:8080/cb?page=1&access_token=…",
        [
          { name: "page", value: "1" },
          { name: "access_token", value: "…" },
        ],
      ]);
      expect(lines).toMatchObject({
        target: "/cb?page=1&access_token=…",
        detail: { request: { target: "/cb?page=1&access_token=…" } },
      });
      expect(lines.detail.request.headers).toContainEqual(["Referer", "http://a/cb?code=…&page=2"]);
    });

    it.each([
      ['{"user":"joe","password":"hunter2"}\n', "application/json", '{"user":"joe","password":"•••"}'],
      ['{"user":"joe","password":"hun', "text/plain", '{"user":"joe","password":•••'],
      ['{"user":"joe","p\\u0061ssword":"hunter2"}', "", '{"user":"joe","p\\u0061ssword":"•••"}'],
      ["user=joe&password=hunter2", "application/x-www-form-urlencoded", "user=joe&password=•••"],
      ['--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n--b--', "multipart/form-data; boundary=b", "•••"],
      ['--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n--b--', "", "•••"],
    ])("[BL-211] masks the secret fields of %j (%s)", async (text, type, shown) => {
      const { decoded, har, lines } = await exported("/", text, type);
      expect(decoded.slice(0, 2)).toEqual(["/", shown]);
      expect(decoded[2]).not.toContain("hun");
      expect(har.request.postData).toMatchObject({ text: shown, comment: "secret values are hidden" });
      expect(lines.detail.request.body.hiddenIn).toBe(text.length);
    });

    it("[BL-211] hides a compressed JSON or form body completely", async () => {
      const { decoded } = await exported("/", "compressed", "application/json", [["Content-Encoding", "gzip"]]);
      expect(decoded).toEqual(["/", "•••", "•••"]);
    });

    it.each([
      ["hello, this is my password", "text/plain"],
      ['{"a":1,"b":["x"]}\n', "application/json"],
      ['--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--', "multipart/form-data; boundary=b"],
      ["a=1&b=%20", "application/x-www-form-urlencoded"],
    ])("[BL-211] leaves %j (%s) unchanged", async (text, type) => {
      const { decoded, lines } = await exported("/", text, type);
      expect(decoded.slice(0, 2)).toEqual(["/", text]);
      expect(lines.detail.request.body).not.toHaveProperty("hiddenIn");
    });

    it("[BL-211] masks fields in messages and calls of other protocols too", async () => {
      const text = '{"n":1,"token":"abc.def"}';
      const details: readonly Detail[] = [
        {
          kind: "mqtt-message",
          id: 1,
          at: 0,
          topic: "a?token=b",
          qos: 0,
          retain: false,
          publisher: "c",
          bytes: text.length,
          start: base64(text),
          matched: 0,
          delivered: 0,
          acknowledged: 0,
          acknowledgeable: 0,
          dropped: 0,
          dup: false,
          sentAsRetained: 0,
          deliveries: [],
          payload: base64(text),
          packet: base64(text),
          properties: { userProperties: [["api-key", "abc.def"]] },
        },
        {
          kind: "websocket-message",
          id: 1,
          parent: 2,
          at: 0,
          index: 0,
          outcome: "echoed",
          direction: "received",
          type: "text",
          body: { bytes: text.length, base64: base64(text) },
        },
        {
          kind: "grpc-call",
          id: 1,
          at: 0,
          protocol: "grpc",
          path: "/a/B",
          authority: "a",
          requestEncoding: "",
          responseEncoding: "",
          httpVersion: "2",
          httpMethod: "POST",
          codec: "proto",
          received: 0,
          sent: 0,
          timing: {},
          connection: { id: 1, remote: "", local: "", openedAt: 0, calls: 1 },
          requestHeaders: [["authorization", "Bearer abc.def"]],
          parts: { total: 0, bytes: 0, leftOut: 0, leftOutBytes: 0 },
        },
      ];
      for (const detail of details) {
        const store = storeOf([row(1, { kind: detail.kind, target: "a?token=b", preview: text })], new Map([[1, detail]]));
        const lines = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl" }));
        for (const secret of ["abc.def", base64(text)]) expect(lines.text, detail.kind).not.toContain(secret);
        expect(JSON.parse(lines.text).target).toBe(detail.kind === "mqtt-message" ? "a?token=b" : "a?token=…");
      }
    });
  });

  it("[BL-207] shows neither target nor content of a row whose kind has no decoder", async () => {
    const store = { ...storeOf([row(1, { target: "/?token=abc", preview: "hunter2" })], new Map([[1, exchange(1)]])), decoders: {} };
    const { text } = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl" }));
    expect(JSON.parse(text)).toEqual({ ...row(1, { target: "", preview: "" }), detail: null });
  });

  it("[BL-205] is read in bounded parts, has the rows present at its beginning, and includes rows whose detail is gone", async () => {
    const rows = Array.from({ length: 1_000 }, (_, index) => row(index + 1, { preview: "x".repeat(250) }));
    const store = storeOf(rows, new Map());
    const read = createTrafficExport({ ...options, stores: [store], format: "jsonl" });
    const first = await read(undefined);
    expect(first.text.length).toBeLessThan(140_000);
    expect([first.next, store.state.details < 400]).toEqual(["more", true]);
    rows.push(row(1_001));
    const rest = await allOf(read);
    expect([first.items + rest.items, rest.text.trimEnd().split("\n").at(-1)]).toEqual([
      1_000,
      JSON.stringify({ ...rows[999], detail: null }),
    ]);
  });
});
