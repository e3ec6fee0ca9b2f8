import { expect, it } from "vitest";
import { draftOfText, newRuleText, type RuleDraft, textOfDraft } from "../../renderer/src/services/grpc/replies/rule-draft.ts";
import { ruleRows } from "../../renderer/src/services/grpc/replies/rule-rows.ts";

const text = `{
  // kept
  "name": "Ada",
  "method": "a.B/C",
  "when": { "request": { "name": "Ada", "age": { "greater": 3, "less": 9 }, "code": "7" }, "metadata": { "x-a": { "exists": true } }, "messageCount": 3 },
  "headers": { "x": "1" },
  "reply": { "n": 1 }
}`;
const draft = draftOfText(text) as RuleDraft;
const changed = (part: Partial<RuleDraft>, of = text): unknown => {
  const result = textOfDraft(of, { ...(draftOfText(of) as RuleDraft), ...part });
  return "text" in result ? JSON.parse(result.text.replace("// kept", "")) : result;
};

it("[GRPC-110] rules are shown in their order with their counts, and found by name, method, condition or answer", () => {
  const rule = (key: string, method: string) => ({ key, name: "", method, enabled: true, when: "name = Ada", answer: "UNAVAILABLE" });
  const rules = [rule("a", "shop.Orders/Get"), rule("b", "shop.Prices/Watch")];
  const counts = [{ key: "b", matched: 5, answered: 2, lastAt: 1 }];
  expect(ruleRows(rules, counts, "").map(({ key, place, matched, answered }) => [key, place, matched, answered])).toEqual([
    ["a", 1, 0, 0],
    ["b", 2, 5, 2],
  ]);
  expect(ruleRows(rules, counts, " prices ").map(({ key, place }) => [key, place])).toEqual([["b", 2]]);
  expect(ruleRows(rules, counts, "unavailable").length).toBe(2);
  expect(ruleRows(rules, counts, "nothing")).toEqual([]);
});

it("[GRPC-111] the form shows and changes the same text as the JSON; what it does not show stays, comments too", () => {
  expect(draft).toMatchObject({ name: "Ada", method: "a.B/C", answer: "reply", delay: "", times: "" });
  expect(draft.conditions.map(({ of, name, test, value }) => [of, name, test, value])).toEqual([
    ["request", "name", "equals", "Ada"],
    ["request", "age", "greater", "3"],
    ["request", "age", "less", "9"],
    ["request", "code", "equals", '"7"'],
    ["metadata", "x-a", "exists", "true"],
  ]);
  const same = textOfDraft(text, draft);
  expect(same).toEqual({ text });
  const named = textOfDraft(text, { ...draft, name: "Grace", times: "2", delay: "2s" });
  expect("text" in named && named.text).toContain('// kept\n  "name": "Grace"');
  expect(changed({ times: "2", delay: "2s", waitFor: "go" })).toMatchObject({ times: 2, delay: "2s", waitFor: "go", headers: { x: "1" } });
  expect(changed({ conditions: [{ of: "request", name: "age", test: "greater", value: "4" }] })).toMatchObject({
    when: { request: { age: { greater: 4 } }, messageCount: 3 },
  });
  expect(changed({ answer: "status", code: "ABORTED" })).toMatchObject({ status: "ABORTED" });
  expect(changed({ answer: "status", code: "ABORTED" })).not.toHaveProperty("reply");
  expect(changed({ answer: "status", code: "5", message: "gone" })).toMatchObject({ status: { code: 5, message: "gone" } });
  expect(changed({ answer: "stream", json: "[]" })).toMatchObject({ stream: [] });
  expect(changed({ answer: "handler" })).not.toHaveProperty("reply");
  expect(changed({ json: "{" })).toMatchObject({ field: "json" });
  expect(changed({ times: "x" })).toMatchObject({ field: "times" });
  expect(draftOfText("[]")).toBeUndefined();
  expect(draftOfText(newRuleText("a.B/C"))).toMatchObject({ method: "a.B/C", answer: "reply", conditions: [] });
  const stepped = '{ "method": "a.B/C", "delay": { "from": "2s", "step": "-1s" }, "status": { "code": 3, "details": [{}] } }';
  expect(changed({}, stepped)).toEqual(JSON.parse(stepped));
  expect(changed({ code: "NOT_FOUND" }, stepped)).toMatchObject({ status: { code: "NOT_FOUND", details: [{}] } });
});
