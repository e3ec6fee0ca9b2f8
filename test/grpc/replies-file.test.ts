import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import path from "node:path";
import { expect, it } from "vitest";
import type { ReplyCount } from "../../contract/services/grpc-replies.ts";
import { flatMessage } from "../../servers/grpc/engine/message-type.ts";
import { parsePath } from "../../servers/grpc/replies/field-path.ts";
import { parseReplies } from "../../servers/grpc/replies/parse-replies.ts";
import { parseTemplate } from "../../servers/grpc/replies/template.ts";
import { clientMessage, dataRequest, serverResponse } from "../../servers/grpc/services/example-messages.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { body, callMethod, openStream } from "./calls.ts";
import { onEnd, startGrpc } from "./harness.ts";
import { clientStream, countSteps, type RulesUnderTest, sayHello, startWithRules } from "./rules.ts";

const hello = async (service: RulesUnderTest) => (await sayHello(service, "x")).replies[0]?.message;
const helloRule = (message: unknown, more: object = {}) => ({ method: "example.Greeter/SayHello", ...more, reply: { message } });

it("[GRPC-101] a broken file is named with line, column and what is expected there, and the last good rules go on", async () => {
  const service = await startWithRules([helloRule("good")]);
  const broken = async (text: string) =>
    (await service.rules(text)).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
  expect(await broken('{\n  "rules": [\n    { "method" "x" }\n  ]\n}')).toEqual(["3:16 a colon is expected"]);
  expect(await broken('{ "rules": [{ "method": "example.Greeter" }] }')).toEqual([
    '1:25 rules[0].method: A method is "package.Service/Method", or "package.Service/*" for all methods of a service',
  ]);
  expect(await broken('{\n "rules": [{ "method": "a.B/C", "delay": 5,\n "sometimes": 3 }] }')).toEqual([
    '2:42 rules[0].delay: A delay is a time with its unit, such as "250ms", or an object with from and step',
    "3:15 rules[0]: there is no field sometimes",
  ]);
  expect(await broken('{ "rules": [{ "method": "a.B/C", "stream": [{ "pause": "1s", "message": {} }] }] }')).toEqual([
    "1:45 rules[0].stream[0]: A step has one of message, messages, pause, waitFor, release, repeat, status",
  ]);
  expect(await broken('{ "rules": [], "rules": [] }')).toEqual(['1:16 there are two fields "rules"']);
  expect(await broken(`{ "rules": ${"[".repeat(500)} }`)).toEqual(["1:111 there are more than 100 objects and lists within each other"]);
  expect(await hello(service)).toBe("good");
  expect(service.replies().rules).toMatchObject([{ method: "example.Greeter/SayHello" }]);
  const text = expect.stringContaining(`${service.file}:3:16: a colon is expected`);
  expect(service.logs).toContainEqual(expect.objectContaining({ level: "warning", text }));
  expect((await service.rules('{ "rules": [/* none */] // yet\n}')).problems).toEqual([]);
  expect(await hello(service)).toBe("Hello, x from backlot!");
});

