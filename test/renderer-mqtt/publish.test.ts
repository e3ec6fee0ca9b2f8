import { describe, expect, it } from "vitest";
import type { MqttClient } from "../../contract/services/mqtt-client.ts";
import { clientRates, noClientRates } from "../../renderer/src/services/mqtt/clients/client-rates.ts";
import {
  correlationText,
  draftOfMessage,
  firstDraft,
  type PublishDraft,
  parsePublishDraft,
} from "../../renderer/src/services/mqtt/publish/publish-draft.ts";
import { hasWildcard, isTopicFilter, scopeFilter } from "../../renderer/src/services/mqtt/tree/topic-scope.ts";

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

describe("a message to publish", () => {
  it("uses every option", () => {
    expect(parsePublishDraft(whole)).toEqual({
      params: {
        topic: "test/topic",
        payload: "hi",
        encoding: "text",
        qos: 1,
        retain: true,
        payloadFormatIndicator: 1,
        messageExpiryInterval: 60,
        contentType: "text/plain",
        responseTopic: "replies/1",
        correlationData: "wB8=",
        userProperties: [
          ["site", "lot 7"],
          ["site", "b"],
        ],
      },
    });
    expect(parsePublishDraft(draft({ payload: "c0 1f", encoding: "hex" }))).toMatchObject({
      params: { payload: "wB8=", encoding: "base64" },
    });
  });

  it.each<[Partial<PublishDraft>, string]>([
    [{ topic: "" }, "topic"],
    [{ topic: "a/#" }, "topic"],
    [{ payload: "c", encoding: "hex" }, "payload"],
    [{ payload: "%", encoding: "base64" }, "payload"],
    [{ expirySeconds: "1.5" }, "expirySeconds"],
    [{ expirySeconds: "4294967296" }, "expirySeconds"],
    [{ responseTopic: "+" }, "responseTopic"],
    [{ correlationData: "0xc" }, "correlationData"],
  ])("%j is refused at %s", (change, field) => expect(parsePublishDraft(draft(change))).toMatchObject({ field }));

  it("is filled in from a received one", () => {
    const received = {
      kind: "mqtt-message",
      id: 1,
      at: 0,
      topic: "a",
      qos: 2,
      retain: false,
      publisher: "",
      bytes: 2,
      start: "",
      matched: 0,
      delivered: 0,
      acknowledged: 0,
      acknowledgeable: 0,
      dropped: 0,
      dup: false,
      properties: { correlationData: "wB8=", userProperties: [["k", "v"]] },
      payload: "AP8=",
      sentAsRetained: 0,
      deliveries: [],
    } as const;
    expect(draftOfMessage(received)).toMatchObject({
      topic: "a",
      qos: 2,
      payload: "00 ff",
      encoding: "hex",
      correlationData: "0xc01f",
      userProperties: [["k", "v"]],
    });
    expect(correlationText(new TextEncoder().encode("id-7"))).toBe("id-7");
  });
});

describe("topic filters", () => {
  it.each([
    ["a/b", true],
    ["#", true],
    ["a/+/c", true],
    ["a/#", true],
    ["+", true],
    ["", false],
    ["a/#/b", false],
    ["a+", false],
    ["a#", false],
  ])("%s: %s", (filter, isFilter) => expect(isTopicFilter(filter)).toBe(isFilter));
  it("of a topic and all below ends with #", () => {
    expect([
      scopeFilter({ topic: "a", below: true }),
      scopeFilter({ topic: "a", below: false }),
      scopeFilter({ topic: "", below: true }),
    ]).toEqual(["a/#", "a", ""]);
    expect([hasWildcard("a/+"), hasWildcard("a+")]).toEqual([true, false]);
  });
});

describe("a client's rate", () => {
  const client = (messagesIn: number, since = 0) => ({ clientId: "c", messagesIn, messagesOut: 0, since }) as MqttClient;
  it("is the smoothed rate between two views, and is reset with a new connection", () => {
    let rates = clientRates(noClientRates, [client(0)], 0);
    expect(rates.perSecond.get("c")).toBe(0);
    rates = clientRates(rates, [client(50)], 500);
    expect(rates.perSecond.get("c")).toBe(50);
    rates = clientRates(rates, [client(0, 7)], 1_000);
    expect(rates.perSecond.get("c")).toBe(50);
    expect(clientRates(rates, [client(0, 7)], 1_500).perSecond.get("c")).toBe(25);
    // Two views right after each other are one.
    rates = clientRates(clientRates(rates, [client(9, 7)], 1_010), [client(100, 7)], 2_000);
    expect(rates.perSecond.get("c")).toBe(75);
  });
});
