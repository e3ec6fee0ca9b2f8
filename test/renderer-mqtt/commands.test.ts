import { describe, expect, it } from "vitest";
import type { ServiceView } from "../../contract/service.ts";
import { brokerAddress, brokerTransports } from "../../renderer/src/services/mqtt/broker/broker-address.ts";
import { firstDraft, type PublishDraft } from "../../renderer/src/services/mqtt/publish/publish-draft.ts";
import { commandLines } from "../../renderer/src/services/mqtt/try/command-lines.ts";
import { mosquittoNotes, mosquittoPubOf, mosquittoSub, mosquittoSubOf } from "../../renderer/src/services/mqtt/try/mqtt-commands.ts";
import { firstSubscription, type SubscribeDraft } from "../../renderer/src/services/mqtt/try/subscribe-draft.ts";
import { type CommandClient, namedClient, plainClient } from "../../renderer/src/services/mqtt/try/try-client-draft.ts";

const address = { transport: "mqtt", host: "127.0.0.1", port: "1883" } as const;
const draft = (change: Partial<PublishDraft>): PublishDraft => ({ ...firstDraft, payload: "hi", ...change });
const whole = draft({
  qos: 1,
  retain: true,
  isUtf8: true,
  expirySeconds: "60",
  contentType: "text/plain",
  responseTopic: "replies/1",
  correlationData: "0xc01f",
  userProperties: [
    ["site", "lot 7"],
    ["site", "b"],
    ["", "left out"],
  ],
});
const subscription: SubscribeDraft = { ...firstSubscription, filter: "a/#", qos: 2, noLocal: true, retainHandling: 1, identifier: "7" };
const client: CommandClient = {
  ...plainClient,
  clientId: "tester",
  username: "ada",
  password: "it's",
  cleanStart: false,
  expirySeconds: "600",
  willTopic: "will",
  willPayload: "gone",
  willQos: 1,
  willDelaySeconds: "5",
};

