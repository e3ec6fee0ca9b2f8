import { expect, it } from "vitest";
import { FoundCredentials } from "../../../servers/core/credentials/found-credentials.ts";
import { mqttEventDecoder } from "../../../servers/mqtt/inspector/mqtt-event.ts";
import { connectFields, subscribeFields } from "../../../servers/mqtt/inspector/packet-fields.ts";
import { connectWire, openWire, startBroker } from "../harness.ts";

const connect = {
  type: "connect",
  version: 5,
  cleanStart: true,
  keepAliveSeconds: 30,
  clientId: "thermo",
  username: "dev",
  password: Buffer.from("secret-1"),
  will: { topic: "gone", payload: Buffer.from("bye"), qos: 1, retain: false, properties: { willDelayInterval: 5 } },
  properties: {
    sessionExpiryInterval: 60,
    userProperties: [
      ["app", "v2"],
      ["api-key", "tok-1234"],
    ] as [string, string][],
  },
} as const;

it("[MQTT-320] rows of CONNECT, SUBSCRIBE, UNSUBSCRIBE and DISCONNECT have the fields of the packet; of a password its size", async () => {
  const broker = await startBroker();
  const fieldsOf = async (verb: string) => {
    await expect.poll(() => broker.rows.some((row) => row.verb === verb)).toBe(true);
    const { id } = broker.rows.find((row) => row.verb === verb) as { readonly id: number };
    const detail = broker.detail(id);
    return Object.fromEntries(detail.kind === "mqtt-event" ? (detail.fields ?? []) : []);
  };
  const { type: _, version, ...options } = connect;
  const client = await connectWire(broker, version, options);
  expect(await fieldsOf("CONNECT")).toMatchObject({
    Protocol: "MQTT 5.0",
    "Client identifier": "thermo",
    "Clean start": "yes",
    "Keep alive": "30 s",
    "User name": "dev",
    Password: "8 bytes, not recorded",
    "Session expiry interval": "60 s",
    "User property app": "v2",
    "Will topic": "gone",
    "Will QoS": "1",
    "Will payload": "bye",
    "Will: delay interval": "5 s",
  });
  await client.subscribe("a/#", { qos: 1, noLocal: true }, { subscriptionIdentifiers: [7] });
  expect(await fieldsOf("SUBSCRIBE")).toEqual({ "Subscription identifier": "7", "a/#": "QoS 1, no local, granted QoS 1" });
  client.send({ type: "unsubscribe", packetId: 9, filters: ["a/#"] });
  expect(await fieldsOf("UNSUBSCRIBE")).toEqual({ Filter: "a/#" });
  client.send({ type: "disconnect", reason: 0x04, properties: { reasonString: "sleeps" } });
  expect(await fieldsOf("DISCONNECT")).toEqual({ "Reason code": "0x04 disconnect with will", "Reason string": "sleeps" });
});

it("[MQTT-320] a refused CONNECT has them too", async () => {
  const broker = await startBroker({ anonymous: false, users: ["other:pass"] });
  const client = await openWire(broker, 4);
  const { type, clientId, username, password, cleanStart, keepAliveSeconds } = connect;
  client.send({ type, version: 4, clientId, username, password, cleanStart, keepAliveSeconds });
  await expect.poll(() => broker.rows.some(({ tone }) => tone === "refused")).toBe(true);
  const row = broker.rows.find(({ tone }) => tone === "refused") as { readonly id: number };
  expect(broker.detail(row.id)).toMatchObject({ fields: expect.arrayContaining([["User name", "dev"]]) });
});

it("[MQTT-320] they are bounded, and an export hides user properties with credentials", () => {
  const requests = Array.from({ length: 500 }, (_, index) => ({
    filter: `t/${index}`,
    qos: 0 as const,
    noLocal: false,
    retainAsPublished: false,
    retainHandling: 0 as const,
  }));
  expect(subscribeFields(requests, [], undefined)).toHaveLength(101);
  const long = connectFields({ ...connect, clientId: "c".repeat(65_535), username: "u".repeat(65_535) }, false);
  expect(JSON.stringify(long).length).toBeLessThan(4_000);
  const detail = { kind: "mqtt-event", id: 1, at: 1, clientId: "thermo", text: "", fields: connectFields(connect, false) } as const;
  const shown = mqttEventDecoder.withoutCredentials({ row: { preview: "" } as never, detail, parts: [] } as never, new FoundCredentials());
  expect(JSON.stringify(shown)).toContain("v2");
  expect(JSON.stringify(shown)).not.toContain("tok-1234");
});

