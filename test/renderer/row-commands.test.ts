import { describe, expect, it } from "vitest";
import type { ServiceView } from "../../contract/service.ts";
import type { HeaderList, HttpBody, HttpExchange } from "../../contract/traffic/http.ts";
import type { MqttMessage } from "../../contract/traffic/mqtt.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import type { WebSocketConnection, WebSocketMessage } from "../../contract/traffic/websocket.ts";
import type { ControlClient } from "../../renderer/src/control/control-client.ts";
import { httpRowCommands } from "../../renderer/src/inspectors/http-row-commands.ts";
import { callOfExchange } from "../../renderer/src/services/account/try/try-draft.ts";
import { kindOfExchange } from "../../renderer/src/services/events/try-kinds.ts";
import { mqttRowCommands } from "../../renderer/src/services/mqtt/inspectors/mqtt-row-commands.ts";
import { replayOfTry, sentRequest, tryOfExchange, withoutCredentials } from "../../renderer/src/services/try/try-request.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A client that notes what is asked, and answers the same to everything. */
function clientOf(answer: unknown) {
  const asked: unknown[] = [];
  const action = async (_actions: unknown, id: string, name: string, params: unknown) => {
    asked.push([id, name, params]);
    return answer;
  };
  return { asked, client: { action } as unknown as ControlClient };
}
const service = (id: string, endpoints: readonly string[] = []) =>
  ({ id, status: { state: "stopped" }, plannedEndpoints: endpoints.map((url) => ({ label: "", url })) }) as unknown as ServiceView;

const exchange = (body: HttpBody): HttpExchange => ({
  kind: "http",
  id: 1,
  at: 0,
  timing: {},
  request: { method: "PUT", target: "/x?a=1", httpVersion: "1.1", headers: [["X-One", "1"]], trailers: [], body },
  connection: { id: 1, remote: "", local: "", requests: 1, openedAt: 0 },
});
const plain = exchange({ bytes: 0, base64: "" });
const secure: HttpExchange = { ...plain, connection: { ...plain.connection, local: "127.0.0.1:9999", tls: "TLSv1.3" } };
const message: MqttMessage = {
  kind: "mqtt-message",
  id: 1,
  at: 0,
  topic: "a/b",
  qos: 1,
  retain: true,
  publisher: "c",
  bytes: 5,
  start: base64("hello"),
  matched: 0,
  delivered: 0,
  acknowledged: 0,
  acknowledgeable: 0,
  dropped: 0,
  dup: false,
  sentAsRetained: 0,
  deliveries: [],
  properties: { contentType: "text/plain", userProperties: [["key", "value"]] },
  payload: base64("hello"),
};