describe("the same as a command", () => {
  it("of mosquitto_pub has the properties and shell quoting", () => {
    expect(mosquittoPubOf(draft({ payload: "it's" }), address, true)).toBe(
      `mosquitto_pub -h 127.0.0.1 -p 1883 -t test/topic -m 'it'\\''s'`,
    );
    expect(mosquittoPubOf(whole, address, true)).toBe(
      "mosquitto_pub -h 127.0.0.1 -p 1883 -V 5 -q 1 -r -t test/topic -D publish payload-format-indicator 1 -D publish message-expiry-interval 60 -D publish content-type text/plain -D publish response-topic replies/1 -D publish correlation-data c01f -D publish user-property site 'lot 7' -D publish user-property site b -m hi",
    );
    expect(mosquittoPubOf(draft({ payload: "" }), address, true)).toMatch(/ -n$/);
    expect(mosquittoPubOf(draft({ payload: "c0 1f", encoding: "hex" }), address, true)).toMatch(
      /^printf '\\300\\037' \| mosquitto_pub .* -s$/,
    );
    expect(mosquittoPubOf(draft({ correlationData: "0x6964" }), address, true)).toContain("correlation-data id ");
  });

  it("[BL-468] of a payload that is too long for one argument is piped", () => {
    const payload = `it's ${"ü".repeat(50_000)}`;
    const command = mosquittoPubOf(draft({ payload }), address, true);
    expect(command).toBe(`printf %s 'it'\\''s ${"ü".repeat(50_000)}' | mosquitto_pub -h 127.0.0.1 -p 1883 -t test/topic -s`);
    expect(mosquittoPubOf(draft({ payload: "x".repeat(100_000) }), address, true)).toMatch(/ -m x+$/);
  });

  it("of mosquitto_sub quotes the wildcards, and has name, session and will", () => {
    expect(mosquittoSubOf("sensors/#", 1, address, true)).toBe("mosquitto_sub -h 127.0.0.1 -p 1883 -V 5 -q 1 -t 'sensors/#' -v");
    expect(mosquittoSub(subscription, address, client)).toBe(
      "mosquitto_sub -h 127.0.0.1 -p 1883 -V 5 -u ada -P 'it'\\''s' -i tester -c -x 600 --will-topic will --will-payload gone --will-qos 1 -D will will-delay-interval 5 -q 2 -t 'a/#' -D subscribe subscription-identifier 7 -v",
    );
    expect(mosquittoSub(subscription, address, { ...plainClient, version: 4 })).toBe("mosquitto_sub -h 127.0.0.1 -p 1883 -q 2 -t 'a/#' -v");
  });

  it("names a user if the broker requires one", () => {
    expect(mosquittoPubOf(firstDraft, address, false)).toContain(" -u USER -P PASSWORD ");
    expect(mosquittoSubOf("#", 0, address, false)).toContain(" -u USER -P PASSWORD ");
    expect(namedClient(plainClient, true)).toBe(plainClient);
    // What is typed stands there instead.
    expect(namedClient({ ...plainClient, username: "ada" }, false)).toMatchObject({ username: "ada", password: "PASSWORD" });
  });

  it("trusts the certificate with TLS, and uses WebSocket", () => {
    const ofTls = { ...address, port: "8883", transport: "mqtts", caFile: "/x/ca.pem" } as const;
    expect(mosquittoPubOf(firstDraft, ofTls, true)).toMatch(/^mosquitto_pub -h 127\.0\.0\.1 -p 8883 --cafile \/x\/ca\.pem -t /);
    const ofWss = { ...ofTls, port: "9002", transport: "wss" } as const;
    const [js, python] = (["mqttjs", "paho"] as const).map((language) =>
      commandLines(language, firstDraft, firstSubscription, ofWss, plainClient),
    );
    expect(js).toContain('connectAsync("wss://127.0.0.1:9002", { protocolVersion: 5, ca: readFileSync("/x/ca.pem") })');
    expect(js).toMatch(/^import \{ readFileSync \} from "node:fs";\n/);
    expect(python).toContain('mqtt.Client(*version, transport="websockets", ');
    expect(python).toContain('client.tls_set("/x/ca.pem")\nclient.connect("127.0.0.1", 9002)');
  });

  it("finds the broker's address with each transport", () => {
    const certificate = { file: "/d/certificate.pem", pem: "", isSelfMade: true };
    const plannedEndpoints = ["mqtt://127.0.0.1:1883", "mqtts://127.0.0.1:8883"].map((url) => ({ label: "", url }));
    const service = { status: { state: "stopped" }, plannedEndpoints } as unknown as ServiceView;
    expect(brokerTransports(service).map(({ value }) => value)).toEqual(["mqtt", "mqtts"]);
    expect(brokerAddress(service, "mqtts", certificate)).toEqual({
      transport: "mqtts",
      host: "127.0.0.1",
      port: "8883",
      caFile: "/d/certificate.pem",
    });
    expect(brokerAddress(service, "mqtts", { ...certificate, isSelfMade: false }).caFile).toBe("ca.pem");
    expect(brokerAddress(service, "wss", certificate)).toEqual({ transport: "mqtt", host: "127.0.0.1", port: "1883" });
  });

  it("says which options the tools do not support", () => {
    expect(mosquittoNotes(whole, subscription)).toEqual([
      "mosquitto_sub has no option for no local, retain handling 1.",
      "mosquitto_pub takes correlation data as text only: these bytes go as their hex digits.",
    ]);
    expect(mosquittoNotes(firstDraft, firstSubscription)).toEqual([]);
  });

  it("of MQTT.js has the options, repeated keys and bytes", () => {
    const text = commandLines("mqttjs", whole, subscription, address, client);
    expect(text).toContain('clientId: "tester", username: "ada", password: "it\'s", clean: false');
    expect(text).toContain('will: { topic: "will", payload: "gone", qos: 1, retain: false, properties: { willDelayInterval: 5 } }');
    expect(text).toContain('subscribeAsync("a/#", { qos: 2, nl: true, rh: 1, properties: { subscriptionIdentifier: 7 } })');
    expect(text).toContain('correlationData: Buffer.from("c01f", "hex"), userProperties: { site: ["lot 7", "b"] }');
  });

  it("of 3.1.1 has nothing of 5.0", () => {
    for (const language of ["mosquitto", "mqttjs", "paho"] as const) {
      expect(commandLines(language, whole, subscription, address, { ...client, version: 4 })).not.toMatch(
        /roperties|nl:|noLocal|MQTTv5|-V| -D /,
      );
    }
  });

  it("of Paho has the same", () => {
    const text = commandLines("paho", draft({ ...whole, payload: "c01f", encoding: "hex" }), subscription, address, client);
    expect(text).toContain('client.publish("test/topic", bytes.fromhex("c01f"), qos=1, retain=True, properties=properties)');
    expect(text).toContain('properties.UserProperty = [("site", "lot 7"), ("site", "b")]');
    expect(text).toContain('client.subscribe("a/#", options=SubscribeOptions(qos=2, noLocal=True, retainHandling=1), properties=known)');
    // Paho 1.6 knows no versions of its callbacks.
    expect(text).toContain('if hasattr(mqtt, "CallbackAPIVersion") else []\nclient = mqtt.Client(*version, ');
    expect(text).toContain('client.connect("127.0.0.1", 1883, clean_start=False, properties=session)');
  });
});
