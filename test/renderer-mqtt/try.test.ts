import { describe, expect, it } from "vitest";
import { firstSubscription, parseSubscribeDraft, type SubscribeDraft } from "../../renderer/src/services/mqtt/try/subscribe-draft.ts";
import { firstTryClient, parseTryClient, type TryClientDraft } from "../../renderer/src/services/mqtt/try/try-client-draft.ts";
import { answerText } from "../../renderer/src/services/mqtt/try/try-subscribe.tsx";

describe("the client of the Try tab", () => {
  it("is an ordinary 5.0 client by default", () => {
    expect(parseTryClient(firstTryClient, "")).toEqual({
      options: { version: 5, clientId: "dashboard", cleanStart: true, sessionExpirySeconds: 0 },
    });
  });

  it("uses name, session and will, and omits what 3.1.1 does not have", () => {
    const draft: TryClientDraft = {
      ...firstTryClient,
      username: "ada",
      cleanStart: false,
      expirySeconds: "600",
      willTopic: "will",
      willPayload: "gone",
      willQos: 2,
      willRetain: true,
      willDelaySeconds: "5",
    };
    const will = { topic: "will", payload: "gone", qos: 2, retain: true };
    expect(parseTryClient(draft, "secret")).toMatchObject({
      options: { username: "ada", password: "secret", cleanStart: false, sessionExpirySeconds: 600, will: { ...will, delaySeconds: 5 } },
    });
    expect(parseTryClient({ ...draft, version: 4 }, "secret")).toMatchObject({
      options: { sessionExpirySeconds: 0, will: { ...will, delaySeconds: 0 } },
    });
    // MQTT 3.1.1 §3.1.2.9
    const nameless = parseTryClient({ ...firstTryClient, version: 4 }, "secret");
    expect("options" in nameless && nameless.options).not.toHaveProperty("password");
  });

  it.each<[Partial<TryClientDraft>, string]>([
    [{ version: 4, clientId: "", cleanStart: false }, "clientId"],
    [{ expirySeconds: "soon" }, "expirySeconds"],
    [{ willTopic: "a/#" }, "willTopic"],
    [{ willDelaySeconds: "-1" }, "willDelaySeconds"],
  ])("%j is refused at %s", (change, field) => expect(parseTryClient({ ...firstTryClient, ...change }, "")).toMatchObject({ field }));
});

describe("a subscription", () => {
  it("uses every option", () => {
    expect(parseSubscribeDraft({ ...firstSubscription, noLocal: true, retainHandling: 2, identifier: " 7 " })).toEqual({
      params: { filter: "test/#", qos: 1, noLocal: true, retainAsPublished: false, retainHandling: 2, identifier: 7 },
    });
    expect(parseSubscribeDraft({ ...firstSubscription, filter: "$share/g/a/+" })).toMatchObject({ params: { filter: "$share/g/a/+" } });
  });

  it.each<[Partial<SubscribeDraft>, string]>([
    [{ filter: "" }, "filter"],
    [{ filter: "a/#/b" }, "filter"],
    [{ filter: "$share/g" }, "filter"],
    [{ filter: "$share/+/a" }, "filter"],
    [{ filter: "$share/g/a", noLocal: true }, "noLocal"],
    [{ identifier: "0" }, "identifier"],
    [{ identifier: "268435456" }, "identifier"],
  ])("%j is refused at %s", (change, field) => expect(parseSubscribeDraft({ ...firstSubscription, ...change })).toMatchObject({ field }));
});

describe("an answer of the broker's", () => {
  it("is shown with its code and its reason string", () => {
    expect([
      answerText({ ok: true, packet: "PUBACK", reason: 0x10, meaning: "no matching subscribers", tookMs: 1 }),
      answerText({ ok: false, packet: "DISCONNECT", reason: 0x98, meaning: "administrative action", text: "Go away.", tookMs: 0 }),
      answerText({ ok: false, meaning: "not connected", tookMs: 0 }),
    ]).toEqual(["PUBACK 0x10 no matching subscribers", "DISCONNECT 0x98 administrative action: Go away.", "not connected"]);
  });
});
