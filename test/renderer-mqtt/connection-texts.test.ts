import { expect, it } from "vitest";
import type { MqttClient } from "../../contract/services/mqtt-client.ts";
import { connectionTexts } from "../../renderer/src/services/mqtt/clients/connection-texts.ts";

const client = (connected: boolean, figures: Partial<MqttClient>) => ({ connected, unreadBytes: 0, inflight: 2, ...figures }) as MqttClient;
const figures = { keepAliveSeconds: 30, inflightLimit: 20, messagesIn: 61, messagesOut: 5, bytesIn: 60, bytesOut: 102 };

it("[MQTT-561] the details of a client have the figures of its connection, while it is away those of the last one, and never zeros for what is not known", () => {
  expect(connectionTexts(client(true, { ...figures, unreadBytes: 7 }), 1)).toEqual({
    keepAlive: "30 s",
    messages: "61 in, 5 out, 1/s",
    bytes: "60 B in, 102 B out, 7 B unread",
    inflight: "2 of 20",
  });
  expect(connectionTexts(client(true, { ...figures, keepAliveSeconds: 0 }), undefined)).toMatchObject({
    keepAlive: "off",
    messages: "61 in, 5 out",
  });
  expect(connectionTexts(client(false, figures), 0)).toEqual({
    keepAlive: "30 s, last connection",
    messages: "61 in, 5 out, last connection",
    bytes: "60 B in, 102 B out, last connection",
    inflight: "2",
    title: "Of its last connection, which has ended.",
  });
  const unknown = connectionTexts(client(false, {}), 0);
  expect(unknown).toMatchObject({ keepAlive: "– not known", messages: "– not known", bytes: "– not known", inflight: "2" });
  expect(unknown.title).toContain("before the start of this broker");
});