it("[GRPC-102] what does not fit the types is named, the other rules answer; what only a call shows ends it with INTERNAL", async () => {
  const service = await startWithRules([
    helloRule(5),
    { method: "example.Greeter/SayHello", when: { request: { "nme.x": 1 } }, reply: {} },
    { method: "example.Greeter/SayGoodbye", reply: {} },
    { method: "grpc.health.v1.Health/Check", reply: {} },
    { method: "example.Greeter/SayHello", stream: [{ message: {} }] },
    { method: "example.Greeter/StreamData", stream: [{ message: { id: "{{request.nothing}}" } }, { message: { id: 1.5 } }] },
    { method: "example.Greeter/StreamData", stream: [{ repeat: "until the client leaves", steps: [{ release: "x" }] }] },
    { method: "example.Greeter/SayHello", status: { code: "OKAY", details: [{ "@type": "Nothing" }] } },
    { method: "example.ChatService/Chat", reply: { presence: { members: "all" }, joined: { name: "x" } } },
    { method: "example.Greeter/SayHello", when: { request: { name: { matches: "(" } } }, reply: {} },
    { method: "example.Greeter/SayHello", when: { request: { name: { matches: "((a{1,100}){1,100}){1,100}" } } }, reply: {} },
    { method: "example.Greeter/SayHello", reply: { status: "{{request.name}}" } },
  ]);
  expect(service.replies().rules.map(({ problem }) => problem?.message)).toEqual([
    "rules[0].reply.message: a string is expected",
    'rules[1].when.request["nme.x"]: there is no field "nme" in example.HelloRequest; there are name',
    "rules[2].method: there is no method SayGoodbye in example.Greeter; there are SayHello, StreamData, ClientStream, BidirectionalStream",
    "rules[3].method: reflection and health cannot have rules",
    "rules[4].stream: this method answers with one message: use reply, with delay or waitFor if it has to wait",
    'rules[5].stream[0].message.id: there is no field "nothing" in example.DataRequest; there are count, prefix',
    "rules[6].stream[0].steps: what is repeated until the client leaves has a message, a pause of more than 0 or a waitFor",
    expect.stringContaining("rules[7].status.code: a status is expected: 0 to 16, or one of OK, CANCELLED"),
    "rules[8].reply.presence.members: a list is expected",
    expect.stringContaining("rules[9].when.request.name.matches: a pattern in RE2 syntax is expected"),
    expect.stringContaining("rules[10].when.request.name.matches: "),
    undefined,
  ]);
  expect(service.replies().rules[0]?.problem).toMatchObject({ line: 6, column: 20 });
  const { status } = await sayHello(service, "seven");
  expect(status).toMatchObject({ code: 13, details: expect.stringContaining("the reply rule example.Greeter/SayHello cannot answer") });
  expect((await sayHello(service, "7")).replies).toEqual([{ message: "", status: 7 }]);
  await until(() => service.logs.find(({ text }) => text.includes("Reply rule example.Greeter/SayHello ended /example.Greeter/SayHello")));
});

it("[GRPC-103] changes on disk are used at once, also where the file is replaced, removed or made again; without the setting it is in the data folder", async () => {
  const service = await startWithRules([helloRule("one")]);
  const answers = (message: string) => until(async () => (await hello(service)) === message);
  const other = `${service.file}.new`;
  writeFileSync(other, JSON.stringify({ rules: [helloRule("two")] }));
  renameSync(other, service.file);
  await until(() => service.replies().rules[0]?.answer.includes("two"));
  expect(await hello(service)).toBe("two");
  rmSync(service.file);
  await until(() => service.replies().rules.length === 0);
  await until(() => service.logs.find(({ level, text }) => level === "warning" && text.startsWith(`${service.file} is missing or empty`)));
  writeFileSync(service.file, JSON.stringify({ rules: [helloRule("three")] }));
  await until(() => service.replies().rules.length === 1);
  expect(await hello(service)).toBe("three");
  await answers("three");

  const dataDir = temporaryDir();
  const plain = await startGrpc({}, undefined, dataDir);
  const view = () => plain.views.get("replies");
  expect(await until(view)).toMatchObject({ file: path.join(dataDir, "replies.jsonc"), isConfigured: false, rules: [], problems: [] });
  expect(existsSync(view()?.file ?? "")).toBe(false);
  await plain.act("reply.save", {
    text: '{ "method": "example.Greeter/SayHello", "reply": { "message": "kept" } }',
  });
  expect((await sayHello(plain, "x")).replies[0]?.message).toBe("kept");
  expect(statSync(view()?.file ?? "").mode & 0o777).toBe(0o600);
});

it("[GRPC-102] a rule answers as soon as its method is served, and no longer with a type that has changed", async () => {
  const protos = temporaryDir();
  const serve = (field: string) =>
    writeFileSync(
      path.join(protos, "one.proto"),
      `syntax = "proto3"; package shop; message Named { string ${field} = 1; } service One { rpc Get(Named) returns (Named); }`,
    );
  const service = await startWithRules([{ method: "shop.One/Get", reply: { name: "ruled" } }], { protos: [protos] });
  const problem = () => service.replies().rules[0]?.problem?.message;
  expect(problem()).toContain("there is no service shop.One");
  serve("name");
  await expect.poll(problem).toBeUndefined();
  const named = flatMessage("shop.Named", { name: [1, "string"] });
  const { replies } = await callMethod(service.client(), "/shop.One/Get", named, named, [{ name: "" }]);
  expect(replies).toEqual([{ name: "ruled" }]);
  serve("title");
  await expect.poll(problem).toContain("name");
});

