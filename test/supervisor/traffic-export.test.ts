import { describe, expect, it } from "vitest";
import type { Detail, DetailPart } from "../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { harEntry } from "../../servers/supervisor/traffic/har.ts";
import { createTrafficExport } from "../../servers/supervisor/traffic/traffic-export.ts";
import { allOf, base64, exchange, options, row, storeOf } from "./exported-traffic.ts";

const message: Detail = { kind: "mqtt-event", id: 2, at: 1_500, clientId: "c", text: "connected" };

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
    ["content-length", "12", { bytes: 5, base64: base64("hello") }, "the first 5 of 12 bytes; it ended before the rest was read"],
    [
      "transfer-encoding",
      "chunked",
      { bytes: 5, base64: base64("hello") },
      "the first 5 of more than 5 bytes; it ended before the rest was read",
    ],
    ["content-length", "12", { bytes: 0, base64: "" }, "the first 0 of 12 bytes; it ended before the rest was read"],
  ] as const)("[BL-500] marks a body that came in part: %s %s", (name, value, body, comment) => {
    const { request, ...others } = exchange(1);
    const entry = harEntry(
      { ...others, request: { ...request, headers: [[name, value]], body: { ...body, isPart: true } } } as never,
      "http",
    );
    expect(entry).toMatchObject({ request: { bodySize: body.bytes, postData: { comment } } });
  });

  it("[BL-206] has of a WebSocket the handshake, without bodies", async () => {
    const { request, response } = exchange(1);
    const body = { bytes: 15, base64: "" };
    const detail = { ...exchange(1), kind: "websocket", request: { ...request, body }, response: { ...response, body } } as never;
    const entry = harEntry(detail, "http") as { request: object; response: object };
    expect(entry.request).not.toHaveProperty("postData");
    expect(entry).toMatchObject({ request: { bodySize: 0 }, response: { content: { size: 0 } } });
    expect(JSON.stringify(entry)).not.toContain("of 15 bytes");
  });

  it("[BL-206] has the messages of a WebSocket as Chrome's HAR does, an echo with the bytes of what it repeats, without credentials", async () => {
    const parts = { total: 4, bytes: 30, leftOut: 1, leftOutBytes: 5 };
    const opened: Detail = { ...exchange(1), kind: "websocket", parts };
    const text = "I: abc.def!";
    const said = { kind: "websocket-message", direction: "received", type: "text", body: { bytes: 11, base64: base64(text) } } as const;
    const binary = { ...said, type: "binary", direction: "sent", body: { bytes: 3, base64: base64(Uint8Array.of(255, 0)) } } as const;
    const of = (id: number) => ({ id, parent: 1, at: 0, index: id, outcome: "echoed" });
    const details = new Map<number, Detail>([
      [1, opened],
      [2, { ...said, ...of(2) }],
      [3, { ...binary, ...of(3) }],
    ]);
    const rows = [row(1, { kind: "websocket" }), ...[2, 3].map((id) => row(id, { kind: "websocket-message", parent: 1 }))];
    const store = () =>
      storeOf(rows, details, [
        { ...said, index: 1, at: 1_500, row: 2 },
        { ...said, index: 2, at: 1_600, row: 2, direction: "sent", echoOf: 1, body: { bytes: 11, base64: "" } },
        { ...binary, index: 3, at: 1_700, row: 3 },
      ]);
    const entryOf = async (credentials: boolean) => {
      const { text: har } = await allOf(createTrafficExport({ ...options, stores: [store()], format: "har", credentials }));
      const { entries } = JSON.parse(har).log;
      expect(entries).toHaveLength(1);
      return entries[0];
    };
    const cut = { type: "receive", time: 1.7, opcode: 2, data: "/wA=", comment: "the first 2 of 3 bytes" };
    expect(await entryOf(true)).toMatchObject({
      _resourceType: "websocket",
      _webSocketMessages: [{ type: "send", time: 1.5, opcode: 1, data: text }, { type: "receive", time: 1.6, opcode: 1, data: text }, cut],
      comment: "1 of 4 messages are not in this file",
    });
    expect((await entryOf(false))._webSocketMessages).toMatchObject([{ data: "I: •••!" }, { data: "I: •••!" }, cut]);
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

  it("[BL-207] shows neither target nor content of a row whose kind has no decoder", async () => {
    const store = { ...storeOf([row(1, { target: "/?token=abc", preview: "hunter2" })], new Map([[1, exchange(1)]])), decoders: {} };
    const { text } = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl" }));
    expect(JSON.parse(text)).toEqual({ ...row(1, { target: "", preview: "" }), detail: null });
  });

  it("[BL-205] has the messages of calls and sessions and the events of streams, without credentials, and says how many are not in it", async () => {
    const said = (index: number, text: string, direction: "received" | "sent" = "received") => {
      const bytes = Buffer.byteLength(text);
      return { index, at: index, direction, bytes, base64: base64(text) };
    };
    const grpc = (index: number, text: string) =>
      ({ kind: "grpc-message", wireBytes: 5, compressed: false, codec: "json", ...said(index, text) }) as const;
    const parts = [grpc(1, '{"user":"joe","password":"hunter2"}'), grpc(2, "hunter2 is not \0")];
    const linesOf = async (kind: TrafficRow["kind"], found: readonly DetailPart[], credentials: boolean) => {
      const store = storeOf([row(1, { kind, parts: 3 })], new Map(), found);
      const { text } = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl", credentials }));
      const { messages, messagesLeftOut } = JSON.parse(text);
      return [
        messages.map((one: DetailPart) => ("base64" in one ? Buffer.from(one.base64, "base64").toString() : "text" in one && one.text)),
        messagesLeftOut,
      ];
    };
    expect(await linesOf("grpc-call", parts, true)).toEqual([['{"user":"joe","password":"hunter2"}', "hunter2 is not \0"], undefined]);
    expect(await linesOf("grpc-call", parts, false)).toEqual([['{"user":"joe","password":"•••"}', "••• is not \0"], undefined]);
    const request = "OPTIONS rtsp://a/b?token=abc RTSP/1.0\r\nCSeq: 1\r\nAuthorization: Basic dTpwYXNzd29yZA==\r\n\r\n";
    const rtsp = { kind: "rtsp-message", ...said(0, request) } as const;
    expect(await linesOf("rtsp", [rtsp], true)).toEqual([[request], undefined]);
    const [[shown]] = (await linesOf("rtsp", [rtsp], false)) as [[string]];
    expect(shown).toMatch(/^OPTIONS rtsp:\/\/a\/b\?token=… RTSP\/1\.0\r\nCSeq: 1\r\nAuthorization: Basic •+\r\n\r\n$/);
    const event = { kind: "sse-event", index: 0, at: 0, bytes: 9, text: 'event: a\ndata: {"token":"abcdef"}\n\n' } as const;
    expect(await linesOf("http", [event], false)).toEqual([['event: a\ndata: {"token":"•••"}\n\n'], undefined]);
    const long = Array.from({ length: 90 }, (_, index) => grpc(index, "x".repeat(60_000)));
    const [kept, leftOut] = (await linesOf("grpc-call", long, true)) as [string[], number];
    expect(kept.length + leftOut).toBe(90);
    expect(kept.length).toBeLessThan(60);
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

it("[BL-476] shows the password of a path as test data, unless the exchange has it as a credential; nested secrets and those of Referer and Origin are hidden", async () => {
  const target = "/basic-auth/me/pw-of-path";
  const body = JSON.stringify({ a: { password: "nested-1", list: [{ apiToken: "nested-2" }] } });
  const textOf = async (fields: [string, string][]) => {
    const before = exchange(1);
    const headers: [string, string][] = [["Host", "localhost:8080"], ["Content-Type", "application/json"], ...fields];
    const request = { ...before.request, target, headers, body: { bytes: body.length, base64: base64(body) } };
    const store = storeOf([row(1, { target })], new Map([[1, { ...before, request }]]));
    return (await allOf(createTrafficExport({ ...options, stores: [store], format: "har" }))).text;
  };
  const without = await textOf([
    ["Referer", "http://u:of-referer@x/?token=of-referer-2"],
    ["Origin", "http://u:of-origin@x"],
  ]);
  expect(without).toContain(target);
  expect(without).not.toMatch(/nested-[12]|of-referer|of-origin/);
  const sent = await textOf([["Authorization", `Basic ${base64("me:pw-of-path")}`]]);
  expect(sent).not.toContain("pw-of-path");
});