describe("a row that is sent again", () => {
  it("[BL-204] is the request as it was recorded", async () => {
    const { asked, client } = clientOf({ status: 201, reason: "Created", tookMs: 3 });
    const body = { bytes: 5, base64: base64("hello") };
    const words = await httpRowCommands().http?.resend?.run(client, exchange(body), service("account"));
    const sent = { method: "PUT", target: "/x?a=1", headers: [["X-One", "1"]], body: base64("hello") };
    expect(asked).toEqual([["account", "resend", { tls: false, ...sent }]]);
    expect(words).toMatch(/^Sent PUT \/x\?a=1 again: 201 Created in 3/);
  });

  it("[BL-204] is sent over TLS if it came over TLS", async () => {
    const { asked, client } = clientOf({ status: 200, reason: "OK", tookMs: 1 });
    await httpRowCommands().http?.resend?.run(client, secure, service("http"));
    expect(asked).toEqual([["http", "resend", expect.objectContaining({ tls: true })]]);
  });

  it("[BL-204] is refused if its body is cut, or values in it are hidden", async () => {
    const { asked, client } = clientOf({});
    const run = (body: HttpBody) => httpRowCommands().http?.resend?.run(client, exchange(body), service("http"));
    await expect(run({ bytes: 9, base64: base64("hello") })).rejects.toThrow("Only the start of its body was recorded.");
    await expect(run({ bytes: 5, base64: base64("hello"), isPart: true })).rejects.toThrow("It ended before all of its body was read.");
    await expect(run({ bytes: 0, base64: "", isPart: true })).rejects.toThrow("It ended before its body was read.");
    await expect(run({ bytes: 5, base64: base64("hello"), hiddenIn: 5 })).rejects.toThrow("hidden in the recording");
    const { request } = exchange({ bytes: 0, base64: "" });
    const withoutToken = { ...plain, request: { ...request, headers: [["Authorization", "Bearer •••"]] as HeaderList } };
    const resent = httpRowCommands().http?.resend?.run(client, withoutToken, service("account"));
    await expect(resent).rejects.toThrow("The value of Authorization is hidden in the recording");
    expect(asked).toEqual([]);
  });

  it("[BL-204] is the message with its properties, and refused if its payload is cut", async () => {
    const { asked, client } = clientOf({ matched: 2 });
    const run = (of: MqttMessage) => mqttRowCommands["mqtt-message"]?.resend?.run(client, of, service("mqtt"));
    expect(await run(message)).toBe("Published on a/b again, for 2 subscribers");
    const properties = { contentType: "text/plain", userProperties: [["key", "value"]] };
    expect(asked).toEqual([
      ["mqtt", "publish", expect.objectContaining({ topic: "a/b", payload: "hello", qos: 1, retain: true, ...properties })],
    ]);
    await expect(run({ ...message, bytes: 6 })).rejects.toThrow("Only the start of its payload is here, of 6 B.");
    const copies = mqttRowCommands["mqtt-message"]?.copies ?? [];
    for (const { text } of copies) expect(() => text({ ...message, bytes: 6 }, service("mqtt"), client)).toThrow("It cannot be copied.");
    expect(() => mqttRowCommands["mqtt-message"]?.openInTry?.({ ...message, bytes: 6 }, {} as TrafficRow)).toThrow(
      "It cannot be opened in Try.",
    );
  });
});

describe("a row that is copied", () => {
  const unasked = clientOf({}).client;
  const both = service("http", ["http://127.0.0.1:8080", "https://127.0.0.1:8444"]);
  const copied = (of: HttpExchange, by: ServiceView) => httpRowCommands().http?.copies.map(({ text }) => text(of, by, unasked)) ?? [];

  it("[BL-214] has the scheme and the port of its connection", () => {
    for (const text of copied(plain, both).slice(0, 3)) expect(text).toContain("http://127.0.0.1:8080/x?a=1");
    for (const text of copied(secure, both).slice(0, 3)) expect(text).toContain("https://127.0.0.1:8444/x?a=1");
    expect(copied(secure, both)[3]).toContain("Host: 127.0.0.1:8444");
    // HTTPS was switched off since.
    expect(copied(secure, service("http", ["http://127.0.0.1:8080"]))[0]).toContain("https://127.0.0.1:9999/x?a=1");
  });

  it("[BL-214] is wss for a WebSocket that was opened over TLS", () => {
    const socket = { ...secure, kind: "websocket", parts: { total: 0 } } as unknown as WebSocketConnection;
    expect(httpRowCommands().websocket?.copies.map(({ text }) => text(socket, both, unasked))).toEqual([
      expect.stringContaining("wss://127.0.0.1:8444/x"),
      expect.stringContaining("wss://127.0.0.1:8444/x"),
    ]);
  });
});