it("[GRPC-155] a text is checked before it is saved: its syntax, its form, and whether it fits the types, by its own lines", async () => {
  const service = await startWithRules([]);
  const check = async (of: "file" | "rule", text: string) =>
    (await service.act("replies.check", { of, text })).problems.map(({ line, column, message }) => [
      line,
      column,
      message.split(/[:;]/)[0],
    ]);
  const good = '{\n  "method": "example.Greeter/SayHello",\n  "reply": { "status": 1 }\n}';
  expect(await check("rule", good)).toEqual([]);
  expect(await check("file", `{ "rules": [${good}] }`)).toEqual([]);
  expect(await check("rule", good.replace("1 }", '"one" }'))).toEqual([[3, 24, "reply.status"]]);
  expect(await check("rule", good.replace('"reply"', '"answer"'))).toEqual([[3, 13, "there is no field answer"]]);
  expect(await check("rule", good.replace("1 }", "1"))).toMatchObject([[4, 2, "a closing brace } is expected"]]);
  expect(await check("rule", good.replace("SayHello", "SayBye"))).toMatchObject([[2, 13, expect.stringContaining("method")]]);
  const two = `{ "rules": [\n${good.replace("SayHello", "SayBye")},\n${good.replace("1 }", '"one" }')}] }`;
  expect((await check("file", two)).map(([line]) => line)).toEqual([3, 8]);
  expect(service.replies().rules).toEqual([]);
});

it("[GRPC-105] the size of the file, its rules and the steps of a rule are bounded; nothing is written that is broken", async () => {
  const service = await startWithRules([helloRule("good")], { replyFileBytes: 2_048, replyRules: 3, replySteps: 4 });
  expect((await service.rules(" ".repeat(3_000))).problems).toMatchObject([{ message: "the file is longer than 2,048 bytes" }]);
  expect((await service.rules([1, 2, 3, 4].map(() => helloRule("x")))).problems).toMatchObject([
    { message: "there are more than 3 rules" },
  ]);
  const many = await service.rules([
    { method: "example.Greeter/StreamData", stream: [{ messages: [{}, {}, {}] }, { message: {} }, { message: {} }] },
  ]);
  expect(many.rules).toMatchObject([{ problem: { message: "rules[0].stream[0].messages[1]: the rule has more steps than are allowed" } }]);
});

it("[GRPC-230] a configured replies file that is missing, unreadable or broken ends the start", async () => {
  const folder = temporaryDir();
  mkdirSync(path.join(folder, "folder"));
  writeFileSync(path.join(folder, "broken.jsonc"), '{ "rules": [\n{ "method" 1 } ] }');
  const problems = [
    ["gone.jsonc", "cannot be read"],
    ["folder", "is not a regular file"],
    ["broken.jsonc", "has a problem in line 2, column 12: a colon is expected"],
  ] as const;
  for (const [name, problem] of problems) {
    const repliesFile = path.join(folder, name);
    await expect(startGrpc({ repliesFile })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(new RegExp(`^Replies file: .*/${name} .*${problem}`)),
      hint: expect.stringContaining("GRPC_REPLIES"),
      field: { name: "repliesFile" },
    });
  }
  writeFileSync(path.join(folder, "empty.jsonc"), "");
  await startGrpc({ repliesFile: path.join(folder, "empty.jsonc") });
});

it("[GRPC-94] an answer whose call ends during its delay is a match, and no answer", async () => {
  const service = await startWithRules([{ method: "example.Greeter/SayHello", delay: "30s", times: 1, reply: { message: "late" } }]);
  const { status } = await sayHello(service, "x", { deadlineMs: 1_000 });
  expect(status.code).toBe(4);
  const counts = () => (service.views.get("replyCounts") as { counts: readonly ReplyCount[] } | undefined)?.counts;
  await until(() => service.rows().every(({ tone }) => tone !== "pending") && (counts()?.length ?? 0) > 0);
  expect(counts()).toMatchObject([{ matched: 1, answered: 0 }]);
  // It was the one time of the rule.
  expect((await sayHello(service, "x")).replies[0]?.message).toBe("Hello, x from backlot!");
});