it("[MQTT-320] a will's payload is text only if all of it is", () => {
  const shown = (payload: Buffer) => new Map(connectFields({ ...connect, will: { ...connect.will, payload } }, false)).get("Will payload");
  expect(shown(Buffer.alloc(2_000, 0xff))).toBe(`2000 bytes: ${"ff".repeat(400)}…`);
  expect(shown(Buffer.concat([Buffer.from("a".repeat(1_500)), Buffer.from([0xff])]))).toBe(`1501 bytes: ${"61".repeat(400)}…`);
  expect(shown(Buffer.from([0xff, 0x00]))).toBe("2 bytes: ff00");
  expect(shown(Buffer.from("€".repeat(1_500)))).toBe(`${"€".repeat(1_000)}… (1500 characters)`);
});

it("[MQTT-320] with recordCredentials the password and authentication data are kept, and an export hides them", async () => {
  const broker = await startBroker({ recordCredentials: true, anonymous: false, users: ["other:pass"] });
  const client = await openWire(broker, 4);
  const { type, clientId, username, cleanStart, keepAliveSeconds } = connect;
  client.send({ type, version: 4, clientId, username, password: Buffer.from("sent-wrong "), cleanStart, keepAliveSeconds });
  await expect.poll(() => broker.rows.some(({ tone }) => tone === "refused")).toBe(true);
  const row = broker.rows.find(({ tone }) => tone === "refused") as { readonly id: number };
  expect(broker.detail(row.id)).toMatchObject({ fields: expect.arrayContaining([["Password", "sent-wrong "]]) });
  expect(JSON.stringify(broker.logs)).not.toContain("sent-wrong");

  const fields = connectFields({ ...connect, properties: { authenticationData: Buffer.from([1, 255]) } }, true);
  expect(fields).toContainEqual(["Authentication data", "2 bytes: 01ff"]);
  const detail = { kind: "mqtt-event", id: 1, at: 1, clientId: "thermo", text: "", fields } as const;
  const exported = mqttEventDecoder.withoutCredentials({ row: { preview: "" } as never, detail }, new FoundCredentials());
  expect(JSON.stringify(exported)).not.toMatch(/secret-1|01ff/);
});

it("[MQTT-492] an export hides in a will's payload, and in user properties, what it hides in those of a message", () => {
  const exported = (payload: Buffer, contentType?: string) => {
    const will = {
      ...connect.will,
      payload,
      properties: { ...(contentType && { contentType }), userProperties: [["see", "/a?token=tok-5678"]] as [string, string][] },
    };
    const fields = connectFields({ ...connect, will }, false);
    const detail = { kind: "mqtt-event", id: 1, at: 1, clientId: "thermo", text: "", fields } as const;
    const found = new FoundCredentials();
    const pass = () => mqttEventDecoder.withoutCredentials({ row: { preview: "" } as never, detail }, found);
    pass();
    const shown = pass().detail;
    return new Map(shown?.kind === "mqtt-event" ? shown.fields : []);
  };
  const payloadOf = (text: string, type?: string) => exported(Buffer.from(text), type).get("Will payload");
  expect(payloadOf('{"state":"gone","password":"pw-5678"}')).toBe('{"state":"gone","password":"•••"}');
  expect(payloadOf("state=gone&password=pw-5678")).toBe("state=gone&password=•••");
  expect(payloadOf("the password: pw-5678", "application/json")).toBe("•••");
  expect(payloadOf("it had tok-1234")).toBe("it had •••");
  expect(payloadOf(`{"text":"${"a".repeat(960)}","password":"${"pw-5678".repeat(20)}"}`)).not.toContain("pw-5678");
  expect(payloadOf(`${"a".repeat(995)}tok-1234`)).toBe(`${"a".repeat(995)}•••… (1003 characters)`);
  expect(payloadOf('{"state":"gone"}')).toBe('{"state":"gone"}');
  expect(payloadOf(`{"text":"${"a".repeat(1_200)}"}`)).toBe(`{"text":"${"a".repeat(991)}… (1211 characters)`);
  const bytes = Buffer.concat([Buffer.from('{"password":"pw-5678"'), Buffer.from([0xff])]);
  expect(exported(bytes).get("Will payload")).toBe("22 bytes: •••");
  expect(exported(Buffer.from([1, 255])).get("Will payload")).toBe("2 bytes: 01ff");
  expect(exported(Buffer.from("bye")).get("User property see")).toBe("/a?token=…");
});
