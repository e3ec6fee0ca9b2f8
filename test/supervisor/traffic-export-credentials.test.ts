import { describe, expect, it } from "vitest";
import type { Detail } from "../../contract/traffic/detail.ts";
import type { HeaderList } from "../../contract/traffic/http.ts";
import { FoundCredentials } from "../../servers/core/credentials/found-credentials.ts";
import { createTrafficExport } from "../../servers/supervisor/traffic/traffic-export.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { allOf, base64, exchange, options, row, storeOf } from "./exported-traffic.ts";

describe("an export of traffic", () => {
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
      const comment = shown === "•••" ? "left out: single values in it cannot be hidden" : "secret values are hidden";
      expect(har.request.postData).toMatchObject({ text: shown, comment });
      expect(lines.detail.request.body.hiddenIn).toBe(text.length);
    });

    it("[BL-211] shows the start of a value whose end was not kept, where its name is no secret, and says that it was cut", async () => {
      const cut = (text: string) => {
        const body = { bytes: text.length + 1_000, base64: base64(text) };
        const detail = exchange(1, { request: { ...exchange(1).request, headers: [["Content-Type", "application/json"]], body } });
        const stores = [storeOf([row(1)], new Map([[1, detail]]))];
        return allOf(createTrafficExport({ ...options, stores, format: "har" })).then(
          ({ text }) => JSON.parse(text).log.entries[0].request.postData,
        );
      };
      const first = "the first 46 of 1046 bytes";
      expect(await cut('{"token":"secret-one","data":"data:;base64,AAA')).toMatchObject({
        text: '{"token":"•••","data":"data:;base64,AAA',
        comment: `${first}; secret values are hidden`,
      });
      expect(await cut('{"names":"two","data":["data:;base64,AAAA","AA')).toMatchObject({
        text: expect.stringMatching(/AA$/),
        comment: first,
      });
      expect(await cut('{"names":"two","data":1,"token":["secret-one"')).toMatchObject({ text: expect.stringMatching(/"token":"•••"?$/) });
      expect(await cut('{"names":"two","data":1,"token":{"a":"secret-')).toMatchObject({
        text: expect.stringMatching(/"token":"•••"•••$/),
      });
      expect(await cut('{"names":"two","data":1,"password":"secret-on')).toMatchObject({ text: expect.stringMatching(/"password":•••$/) });
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

  describe("[BL-360] hides a credential wherever its exchange has it", () => {
    interface Said {
      readonly target?: string;
      readonly headers?: HeaderList;
      readonly body?: string;
      readonly answer?: string;
      readonly answerHeaders?: HeaderList;
    }
    /** Both formats, decoded. */
    async function texts({ target = "/", headers = [], body = "", answer = "", answerHeaders = [] }: Said): Promise<string> {
      const bodyOf = (text: string) => ({ bytes: Buffer.byteLength(text), base64: base64(text) });
      const detail = exchange(1, {
        request: { method: "POST", target, httpVersion: "1.1", headers, trailers: [], body: bodyOf(body) },
        response: { status: 200, reason: "OK", headers: answerHeaders, body: bodyOf(answer) },
      });
      const store = () => storeOf([row(1, { target, preview: answer.slice(0, 250), bytesIn: body.length })], new Map([[1, detail]]));
      const read = async (format: "har" | "jsonl") => (await allOf(createTrafficExport({ ...options, stores: [store()], format }))).text;
      const decoded = (text: string) => text.replace(/"base64":"([^"]*)"/g, (_, bytes: string) => Buffer.from(bytes, "base64").toString());
      return (await read("har")) + decoded(await read("jsonl"));
    }
    const json: HeaderList = [["Content-Type", "application/json"]];

    it.each<[string, string[], Said]>([
      ["a cookie", ["cookiesecret-7"], { headers: [["Cookie", "a=1; sid=cookiesecret-7"]], answer: '{"Cookie": "sid=cookiesecret-7"}' }],
      ["a bearer's token", ["tok-1234"], { headers: [["Authorization", "Bearer tok-1234"]], answer: "you are tok-1234" }],
      [
        "Basic's parts",
        ["hunter22", "am9lOmh1bnRlcjIy"],
        { headers: [["Authorization", "Basic am9lOmh1bnRlcjIy"]], answer: '["hunter22","am9lOmh1bnRlcjIy"]' },
      ],
      [
        "a query field",
        ["qs%20ec", "qs ec"],
        { target: "/get?access_token=qs%20ec", answer: '{"url":"http://a/get?access_token=qs%20ec","is":"qs ec"}' },
      ],
      [
        "a JSON field",
        ["pw\\", 'pw\\\\\\"sec'],
        { headers: json, body: '{"password":"pw\\"sec"}', answer: JSON.stringify({ data: '{"password":"pw\\"sec"}', is: 'pw"sec' }) },
      ],
      ["all within a hidden object", ["inner-1"], { headers: json, body: '{"credentials":{"list":["inner-1"]}}', answer: "inner-1" }],
      [
        "a form field",
        ["a b&c", "a+b%26c", "a%20b%26c"],
        { body: "user=joe&password=a+b%26c", answer: '{"x":"a b&c","y":"a+b%26c","z":"a%20b%26c"}' },
      ],
      ["what an answer gives", ["new-tok-1"], { answer: '{"token":"new-tok-1"}', answerHeaders: [["X-Echo", "new-tok-1"]] }],
      [
        "other letters",
        ["pässwört", "p\\u00e4ssw", "p%C3%A4ssw"],
        { body: "password=p%C3%A4ssw%C3%B6rt", answer: '{"a":"pässwört","b":"p\\u00e4ssw\\u00f6rt"}' },
      ],
      [
        "a text in a packed answer",
        ["packed"],
        {
          headers: [["Cookie", "sid=1234"]],
          answer: "packed",
          answerHeaders: [
            ["Content-Encoding", "gzip"],
            ["Content-Type", "text/html"],
          ],
        },
      ],
    ])("%s", async (_what, secrets, said) => {
      const shown = await texts(said);
      for (const secret of secrets) expect(shown).not.toContain(secret);
    });

    it("at the end of what is kept of a body too", async () => {
      const text = '{"Cookie":"sid=cookies';
      const detail = exchange(1, {
        request: {
          method: "GET",
          target: "/",
          httpVersion: "1.1",
          headers: [["Cookie", "sid=cookiesecret-7"]],
          trailers: [],
          body: { bytes: 0, base64: "" },
        },
        response: { status: 200, reason: "OK", headers: [], body: { bytes: 99, base64: base64(text) } },
      });
      const store = storeOf([row(1, { preview: text })], new Map([[1, detail]]));
      const { text: lines } = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl" }));
      expect(Buffer.from(JSON.parse(lines).detail.response.body.base64, "base64").toString()).toBe('{"Cookie":"sid=•••');
    });

    it("but values of one to three characters in their place only, and the other bytes of a binary body stay as they are", async () => {
      expect(await texts({ headers: [["Cookie", "a=xyz"]], answer: "xyz" })).toContain("xyz");
      const bytes = Buffer.concat([Buffer.of(0xff, 0, 0x80), Buffer.from("tok-1234"), Buffer.of(0xfe)]);
      const detail = exchange(1, {
        request: {
          method: "GET",
          target: "/",
          httpVersion: "1.1",
          headers: [["X-Api-Key", "tok-1234"]],
          trailers: [],
          body: { bytes: 0, base64: "" },
        },
        response: { status: 200, reason: "OK", headers: [], body: { bytes: bytes.length, base64: base64(bytes) } },
      });
      const store = storeOf([row(1)], new Map([[1, detail]]));
      const { text } = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl" }));
      expect(Buffer.from(JSON.parse(text).detail.response.body.base64, "base64")).toEqual(
        Buffer.concat([Buffer.of(0xff, 0, 0x80), Buffer.from("•••"), Buffer.of(0xfe)]),
      );
    });

    it("in the messages of a WebSocket that was opened with it, whose connection is read once", async () => {
      const opened: Detail = { ...exchange(1), kind: "websocket", parts: { total: 2, bytes: 2, leftOut: 0, leftOutBytes: 0 } };
      const said = (id: number): Detail => ({
        kind: "websocket-message",
        id,
        parent: 1,
        at: 0,
        index: id,
        outcome: "echoed",
        direction: "received",
        type: "text",
        body: { bytes: 11, base64: base64("I: abc.def!") },
      });
      const messages = [2, 3].map((id) => row(id, { kind: "websocket-message", parent: 1, preview: "I: abc.def!" }));
      const rows = [row(1, { kind: "websocket" }), ...messages];
      const store = storeOf(rows, new Map([[1, opened], ...[2, 3].map((id) => [id, said(id)] as const)]));
      const { text } = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl" }));
      expect(text).not.toContain("abc.def");
      expect(text).not.toContain(base64("I: abc.def!"));
      expect([text.match(/I: •••!/g)?.length, store.state.details]).toEqual([2, 4]);
    });

    it("[GRPC-334] of a call in its path, its authority, its fields and its status", async () => {
      const detail: Detail = {
        kind: "grpc-call",
        id: 1,
        at: 0,
        protocol: "connect",
        path: "/a/B?api_key=quer-1",
        authority: "joe:pass-1@a",
        requestEncoding: "",
        responseEncoding: "",
        httpVersion: "2",
        httpMethod: "GET",
        codec: "json",
        received: 0,
        sent: 0,
        timing: {},
        connection: { id: 1, remote: "", local: "", openedAt: 0, calls: 1 },
        requestHeaders: [
          [":authority", "joe:pass-1@a"],
          ["host", "joe:pass-2@a"],
          ["authorization", "Bearer abc.def"],
        ],
        trailers: [["x-why", "abc.def and quer-1"]],
        status: { code: 16, name: "UNAUTHENTICATED", message: "abc.def is not known" },
        parts: { total: 0, bytes: 0, leftOut: 0, leftOutBytes: 0 },
      };
      const store = storeOf([row(1, { kind: "grpc-call", target: detail.path, preview: "I am abc.def" })], new Map([[1, detail]]));
      const { text } = await allOf(createTrafficExport({ ...options, stores: [store], format: "jsonl" }));
      for (const secret of ["abc.def", "quer-1", "pass-1", "pass-2"]) expect(text).not.toContain(secret);
    });

    it("of a request that could not be parsed: its fields are masked, its bytes hidden", async () => {
      const head = "FOO / HTTP/1.1\r\nAuthorization Bearer foosec-3\r\nCookie: sid=foosec-4\r\n\r\n";
      const request = {
        method: "FOO",
        target: "/",
        httpVersion: "1.1",
        headers: [["Cookie", "sid=foosec-4"]] as HeaderList,
        trailers: [],
        body: { bytes: 0, base64: "" },
        unparsed: { bytes: head.length, base64: base64(head) },
      };
      const { text } = await allOf(
        createTrafficExport({ ...options, stores: [storeOf([row(1)], new Map([[1, exchange(1, { request })]]))], format: "jsonl" }),
      );
      expect(JSON.parse(text).detail.request).toEqual({
        ...request,
        headers: [["Cookie", "sid=••••••"]],
        unparsed: { bytes: head.length, base64: base64("•••"), hiddenIn: head.length },
      });
    });

    it("in a time that grows with what is searched, also where a value nearly occurs everywhere", () => {
      const found = new FoundCredentials();
      const value = `${"a".repeat(120_000)}b`;
      found.add(value);
      const text = `password=${value}&z=${"a".repeat(140_000)}`;
      let shown = "";
      const took = threadCpuMs(() => {
        shown = found.hideIn(`${text}c`, true);
      });
      expect(took).toBeLessThan(1_000);
      expect(shown).toBe(`password=•••&z=${"a".repeat(140_000)}c`);
      expect(found.hideIn(text, true)).toBe(`password=•••&z=${"a".repeat(20_000)}•••`);
    });

    it("in one pass for all values, also where hundreds begin alike and overlap", () => {
      const found = new FoundCredentials();
      const value = (index: number) => `${"a".repeat(20)}b${"a".repeat(3)}${index}`;
      for (let index = 0; index < 390; index++) found.add(value(index));
      const text = "a".repeat(250_000);
      let shown = "";
      const took = threadCpuMs(() => {
        shown = found.hideIn(`${text},${value(7)}b${value(389)}.`);
      });
      expect(took).toBeLessThan(1_000);
      expect(shown).toBe(`${text},•••b•••.`);
      found.add("c-one-two");
      found.add("two-three");
      expect(found.hideIn("c-one-two-three|c-one-twotwo-three|two-thr", true)).toBe("•••|••••••|•••");
      expect(found.hideInBytes(Buffer.from("ü two-three\xff", "latin1"))).toEqual(
        Buffer.concat([Buffer.from("ü ", "latin1"), Buffer.from("•••"), Buffer.from([0xff])]),
      );
    });

    it("with bounded work: where too many are found, all is hidden", async () => {
      const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`token${index}`, `value-${index}`]));
      const shown = await texts({ headers: json, body: JSON.stringify(fields), answer: "value-4999" });
      expect(shown).not.toContain("value-");
    });
  });
});