it("[GRPC-106] an endless script without a pause leaves other calls their time, and a client that does not read gets no more than its window", async () => {
  const endless = { repeat: "until the client leaves", steps: [{ message: { value: "x".repeat(1_000) } }] };
  const service = await startWithRules([
    { method: "example.Greeter/StreamData", stream: [endless] },
    {
      method: "example.Greeter/BidirectionalStream",
      when: { request: { message: "flood" } },
      stream: [{ repeat: "until the client leaves", steps: [{ message: { response: "x" } }] }],
    },
  ]);
  let received = 0;
  let isEchoed = false;
  const reading = openStream(service.client(), "/example.Greeter/StreamData").on("data", () => received++);
  reading.end(body(dataRequest.frame({ count: 1, prefix: "x" })));
  const talking = openStream(service.client(), "/example.Greeter/BidirectionalStream").on("data", (bytes: Buffer) => {
    isEchoed ||= serverResponse.decode(bytes).response === "Echo: other";
  });
  for (const message of ["flood", "flood", "other"]) talking.write(body(clientMessage.frame({ clientId: "t", message, sequence: 1 })));
  // grpc-js reads ahead; this client does not.
  const session = connect(`http://${service.address}`);
  onEnd(() => session.destroy());
  const unread = session.request({
    ":method": "POST",
    ":path": "/example.Greeter/StreamData",
    "content-type": "application/grpc",
    te: "trailers",
  });
  unread.on("error", () => {}).end(Buffer.alloc(5));
  // The scripts have no end: nothing is answered after them, only between their messages.
  for (let call = 0; call < 20; call++) expect((await sayHello(service, "bystander")).status.code).toBe(0);
  await until(() => received > 100 && isEchoed);
  for (const stream of [reading, talking]) stream.cancel();
  const open = () => service.rows().filter(({ tone, target }) => tone === "pending" && target === "/example.Greeter/StreamData");
  await until(() => open().length === 1);
  const row = () => service.rows().find(({ tone, target }) => tone === "pending" && target === "/example.Greeter/StreamData");
  // What fits its window, and no more.
  let sent = -1;
  for (let before = -2; sent !== before; ) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    [before, sent] = [sent, (await until(row)).bytesOut];
  }
  expect(sent).toBeLessThan(1 << 20);
  unread.close(8);
  await until(() => !row());
});

it("[GRPC-107] no text of rules, paths or placeholders makes their readers throw in another way or hang", () => {
  const limits = { bytes: 1 << 20, rules: 1_000, steps: 1_000 };
  const seedText = JSON.stringify(
    {
      rules: [
        {
          name: "x",
          method: "a.B/C",
          when: { request: { "a[0].b": { matches: "^x", greater: 3 } } },
          times: 3,
          delay: { from: "1s", step: "-1ms" },
          reply: { a: '{{request.a[0]["x"]}}' },
        },
        { method: "a.B/*", stream: [{ repeat: 3, steps: [{ pause: "1s" }, { message: null }] }, { status: { code: 3, details: [{}] } }] },
      ],
    },
    null,
    1,
  );
  let seed = 20_261_122;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return seed % below;
  };
  const pieces = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "//",
    "/*",
    "*/",
    "\\",
    "\\u00",
    "1e999",
    "-",
    "true",
    "{{",
    "}}",
    "'",
    "\n",
    "\0",
    "é",
    "[".repeat(200),
    '"__proto__":',
  ];
  const changed = (text: string) => {
    let next = text;
    for (let count = 1 + random(4); count > 0; count--) {
      const at = random(next.length + 1);
      next = next.slice(0, at) + (random(3) === 0 ? "" : pieces[random(pieces.length)]) + next.slice(at + random(6));
    }
    return next;
  };
  let good = 0;
  for (let round = 0; round < 3_000; round++) {
    const text = changed(seedText);
    const { result } = countSteps(parseReplies(text, limits, new Map()));
    if ("problems" in result) {
      const lines = text.split("\n").length;
      for (const { line, column, message } of result.problems)
        expect(line >= 1 && line <= lines && column >= 1 && message !== "", text).toBe(true);
      expect(result.problems.length).toBeGreaterThan(0);
    } else good++;
    parsePath(changed('a.b[0]["c.d"].e'));
    try {
      parseTemplate(changed("x {{request.a[0].b}} and {{metadata.x-y}} {{'{{'}}"), undefined);
    } catch (error) {
      expect((error as Error).message).toMatch(/placeholder|value|message|metadata/);
    }
  }
  expect(good).toBeGreaterThan(20);
});

it("[GRPC-107] a pattern takes linear time, whatever a client sends", async () => {
  const service = await startWithRules([
    { method: "example.Greeter/ClientStream", when: { request: { message: { matches: "^(a+)+$" } } }, reply: {} },
  ]);
  // By trying all ways to divide them, it would not end.
  const { status } = await clientStream(service, [`${"a".repeat(16_000)}!`]);
  expect(status.code).toBe(0);
});
