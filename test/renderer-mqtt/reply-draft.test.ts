import { describe, expect, it } from "vitest";
import { type MqttReplyRule, replyRule } from "../../contract/services/mqtt-reply.ts";
import {
  conditionText,
  draftOfRule,
  newReply,
  parseReplyDraft,
  type ReplyDraft,
} from "../../renderer/src/services/mqtt/publish/reply-draft.ts";

const rule = (more: Partial<MqttReplyRule> = {}): MqttReplyRule => ({
  ...replyRule.parse({ filter: "ask" }),
  id: "a",
  answered: 3,
  dropped: 1,
  ...more,
});

describe("an auto-reply rule", () => {
  it.each<MqttReplyRule>([
    rule(),
    rule({ when: { type: "text contains", text: "on" }, topic: "answer", qos: 2, retain: true, delayMs: 50, enabled: false }),
    rule({
      when: { type: "JSON field equals", field: "a.b", value: "" },
      takesCorrelationData: false,
      properties: {
        payloadFormatIndicator: 1,
        messageExpiryInterval: 0,
        contentType: "text/plain",
        responseTopic: "further",
        userProperties: [
          ["site", "b"],
          ["site", "a"],
        ],
      },
    }),
  ])("does not change when it is opened and saved: %j", (given) => {
    const { answered: _, dropped: _1, ...saved } = given;
    expect(parseReplyDraft(draftOfRule(given))).toEqual({ params: saved });
  });

  it.each<[Partial<ReplyDraft>, string]>([
    [{ filter: "a/#/b" }, "filter"],
    [{ condition: "text contains" }, "text"],
    [{ topic: "a/+" }, "topic"],
    [{ expirySeconds: "soon" }, "expirySeconds"],
    [{ responseTopic: "#" }, "responseTopic"],
  ])("says which field is wrong: %j", (part, field) => {
    expect(parseReplyDraft({ ...newReply, ...part })).toEqual({ field, problem: expect.any(String) });
  });

  it("shows its condition in the list", () => {
    expect(conditionText({ type: "any payload" })).toBe("");
    expect(conditionText({ type: "text contains", text: "on" })).toBe("with “on”");
    expect(conditionText({ type: "JSON field equals", field: "a.b", value: "1" })).toBe("with a.b = 1");
    expect(conditionText({ type: "JSON field equals", field: "", value: "1" })).toBe("with JSON = 1");
  });
});