describe("a row that is opened in Try", () => {
  const posted = (headers: HeaderList, text: string, part: Partial<HttpExchange["request"]> = {}): HttpExchange => ({
    ...plain,
    request: { ...plain.request, headers, body: { bytes: text.length, base64: base64(text) }, ...part },
  });

  it("[BL-215] is the request with its credentials, empty where the recording hides them, and without what a client sets by itself", () => {
    const headers = [
      ["Host", "127.0.0.1:8080"],
      ["Content-Length", "7"],
      ["Content-Type", "application/json"],
      ["Authorization", "Bearer abc.def.ghi"],
      ["X-Api-Key", "secret"],
      ["X-Token", "•••"],
    ] as const;
    expect(tryOfExchange(posted(headers, '{"a":1}'))).toEqual({
      method: "PUT",
      target: "/x?a=1",
      body: '{"a":1}',
      headers: [
        ["Content-Type", "application/json"],
        ["Authorization", "Bearer abc.def.ghi"],
        ["X-Api-Key", "secret"],
        ["X-Token", ""],
      ],
    });
    const bytes = Buffer.from([0, 255]).toString("base64");
    const binary = tryOfExchange(posted([["Content-Type", "image/png"]], "", { body: { bytes: 2, base64: bytes } }), true);
    expect(binary).toMatchObject({ body: "", base64: bytes });
    expect([sentRequest(binary).base64, sentRequest({ ...binary, method: "GET" }).base64]).toEqual([bytes, undefined]);
    expect(replayOfTry(binary, "http://a").body).toEqual(Uint8Array.of(0, 255));
    expect(withoutCredentials(binary)).not.toHaveProperty("base64");
    expect(tryOfExchange(posted([], "", { target: "http://127.0.0.1:8080/y?b=2" })).target).toBe("/y?b=2");
  });

  it("[BL-215] is refused with the reason where the form cannot take it", () => {
    const refused = (part: Partial<HttpExchange["request"]>) => () => tryOfExchange(posted([], "", part));
    expect(refused({ method: "PROPFIND" })).toThrow("Try does not send PROPFIND.");
    expect(refused({ target: "*" })).toThrow("Its target is not a path.");
    expect(refused({ body: { bytes: 9, base64: base64("hello") } })).toThrow("Only the start of its body was recorded.");
    expect(refused({ body: { bytes: 5, base64: base64("hello"), isPart: true } })).toThrow("It ended before all of its body was read.");
    expect(refused({ body: { bytes: 5, base64: base64("a=•••"), hiddenIn: 5, isPart: true } })).toThrow(
      "It ended before all of its body was read.",
    );
    expect(refused({ body: { bytes: 2, base64: Buffer.from([0, 255]).toString("base64") } })).toThrow("Its body is not text.");
    expect(() => kindOfExchange(posted([], ""))).toThrow("Try has POST /events, GET /events and GET /stats only.");
    expect(() => callOfExchange(posted([], "", { method: "PATCH" }), undefined)).toThrow("Try does not send PATCH.");
    const form = { method: "POST", body: { bytes: 3, base64: base64("a=b") } };
    expect(() => callOfExchange(posted([], "", form), undefined)).toThrow("Its body is not JSON, as a form is: Try sends JSON only.");
  });

  it("[BL-215] is a call of Account with its user and scheme", () => {
    const call = posted([["Authorization", "Basic YTpi"]], "{}", { target: "/details" });
    expect(callOfExchange(call, "api@example.com")).toEqual({
      method: "PUT",
      target: "/details",
      body: "{}",
      scheme: "basic",
      username: "api@example.com",
    });
    expect(callOfExchange(posted([], "", { method: "GET" }), undefined)).toEqual({ method: "GET", target: "/x?a=1", body: "" });
  });

  it("[BL-215] is one of the requests of Events", () => {
    expect(kindOfExchange(posted([], "", { method: "GET", target: "/events?limit=3" }))).toMatchObject({
      kind: "read",
      request: { target: "/events?limit=3" },
    });
  });
});

it("[BL-187] a WebSocket's message is copied with the handshake of its connection", async () => {
  const connection = { ...plain, kind: "websocket", parts: { total: 1 } };
  const asked: unknown[] = [];
  const call = async (name: string, params: unknown) => {
    asked.push([name, params]);
    return { detail: connection };
  };
  const sent = {
    kind: "websocket-message",
    id: 2,
    parent: 1,
    at: 0,
    index: 0,
    outcome: "echoed",
    direction: "received",
    type: "text",
    body: { bytes: 5, base64: base64("hello") },
  } as WebSocketMessage;
  const texts = await Promise.all(
    (httpRowCommands()["websocket-message"]?.copies ?? []).map(({ text }) =>
      text(sent, service("http", ["http://127.0.0.1:8080"]), { call } as unknown as ControlClient),
    ),
  );
  expect(texts[0]).toBe("printf '%s\\n' hello | websocat -n1 -H 'X-One: 1' 'ws://127.0.0.1:8080/x?a=1'");
  expect(texts[1]).toContain('socket.send("hello")');
  expect(asked[0]).toEqual(["traffic.detail", { id: "http", row: 1 }]);
});
