import { describe, expect, it } from "vitest";
import type { ServiceView } from "../../contract/service.ts";
import type { HttpBody, HttpExchange } from "../../contract/traffic/http.ts";
import type { MqttMessage } from "../../contract/traffic/mqtt.ts";
import type { WebSocketConnection } from "../../contract/traffic/websocket.ts";
import type { ControlClient } from "../../renderer/src/control/control-client.ts";
import { httpRowCommands } from "../../renderer/src/inspectors/http-row-commands.ts";
import { mqttRowCommands } from "../../renderer/src/services/mqtt/inspectors/mqtt-row-commands.ts";

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
  ...{ kind: "http", id: 1, at: 0, timing: {} },
  request: { method: "PUT", target: "/x?a=1", httpVersion: "1.1", headers: [["X-One", "1"]], trailers: [], body },
  connection: { id: 1, remote: "", local: "", requests: 1, openedAt: 0 },
});
const plain = exchange({ bytes: 0, base64: "" });
const secure: HttpExchange = { ...plain, connection: { ...plain.connection, local: "127.0.0.1:9999", tls: "TLSv1.3" } };
const message: MqttMessage = {
  ...{ kind: "mqtt-message", id: 1, at: 0, topic: "a/b", qos: 1, retain: true, publisher: "c", bytes: 5, start: base64("hello") },
  ...{ matched: 0, delivered: 0, acknowledged: 0, acknowledgeable: 0, dropped: 0, dup: false, sentAsRetained: 0, deliveries: [] },
  properties: { contentType: "text/plain", userProperties: [["key", "value"]] },
  payload: base64("hello"),
};

describe("a row that is sent again", () => {
  it("[BL-204] is the request as it was recorded", async () => {
    const { asked, client } = clientOf({ status: 201, reason: "Created", tookMs: 3 });
    const body = { bytes: 5, base64: base64("hello") };
    const words = await httpRowCommands.http?.resend?.run(client, exchange(body), service("account"));
    const sent = { method: "PUT", target: "/x?a=1", headers: [["X-One", "1"]], body: base64("hello") };
    expect(asked).toEqual([["account", "resend", { tls: false, ...sent }]]);
    expect(words).toMatch(/^Sent PUT \/x\?a=1 again: 201 Created in 3/);
  });

  it("[BL-204] is sent over TLS if it came over TLS", async () => {
    const { asked, client } = clientOf({ status: 200, reason: "OK", tookMs: 1 });
    await httpRowCommands.http?.resend?.run(client, secure, service("http"));
    expect(asked).toEqual([["http", "resend", expect.objectContaining({ tls: true })]]);
  });

  it("[BL-204] is refused if its body is cut, or values in it are hidden", async () => {
    const { asked, client } = clientOf({});
    const run = (body: HttpBody) => httpRowCommands.http?.resend?.run(client, exchange(body), service("http"));
    await expect(run({ bytes: 9, base64: base64("hello") })).rejects.toThrow("Only the start of its body was recorded.");
    await expect(run({ bytes: 5, base64: base64("hello"), hiddenIn: 5 })).rejects.toThrow("hidden in the recording");
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
    await expect(run({ ...message, bytes: 6 })).rejects.toThrow("Only the start of its payload was recorded.");
  });
});

describe("a row that is copied", () => {
  const both = service("http", ["http://127.0.0.1:8080", "https://127.0.0.1:8444"]);
  const copied = (of: HttpExchange, by: ServiceView) => httpRowCommands.http?.copies.map(({ text }) => text(of, by)) ?? [];

  it("[BL-214] has the scheme and the port of its connection", () => {
    for (const text of copied(plain, both).slice(0, 3)) expect(text).toContain("http://127.0.0.1:8080/x?a=1");
    for (const text of copied(secure, both).slice(0, 3)) expect(text).toContain("https://127.0.0.1:8444/x?a=1");
    expect(copied(secure, both)[3]).toContain("Host: 127.0.0.1:8444");
    // HTTPS was switched off since.
    expect(copied(secure, service("http", ["http://127.0.0.1:8080"]))[0]).toContain("https://127.0.0.1:9999/x?a=1");
  });

  it("[BL-214] is wss for a WebSocket that was opened over TLS", () => {
    const socket = { ...secure, kind: "websocket", parts: { total: 0 } } as unknown as WebSocketConnection;
    expect(httpRowCommands.websocket?.copies.map(({ text }) => text(socket, both))).toEqual([
      expect.stringContaining("wss://127.0.0.1:8444/x"),
      expect.stringContaining("wss://127.0.0.1:8444/x"),
    ]);
  });
});
