import { createRegistry, type DescMessage } from "@bufbuild/protobuf";
import { file_google_protobuf_wrappers } from "@bufbuild/protobuf/wkt";
import { RE2JS } from "re2js";
import { expect, it, onTestFinished, vi } from "vitest";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { compileConditions, PatternSizes } from "../../servers/grpc/replies/conditions.ts";
import { type ParsedReplies, parseReplies, parseRuleText } from "../../servers/grpc/replies/parse-replies.ts";
import { sizeOfPattern } from "../../servers/grpc/replies/pattern-size.ts";
import { RuleCompiler } from "../../servers/grpc/replies/reply-rules.ts";
import { createServedMethods } from "../../servers/grpc/services/served-methods.ts";
import { countSteps, sayHello, startWithRules } from "./rules.ts";

const limits = { bytes: 1 << 20, rules: 1_000, steps: 10_000 };
const rule = (name: string, message = name) => ({
  name,
  method: "example.Greeter/SayHello",
  when: { request: { name } },
  reply: { message },
});
const many = (count: number) => Array.from({ length: count }, (_, index) => rule(`n${index}`));
const textOf = (rules: readonly object[]) => JSON.stringify({ rules }, null, 1);

function read(text: string, known: ParsedReplies["sources"] = new Map()): ParsedReplies & { readonly steps: number } {
  const { result, count } = countSteps(parseReplies(text, limits, known));
  if ("problems" in result) throw new Error(result.problems[0]?.message);
  return { ...result, steps: count };
}

/** What is served, and how many rules asked for their method. */
async function servedMethods() {
  const pool = await loadOwnProtos();
  const made = createServedMethods({ pool, revision: "1", handlers: {}, replies: [] });
  let asked = 0;
  const find = (path: string) => {
    asked++;
    return made.find(path);
  };
  return { again: () => ({ view: made.view, find }), asked: () => asked };
}

it("[GRPC-355] a file is read and compiled in steps of a rule, and of a changed one only what is new", async () => {
  const served = await servedMethods();
  const current = served.again();
  const compiler = new RuleCompiler(limits.steps);
  const parsed = read(textOf(many(1_000)));
  expect(parsed.steps).toBeGreaterThan(1_000);
  let [before, most] = [0, 0];
  const { result } = countSteps(compiler.compile(parsed, current), () => {
    most = Math.max(most, served.asked() - before);
    before = served.asked();
  });
  expect([served.asked(), most]).toEqual([1_000, 1]);
  const ofPath = result.byPath.get("/example.Greeter/SayHello");
  expect([result.view.length, ofPath?.length]).toEqual([1_000, 1_000]);

  // One is changed, one is new, and the others are moved.
  const rules = many(1_000);
  const changed = [rule("first"), ...rules.slice(500), ...rules.slice(0, 498), rule("n499", "changed")];
  const next = read(textOf(changed), parsed.sources);
  expect(next.rules.filter(({ source }) => parsed.sources.get(source.text) !== source).map(({ key }) => key)).toEqual(["first", "n499"]);
  const compiled = countSteps(compiler.compile(next, current)).result;
  expect(served.asked()).toBe(1_002);
  expect(compiled.byPath.get("/example.Greeter/SayHello")?.[1]).toBe(ofPath?.[500]);

  countSteps(compiler.compile(next, served.again()));
  expect(served.asked()).toBe(2_002);
});

it("[GRPC-355] rules with the same text are compiled once, and have keys of their own", async () => {
  const served = await servedMethods();
  const parsed = read(textOf([rule("a"), rule("a"), rule("a", "other")]));
  expect(parsed.rules.map(({ key }) => key)).toEqual(["a", "a #2", "a #3"]);
  const { byPath } = countSteps(new RuleCompiler(10).compile(parsed, served.again())).result;
  expect(byPath.get("/example.Greeter/SayHello")?.map(({ key }) => key)).toEqual(["a", "a #2", "a #3"]);
  expect(served.asked()).toBe(2);
});

