import { chmodSync, lstatSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openRepliesFile } from "../../servers/grpc/replies/replies-file.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { type RulesUnderTest, sayHello, startWithRules } from "./rules.ts";

const hello = async (service: RulesUnderTest) => (await sayHello(service, "x")).replies[0]?.message;
const helloRule = (message: unknown, more: object = {}) => ({ method: "example.Greeter/SayHello", ...more, reply: { message } });

it("[GRPC-104] the page edits rules in place: comments, links and permissions stay, counts too, and a stale or broken change is refused", async () => {
  const service = await startWithRules(
    "{}".replace(
      "{}",
      '{\n  // Ours\n  "rules": [\n    /* first */ { "name": "a", "method": "example.Greeter/SayHello", "times": 1, "reply": { "message": "a" } },\n    // second\n    {\n      "name": "b", // named\n      "method": "example.Greeter/SayHello",\n      "reply": { "message": "b" }\n    },\n  ],\n}\n',
    ),
  );
  chmodSync(service.file, 0o640);
  const linked = path.join(temporaryDir(), "linked.json");
  renameSync(service.file, linked);
  symlinkSync(linked, service.file);
  await until(() => service.replies().rules.length === 2);
  const text = () => readFileSync(linked, "utf8");
  const { act } = service;
  expect([await hello(service), await hello(service)]).toEqual(["a", "b"]);
  const { rules } = await service.act("replies.read");
  expect(rules[1]?.text).toBe('{\n  "name": "b", // named\n  "method": "example.Greeter/SayHello",\n  "reply": { "message": "b" }\n}');

  const before = rules[1]?.text ?? "";
  await act("reply.save", { key: "b", before, text: before.replace('"message": "b"', '"message": "B"') });
  await act("reply.move", { key: "b", to: 0 });
  expect(await hello(service)).toBe("B");
  await act("reply.enable", { key: "b", enabled: false });
  await act("reply.save", { text: '// new\n{ "name": "c", "method": "example.Greeter/SayHello", "reply": { "message": "c" } } // end' });
  // The first one has answered already.
  expect(await hello(service)).toBe("c");
  expect(text()).toBe(
    '{\n  // Ours\n  "rules": [\n    /* first */ {\n      "name": "b", // named\n      "method": "example.Greeter/SayHello",\n      "reply": { "message": "B" },\n      "enabled": false\n    },\n    // second\n    { "name": "a", "method": "example.Greeter/SayHello", "times": 1, "reply": { "message": "a" } },\n    { "name": "c", "method": "example.Greeter/SayHello", "reply": { "message": "c" } },\n  ],\n}\n',
  );
  await act("reply.reset", { key: "a" });
  expect(await hello(service)).toBe("a");
  await act("reply.enable", { key: "b", enabled: true });
  await act("reply.remove", { key: "a" });
  const shown = () => service.replies().rules.map(({ key, enabled }) => [key, enabled]);
  await until(
    () =>
      shown()
        .map(([key]) => key)
        .join() === "b,c",
  );
  expect(shown()).toEqual([
    ["b", true],
    ["c", true],
  ]);
  expect(lstatSync(service.file).isSymbolicLink()).toBe(true);
  expect(statSync(linked).mode & 0o777).toBe(0o640);

  const saved = text();
  await expect(act("reply.save", { key: "b", text: '{\n  "method": 5\n}' })).rejects.toThrow("Line 2, column 13: method: a text is needed");
  const { revision } = await service.act("replies.read");
  await expect(act("replies.write", { revision, text: "{" })).rejects.toThrow("Line 1, column 2: a closing brace } is expected");
  await expect(act("replies.write", { revision: revision - 1, text: "" })).rejects.toThrow("were changed elsewhere");
  await expect(act("reply.save", { key: "b", before: "{}", text: rules[0]?.text ?? "" })).rejects.toThrow("were changed elsewhere");
  await expect(act("reply.remove", { key: "z" })).rejects.toThrow("There is no such reply rule");
  // It changes on disk when nobody has seen it yet.
  writeFileSync(linked, '{ "rules": [] }');
  await expect(act("reply.remove", { key: "b" })).rejects.toThrow("were changed elsewhere");
  expect([saved.length > 100, text()]).toEqual([true, '{ "rules": [] }']);
});

it("[GRPC-330] changes of rules at the same time are made one after the other; a rule that differs from what was changed is not overwritten", async () => {
  const service = await startWithRules([helloRule("a", { name: "a" }), helloRule("b", { name: "b" })]);
  const { rules } = await service.act("replies.read");
  const before = rules.find(({ key }) => key === "a")?.text ?? "";
  const text = before.replace('"message": "a"', '"message": "A"').replace('"message":"a"', '"message":"A"');
  expect(text).not.toBe(before);
  await Promise.all([
    service.act("reply.enable", { key: "a", enabled: false }),
    service.act("reply.enable", { key: "a", enabled: true }),
    service.act("reply.move", { key: "b", to: 0 }),
    service.act("reply.enable", { key: "b", enabled: false }),
  ]);
  expect(await hello(service)).toBe("a");
  const now = (await service.act("replies.read")).rules.find(({ key }) => key === "a")?.text ?? "";
  const saves = [text, text.replace('"A"', '"other"')].map((next) => service.act("reply.save", { key: "a", before: now, text: next }));
  expect((await Promise.allSettled(saves)).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await hello(service)).toBe("A");
});

it("[GRPC-366] an editor that saves the file while a change is written is not overwritten", async () => {
  const folder = temporaryDir();
  const file = path.join(folder, "replies.json");
  writeFileSync(file, "old");
  const releases: (() => void | Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const release of releases) await release();
  });
  const texts: string[] = [];
  const replies = await openRepliesFile({
    file,
    mostBytes: 1_000,
    onText: (text) => void texts.push(text),
    onProblem: (message) => expect.fail(message),
    onStop: (release) => void releases.push(release),
  });
  let asked = 0;
  await replies.change(async () => {
    if (asked++ < 2) writeFileSync(file, `edited ${asked}`);
    return `${texts.at(-1)}, changed`;
  });
  expect(readFileSync(file, "utf8")).toBe("edited 2, changed");
  expect(readdirSync(folder)).toEqual(["replies.json"]);
  // An editor empties the file before it writes it.
  writeFileSync(file, "");
  setTimeout(() => writeFileSync(file, "written"), 40);
  await replies.change(async () => `${texts.at(-1)}, changed`);
  expect(readFileSync(file, "utf8")).toBe("written, changed");
  let count = 0;
  const endless = replies.change(async () => {
    writeFileSync(file, `again ${count++}`);
    return "changed";
  });
  await expect(endless).rejects.toThrow("another program writes it again and again");
  expect(readFileSync(file, "utf8")).toMatch(/^again \d+$/);
});
