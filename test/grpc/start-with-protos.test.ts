/** A start waits for the user's protocol files: who calls as soon as it listens gets their services. */
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { CompileWorkerClient } from "../../servers/grpc/user-protos/compile-worker-client.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { type GrpcUnderTest, startGrpc } from "./harness.ts";
import { startWithRules } from "./rules.ts";
import { drop, get, polled, protosOf, serviceProto, servicesOf, write } from "./user-protos.ts";

type Compile = CompileWorkerClient["compile"];

/** Puts `instead` before each compilation. */
function beforeCompilations(instead: (compile: () => ReturnType<Compile>) => ReturnType<Compile>): void {
  const { compile } = CompileWorkerClient.prototype;
  const spy = vi.spyOn(CompileWorkerClient.prototype, "compile").mockImplementation(function (this: CompileWorkerClient, job) {
    return instead(() => compile.call(this, job));
  });
  onTestFinished(() => void spy.mockRestore());
}

/** A service whose protocol files are not compiled until `go` is called; `started` is whether it listens. */
function startHeld(config: Record<string, unknown>) {
  const { promise: held, resolve: go } = Promise.withResolvers<void>();
  beforeCompilations((compile) => held.then(compile));
  const told: string[] = [];
  const result = { told, go, isStarted: false, started: undefined as unknown as Promise<GrpcUnderTest> };
  result.started = startGrpc(config, undefined, temporaryDir(), (doing) => told.push(doing)).then((service) => {
    result.isStarted = true;
    return service;
  });
  result.started.catch(() => {});
  return result;
}

const protos = () => write(temporaryDir(), { "a.proto": serviceProto("A") });
const rules = [{ name: "mine", method: "shop.A/Get", reply: { name: "by a rule" } }];
const rulesFile = () => path.join(write(temporaryDir(), { "rules.json": JSON.stringify({ rules }) }), "rules.json");
const known = ({ logs }: GrpcUnderTest) => logs.filter(({ level, notable }) => level === "warning" || notable).map(({ text }) => text);

it("[GRPC-340] the service listens when its protocol files are served, says meanwhile what it does, and finds nothing wrong with their rules", async () => {
  const start = startHeld({ protos: [protos()], repliesFile: rulesFile() });
  await until(() => start.told.length > 1);
  expect(new Set(start.told)).toEqual(new Set(["compiling protocol files"]));
  expect(start.isStarted).toBe(false);
  start.go();
  const served = await start.started;
  expect((await get(served, "A")).replies).toEqual([{ name: "by a rule" }]);
  expect(known(served)).toEqual([]);
});

it("[GRPC-340] so it does with files that were dropped", async () => {
  const dataDir = temporaryDir();
  const first = await startGrpc({}, undefined, dataDir);
  await drop(first, { "a.proto": serviceProto("A") });
  await first.stop();
  const served = await startGrpc({ repliesFile: rulesFile() }, undefined, dataDir);
  expect((await get(served, "A")).replies).toEqual([{ name: "by a rule" }]);
  expect(known(served)).toEqual([]);
});

it("[GRPC-340] files that change whenever they are read do not keep it from listening", async () => {
  const folder = protos();
  let reads = 0;
  let changes = true;
  beforeCompilations(async (compile) => {
    const result = await compile();
    if (changes) writeFileSync(path.join(folder, `b${reads++}.proto`), serviceProto(`B${reads}`));
    return result;
  });
  const served = await startGrpc({ protos: [folder] });
  expect((await get(served, "A")).status.code).toBe(0);
  changes = false;
  await polled(() => servicesOf(served).length).toBe(reads + 1);
});

it("[GRPC-341] nothing of a path can be served: the start fails, however long that takes to see", async () => {
  const start = startHeld({ protos: [write(temporaryDir(), { "a.proto": "syntax = 'proto3';\noops" })] });
  await until(() => start.told.length > 0);
  start.go();
  await expect(start.started).rejects.toMatchObject({ code: "CONFIG_INVALID", field: { name: "protos" } });
});

it("[GRPC-341] files that cannot be compiled at all end the start where the setting names some; dropped ones are a problem on the page", async () => {
  const dataDir = temporaryDir();
  const first = await startGrpc({}, undefined, dataDir);
  await drop(first, { "a.proto": serviceProto("A") });
  await first.stop();
  beforeCompilations(() => Promise.reject(new Error("it takes too much memory")));
  await expect(startGrpc({ protos: [protos()] })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: "Protocol files cannot be used: it takes too much memory",
    hint: expect.stringContaining("Name fewer files"),
  });
  const served = await startGrpc({}, undefined, dataDir);
  await polled(() => protosOf(served)?.problems[0]?.problem).toMatch(/it takes too much memory$/);
});

it("[GRPC-342] what was said of a rule and of protocol files is taken back when it is not true any more", async () => {
  const folder = write(temporaryDir(), { "b.proto": serviceProto("B"), "a.proto": "syntax = 'proto3';\noops" });
  const served = await startWithRules(rules, { protos: [folder] });
  const { file } = served;
  const unused = expect.stringMatching(/there is no service shop\.A;.*This reply rule is not used\.$/);
  await until(() => known(served).length === 2);
  expect(known(served)).toEqual([expect.stringContaining('"oops"'), unused]);
  writeFileSync(path.join(folder, "a.proto"), serviceProto("A"));
  await until(() => known(served).length === 4);
  expect(known(served).slice(2).sort()).toEqual([
    `${file}: the reply rule mine is used now.`,
    "Protocol files served: 2, from sources: 1, with services: 2. None has a problem any more.",
  ]);
  expect((await get(served, "A")).replies).toEqual([{ name: "by a rule" }]);

  rmSync(path.join(folder, "a.proto"));
  await until(() => known(served).length === 5);
  expect(known(served).at(-1)).toEqual(unused);
  await served.rules([{ method: "shop.B/Get", reply: {} }]);
  await until(() => known(served).length === 6);
  expect(known(served).at(-1)).toBe(`${file}: no reply rule has a problem any more.`);

  await served.rules("{ oops");
  await served.rules(rules.map((rule) => ({ ...rule, method: "shop.B/Get" })));
  await until(() => known(served).length === 8);
  expect(known(served).slice(6)).toEqual([
    expect.stringMatching(/The last valid reply rules stay in use\.$/),
    `${file} has no problem any more: its reply rules are in use.`,
  ]);
});