it("[GRPC-355] a script, the conditions of a rule and a text that is no list of rules are read in steps too", async () => {
  const served = await servedMethods();
  const stream = Array.from({ length: 5_000 }, () => ({ message: { id: "{{request.count}}" } }));
  const request = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`nothing${index}`, { matches: "a" }]));
  const parsed = read(textOf([{ method: "example.Greeter/StreamData", when: { request }, stream }]));
  expect(countSteps(new RuleCompiler(10_000).compile(parsed, served.again())).count).toBeGreaterThan(5_500);
  for (const [text, problem] of [
    [`{ "x": [${"0,".repeat(100_000)}0] }`, /it is missing|no field x/],
    [`{ "rules": [${"0,".repeat(100_000)}0] }`, /there are more than 1,000 rules/],
    [`{ ${'"x": 0,'.repeat(100_000)} }`, /one object with the list rules, and nothing else/],
    [`{ "rules": [${",".repeat(100_000)}] }`, /one object with the list rules, and nothing else/],
  ] as const) {
    const { result, count } = countSteps(parseReplies(text, limits, new Map()));
    expect("problems" in result && result.problems[0]?.message).toMatch(problem);
    expect(count).toBeGreaterThan(20);
  }
});

it("[GRPC-355] one rule with thousands of messages is read in steps", () => {
  const stream = Array.from({ length: 5_000 }, () => ({ message: {} }));
  const text = textOf([{ method: "example.Greeter/StreamData", stream }]);
  const own = JSON.stringify({ method: "example.Greeter/StreamData", stream });
  expect(countSteps(parseRuleText(own)).count).toBeGreaterThan(400);
  expect(read(text).steps).toBeGreaterThan(800);
});

it("[GRPC-360] nothing of a list that has more steps than are allowed is compiled", async () => {
  const served = await servedMethods();
  const compiler = new RuleCompiler(100);
  const message = { id: "{{request.count}}" };
  const problemAndSteps = (stream: readonly object[]) => {
    const parsed = read(textOf([{ method: "example.Greeter/StreamData", stream }]));
    const { result, count } = countSteps(compiler.compile(parsed, served.again()));
    return [result.view[0]?.problem?.message, count < 60];
  };
  const text = (place: string) => [`rules[0].${place}: the rule has more steps than are allowed`, true];
  expect(problemAndSteps([{ messages: Array(5_000).fill(message) }])).toEqual(text("stream[0].messages[99]"));
  expect(problemAndSteps(Array(5_000).fill({ message }))).toEqual(text("stream[100]"));
  expect(problemAndSteps([{ message }, { repeat: 2, steps: Array(5_000).fill({ message }) }])).toEqual(text("stream[1].steps[98]"));
  expect(problemAndSteps([{ messages: Array(49).fill({}) }, { repeat: 2, steps: Array(49).fill({ message }) }])[0]).toBeUndefined();
});

it("[GRPC-361] the size of a pattern is known before it is compiled", () => {
  for (const pattern of [
    "^a.*b$",
    "a|b|c",
    "(a|b|cd)*?",
    "\\pL{1,1000}",
    "(?:a|b|c){1,500}",
    "(ab|cd|ef){1,100}",
    "((((a)))){1,200}",
    "(?i)[a-z]{3,40}x?",
    "[]a{3}]{2}",
    "[[:alpha:]{3}]{2}",
    "\\Qa{9}\\E{2}",
    "(?P<n>ab){3}",
    "^(?:[a-z0-9-]{1,63}\\.){1,8}[a-z]{2,63}$",
    "x{3,}",
    "(x{1,30}){1,30}",
    "\\x{10FFFF}{3}\\x41{2}",
    "a\\{3}",
    "\u{1f600}{3}",
  ])
    expect([pattern, sizeOfPattern(pattern) + 2]).toEqual([pattern, RE2JS.compile(pattern).programSize()]);
  for (const text of ["(".repeat(500), ")".repeat(500), "[", "\\", "\\Q", "{2}", "a{2}{3}", "(?P<", "[^"])
    expect(sizeOfPattern(text)).toBeLessThan(3_000);
});

