import { expect, it } from "vitest";
import { formProblem } from "../../renderer/src/services/grpc/replies/form-problem.ts";
import {
  callOfRule,
  draftOfText,
  newRuleText,
  type RuleDraft,
  rebased,
  textOfDraft,
  withoutName,
} from "../../renderer/src/services/grpc/replies/rule-draft.ts";
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
  for (const value of ["1.0", "1e3", "-0", "9007199254740993"]) {
    const id = { of: "request", name: "id", test: "equals", value } as const;
    const typed = changed({ conditions: [id] });
    expect(typed).toMatchObject({ when: { request: { id: value } } });
    expect(draftOfText(JSON.stringify(typed))?.conditions).toEqual([id]);
  }
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

it("[GRPC-351] a condition without its field is refused, and not left out", () => {
  const unnamed = { of: "request", name: " ", test: "equals", value: "bad" } as const;
  const problem = { field: "conditions", problem: "Condition 2 is of no field: enter which, or remove it." };
  expect(changed({ conditions: [{ ...unnamed, name: "name" }, unnamed] })).toEqual(problem);
  expect(
    changed({
      conditions: [
        { ...unnamed, name: "name" },
        { ...unnamed, of: "metadata", value: "" },
      ],
    }),
  ).toEqual(problem);
  expect(changed({ conditions: [{ ...unnamed, name: "name" }] })).toMatchObject({ when: { request: { name: "bad" } } });
  // As a file may have it.
  const odd = '{ "method": "a.B/C", "when": { "request": { "": 1 } }, "reply": {} }';
  expect(changed({ name: "x" }, odd)).toMatchObject({ name: "x", when: { request: { "": 1 } } });
});

it("[GRPC-111] the details of a status are typed as one JSON object or a list of them", () => {
  const refused = '{ "method": "a.B/C", "status": "ABORTED" }';
  const detail = { "@type": "RetryInfo", retryDelay: "2s" };
  const withDetails = changed({ details: JSON.stringify(detail) }, refused);
  expect(withDetails).toMatchObject({ status: { code: "ABORTED", details: [detail] } });
  expect(changed({ details: "" }, JSON.stringify(withDetails))).toEqual({ method: "a.B/C", status: { code: "ABORTED" } });
  expect(changed({ details: "{" }, refused)).toMatchObject({ field: "details" });
  expect(changed({ details: "[1]" }, refused)).toMatchObject({ field: "details" });
});

it("[GRPC-156] a rule that was switched in the file meanwhile keeps what was typed; one that changed otherwise is not overwritten", () => {
  const base = '{ "method": "a.B/C", "reply": {} }';
  const unsaved = { base, text: '{ "method": "a.B/C", "reply": { "n": 1 } }' };
  const off = '{ "method": "a.B/C", "reply": {}, "enabled": false }';
  const next = rebased(unsaved, off);
  expect(next.base).toBe(off);
  expect(JSON.parse(next.text)).toEqual({ method: "a.B/C", reply: { n: 1 }, enabled: false });
  expect(rebased(next, base)).toMatchObject({ base });
  expect(JSON.parse(rebased(next, base).text)).toEqual(JSON.parse(unsaved.text));
  expect(rebased(unsaved, base)).toBe(unsaved);
  expect(rebased(unsaved, '{ "method": "a.B/C", "reply": { "n": 2 } }')).toBe(unsaved);
  const both = rebased(unsaved, '{ "method": "a.B/C", "reply": { "n": 2 }, "enabled": false }');
  expect([both.text, both.base].map((text) => JSON.parse(text))).toEqual([
    { method: "a.B/C", reply: { n: 1 }, enabled: false },
    { method: "a.B/C", reply: {}, enabled: false },
  ]);
});

it("[GRPC-157] a rule is tried with what its conditions name, and its copy has no name", () => {
  const conditions = [
    { of: "request", name: "address.city", test: "equals", value: "Rome" },
    { of: "request", name: "address.zip", test: "equals", value: '"00100"' },
    { of: "request", name: "age", test: "equals", value: "7" },
    { of: "request", name: "items[0].id", test: "equals", value: "x" },
    { of: "request", name: "size", test: "greater", value: "3" },
    { of: "metadata", name: "x-tenant", test: "equals", value: "7" },
  ] as const;
  expect(callOfRule({ ...draft, conditions })).toEqual({
    message: { address: { city: "Rome", zip: "00100" }, age: 7 },
    metadata: [["x-tenant", "7"]],
  });
  expect(JSON.parse(withoutName(text).replace("// kept", ""))).not.toHaveProperty("name");
});

it.each([
  ["reply.message: a string is expected", "Answer, message", "a string is expected"],
  ['reply["a: b"].c[0]: there is: one', 'Answer, ["a: b"].c[0]', "there is: one"],
  ["stream[1].message.x: a number is expected", "Answer, step 2, message.x", "a number is expected"],
  ["stream: a list is expected", "Answer", "a list is expected"],
  ["status.code: no such code", "Answer, code", "no such code"],
  ["when.request.name.equals: a value is expected", "When, request.name.equals", "a value is expected"],
  ["waitFor: a text is expected", "Waits for", "a text is expected"],
  ["every: a number is expected", "every", "a number is expected"],
])("[GRPC-370] %s is told in the form by its fields", (message, place, needed) => {
  expect(formProblem(message)).toEqual({ place, needed });
});

it("[GRPC-370] what is about no field is told with its line in the form too", () => {
  expect(formProblem("the end of the comment is expected: */")).toBeUndefined();
  expect(formProblem("this is not JSON")).toBeUndefined();
});
