import { describe, expect, it } from "vitest";
import type { ServiceView } from "../../contract/service.ts";
import type { HttpBody, HttpExchange } from "../../contract/traffic/http.ts";
import type { MqttMessage } from "../../contract/traffic/mqtt.ts";
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
const service = (id: string) => ({ id }) as ServiceView;

const exchange = (body: HttpBody): HttpExchange => ({
  ...{ kind: "http", id: 1, at: 0, timing: {} },
  request: { method: "PUT", target: "/x?a=1", httpVersion: "1.1", headers: [["X-One", "1"]], trailers: [], body },
  connection: { id: 1, remote: "", local: "", requests: 1, openedAt: 0 },
});
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
    expect(asked).toEqual([["account", "resend", { method: "PUT", target: "/x?a=1", headers: [["X-One", "1"]], body: base64("hello") }]]);
    expect(words).toMatch(/^Sent PUT \/x\?a=1 again: 201 Created in 3/);
  });

  it("[BL-204] is refused where its body is cut, or values in it are hidden", async () => {
    const { asked, client } = clientOf({});
    const run = (body: HttpBody) => httpRowCommands.http?.resend?.run(client, exchange(body), service("http"));
    await expect(run({ bytes: 9, base64: base64("hello") })).rejects.toThrow("Only the start of its body was recorded.");
    await expect(run({ bytes: 5, base64: base64("hello"), hiddenIn: 5 })).rejects.toThrow("hidden in the recording");
    expect(asked).toEqual([]);
  });

  it("[BL-204] is the message with its properties, and refused where its payload is cut", async () => {
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