it("[GRPC-361] a pattern that would take long to compile is refused without that", () => {
  const compile = vi.spyOn(RE2JS, "compile");
  onTestFinished(() => compile.mockRestore());
  const problemOf = (matches: string) => {
    const problems: string[] = [];
    const type = createRegistry(file_google_protobuf_wrappers).getMessage("google.protobuf.StringValue") as DescMessage;
    const when = { request: { value: { matches } } };
    countSteps(compileConditions(when, type, false, (_path, message) => problems.push(message), new PatternSizes()));
    return problems[0];
  };
  expect(problemOf("x{1,1000}".repeat(45))).toBe("the pattern repeats too much");
  expect(problemOf(`(?i)${"\\pL".repeat(160)}`)).toBe("the pattern has more than 32 classes of Unicode, such as \\pL");
  expect(compile).not.toHaveBeenCalled();
  expect(problemOf("(\\pL{1,6}\\s){1,40}")).toBeUndefined();
  expect(compile).toHaveBeenCalledOnce();
});

it("[GRPC-365] all patterns of a rule, and of a file, have a size together", async () => {
  const compile = vi.spyOn(RE2JS, "compile");
  onTestFinished(() => compile.mockRestore());
  const served = (await servedMethods()).again();
  const withPatterns = (name: string, count: number) => ({
    ...rule(name),
    when: { metadata: Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, { matches: "a{1000}" }])) },
  });
  const problemsOf = (rules: readonly object[]) => {
    const { result } = countSteps(new RuleCompiler(limits.steps).compile(read(textOf(rules)), served));
    return result.view.flatMap(({ problem }) => problem ?? []);
  };
  expect(problemsOf([withPatterns("a", 5_000)])).toEqual([
    { line: 306, column: 18, message: "rules[0].when.metadata.x-99.matches: the patterns of this rule are too large together" },
  ]);
  expect(compile).toHaveBeenCalledTimes(100);
  const rules = Array.from({ length: 12 }, (_, index) => withPatterns(`n${index}`, 99));
  expect(problemsOf(rules).map(({ message }) => message)).toEqual([
    "rules[11]: the patterns of the rules before this one are too large together",
  ]);
});

it("[GRPC-355] places in a file are found behind its comments, and what is not JSON is told before what has not the form", () => {
  const problems = (text: string) => {
    const { result } = countSteps(parseReplies(text, limits, new Map()));
    return "problems" in result ? result.problems.map(({ line, column, message }) => `${line}:${column} ${message}`) : [];
  };
  expect(problems('// a {\n{ "rules": [ /* [ */\n  { "method": "a.B/C" } // }\n  { "method": 5 }\n] }')).toEqual([
    "4:3 a comma is expected",
  ]);
  expect(problems('{ "rules": [\n  { "method": 5 },\n  { "method": "a.B/C", },\n  { "method" }, 7\n],\n "more": 1 }')).toEqual([
    "4:14 a colon is expected",
  ]);
  expect(problems('{ "rules": [\n  { "method": 5 },\n  7\n],\n "more": { "x": [1] } }')).toEqual([
    "2:15 rules[0].method: a text is needed",
    "3:3 rules[1]: an object is needed",
    "5:10 there is no field more",
  ]);
  expect(problems('{ "rules": [] } /* no end')).toEqual(["1:17 the end of the comment is expected: */"]);
  expect(problems('{ "rules": [{ "method": "a.B/C" }')).toEqual([
    "1:34 a closing bracket ] is expected",
    "1:34 a closing brace } is expected",
  ]);
});

it("[GRPC-355] what the page saves is answered when the action ends, and changes at the same time are made in order", async () => {
  const service = await startWithRules(many(300));
  await Promise.all([
    service.act("reply.move", { key: "n299", to: 0 }),
    service.act("reply.save", { text: JSON.stringify(rule("new")) }),
    service.act("reply.remove", { key: "n0" }),
    service.act("reply.enable", { key: "n1", enabled: false }),
  ]);
  expect((await service.act("replies.read")).rules.map(({ key }) => key).filter((key) => !/^n[2-9]|^n1./.test(key))).toEqual(["n1", "new"]);
  expect((await sayHello(service, "new")).replies[0]?.message).toBe("new");
  expect((await sayHello(service, "n1")).replies[0]?.message).toBe("Hello, n1 from backlot!");
});

it("[GRPC-355] the only rule is removed with the comma behind it", async () => {
  const service = await startWithRules('{ "rules": [\n  { "name": "a", "method": "example.Greeter/SayHello", "reply": {} },\n] }');
  await service.act("reply.remove", { key: "a" });
  expect((await service.act("replies.read")).rules).toEqual([]);
});
