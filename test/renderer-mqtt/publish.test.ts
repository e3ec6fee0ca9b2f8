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
  /** The rates of views at these times, of a client that has sent as many messages as `sent` says. */
  const ratesAt = (times: readonly number[], sent: (at: number) => number) => {
    let rates = noClientRates;
    return times.map((at) => {
      rates = clientRates(rates, [client(sent(at))], at);
      return rates.perSecond.get("c") ?? Number.NaN;
    });
  };
  /** Views about every half second, as a busy process has them. */
  const times = Array.from({ length: 80 }, (_, index) => index * 500 + ((index * 37) % 11) * 10);

  it("[MQTT-545] of one message a second is about 1, whenever a view comes", () => {
    for (const phase of [0, 130, 480, 510, 730, 990]) {
      const rates = ratesAt(times, (at) => Math.floor((at + phase) / 1_000));
      expect(Math.max(...rates)).toBeLessThan(1.5);
      const settled = rates.slice(12);
      expect(Math.min(...settled)).toBeGreaterThan(0.85);
      expect(Math.max(...settled)).toBeLessThan(1.2);
    }
  });
  it("[MQTT-545] of one message a second stays about 1 in views that are a second apart", () => {
    const rates = ratesAt(
      times.filter((_, index) => index % 2 === 0),
      (at) => Math.floor(at / 1_000),
    );
    expect(Math.min(...rates.slice(6))).toBeGreaterThan(0.8);
    expect(Math.max(...rates.slice(6))).toBeLessThan(1.3);
  });
  it("[MQTT-545] falls at once where no more comes, and is 0 after 5 s", () => {
    const rates = ratesAt(times, (at) => Math.min(at, 10_000) / 10);
    const at = (ms: number) => rates[times.findIndex((time) => time >= ms)] ?? Number.NaN;
    expect(at(9_000)).toBeCloseTo(100, 0);
    expect(at(12_000)).toBeLessThan(75);
    expect(at(15_500)).toBe(0);
  });
  it("is 0 in the first view, and again with a new connection", () => {
    let rates = clientRates(noClientRates, [client(20)], 0);
    expect(rates.perSecond.get("c")).toBe(0);
    // Of less than a second it is not known how long it goes on.
    rates = clientRates(rates, [client(70)], 500);
    expect(rates.perSecond.get("c")).toBe(50);
    rates = clientRates(rates, [client(0, 7)], 1_000);
    expect(rates.perSecond.get("c")).toBe(0);
    expect(clientRates(rates, [client(0, 7)], 1_500).perSecond.get("c")).toBe(0);
    expect(clientRates(rates, [], 1_500).perSecond.size).toBe(0);
  });
});
