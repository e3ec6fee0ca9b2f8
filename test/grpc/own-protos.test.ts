import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { describedMessage } from "../../servers/grpc/engine/message-type.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { body, callMethod, openStream } from "./calls.ts";
import { startGrpc } from "./harness.ts";
import { python } from "./python.ts";
import { drop, empty, get, named, polled, protosOf, serviceProto, servicesOf, shop, write } from "./user-protos.ts";

const run = promisify(execFile);

it("[GRPC-154] nothing is kept of an upload that is cancelled, and no more of it is taken", async () => {
  const dataDir = temporaryDir();
  const to = await startGrpc({}, undefined, dataDir);
  await until(() => to.views.has("services"));
  const { upload } = await to.act("protos.begin");
  const pieces = [{ name: "shop.proto", base64: Buffer.from(serviceProto("Shop")).toString("base64") }];
  await to.act("protos.put", { upload, pieces });
  await to.act("protos.cancel", { upload });
  await to.act("protos.cancel", { upload });
  await expect(to.act("protos.put", { upload, pieces })).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
  await expect(to.act("protos.end", { upload })).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
  expect(readdirSync(path.join(dataDir, "protos-incoming"))).toEqual([]);
  expect(servicesOf(to)).toEqual([]);
});

it("[GRPC-80] files, folders, descriptor sets and buf images of the setting are served and reflected; Python calls their samples", async () => {
  const folder = write(temporaryDir(), shop);
  const set = path.join(temporaryDir(), "shop.binpb");
  await run("protoc", ["-I", folder, "--include_imports", `--descriptor_set_out=${set}`, "shop/orders.proto"]);
  const single = write(temporaryDir(), {
    "one.proto": `${serviceProto("One")} import "sub/two.proto";`,
    "sub/two.proto": serviceProto("Two"),
  });
  const stamped = expect.stringMatching(/^2\d{3}-/);
  const item = (number: number) => ({ sku: number === 1 ? "sku" : `sku-${number}`, count: number });
  const order = (number: number) => ({
    name: number === 1 ? "name" : `name-${number}`,
    items: [item(number), item(number + 1)],
    madeAt: stamped,
  });
  for (const protos of [[folder], [set]]) {
    const served = await startGrpc({ protos: [...protos, path.join(single, "one.proto")] });
    await polled(() => servicesOf(served).sort()).toEqual(["shop.One", "shop.Orders", "shop.Two"]);
    const output = JSON.parse(await python("sample_client.py", served.address, "shop.Orders")) as Record<string, unknown>;
    expect(output.replies).toEqual({
      Get: [order(1)],
      Watch: [1, 2, 3, 4, 5].map(order),
      Put: [item(1)],
      Talk: [item(1), item(2)],
    });
    expect(output.files).toMatchObject({
      "shop/orders.proto": ["shop/item.proto", "google/protobuf/timestamp.proto"],
      "one.proto": ["sub/two.proto"],
    });
  }
});

it("[GRPC-191] the record of a call that is answered with a sample says so", async () => {
  const served = await startGrpc({ protos: [write(temporaryDir(), { "a.proto": serviceProto("A") })] });
  const stream = openStream(served.client(), "/shop.A/Get");
  stream.on("data", () => {}).on("error", () => {});
  stream.end();
  const row = await served.ended(({ target }) => target === "/shop.A/Get");
  expect(served.detail(row.id).notes).toEqual(["Sample made from the types: no rule matched"]);
});

it("[GRPC-81] a change on disk is served at once; open calls go on with their types; health watchers are told", async () => {
  const folder = write(temporaryDir(), { "a.proto": serviceProto("A") });
  const served = await startGrpc({ protos: [folder] });
  const { revision: before } = await served.act("schema");
  const talk = openStream(served.client(), "/shop.A/Get");
  const seen: string[] = [];
  talk.on("data", (bytes: Buffer) => seen.push(named.decode(bytes).name));
  const pool = await loadOwnProtos();
  const request = describedMessage<{ readonly service: string }>(pool.message("grpc.health.v1.HealthCheckRequest"));
  const states: number[] = [];
  const watch = openStream(served.client(), "/grpc.health.v1.Health/Watch");
  watch.on("data", (bytes: Buffer) => states.push(bytes[1] ?? 0));
  watch.write(body(request.frame({ service: "shop.A" })));
  watch.end();
  await until(() => states.length === 1);

  // As an editor does: another file is put in its place.
  writeFileSync(path.join(folder, "a.proto.tmp"), serviceProto("B"));
  renameSync(path.join(folder, "a.proto.tmp"), path.join(folder, "a.proto"));
  await until(() => servicesOf(served).join() === "shop.B");
  expect((await get(served, "B")).replies).toEqual([{ name: "name" }]);
  expect((await get(served, "A")).status.code).toBe(12);
  await until(() => states.length === 2);
  expect(states).toEqual([1, 3]);
  talk.end(body(named.frame({ name: "x" })));
  await until(() => seen.length === 1);
  expect(seen).toEqual(["name"]);
  const row = await served.ended(({ target, outcome }) => target === "/shop.A/Get" && outcome === "OK");
  const { revision } = served.detail(row.id).method ?? {};
  expect(revision).toBe(before);
  const schema = await served.act("schema", { revision });
  expect(schema.revision).toBe(before);
  expect(Buffer.from(schema.base64, "base64").includes("AReply")).toBe(true);

  // A folder that comes later, and a file in it.
  write(folder, { "deep/er/c.proto": serviceProto("C") });
  await until(() => servicesOf(served).join() === "shop.B,shop.C");
  write(folder, { "deep/er/d.proto": serviceProto("D") });
  await until(() => servicesOf(served).length === 3);
  rmSync(path.join(folder, "deep"), { recursive: true });
  await until(() => servicesOf(served).join() === "shop.B");
  rmSync(folder, { recursive: true });
  await until(() => servicesOf(served).length === 0);
  write(folder, { "e.proto": serviceProto("E") });
  await until(() => servicesOf(served).join() === "shop.E");
});

it("[GRPC-82] dropped files are kept across restarts, replaced by name, and removed; of equal names the setting's file is served", async () => {
  const dataDir = temporaryDir();
  const folder = write(temporaryDir(), { "a.proto": serviceProto("A") });
  const first = await startGrpc({ protos: [folder] }, undefined, dataDir);
  expect(
    await drop(first, {
      "b.proto": serviceProto("B"),
      "set/c.proto": serviceProto("C"),
      "set/in/d.proto": `${serviceProto("D")} import "c.proto";`,
    }),
  ).toEqual({
    sources: ["dropped b.proto", "dropped set"],
    problems: [],
  });
  await polled(() => servicesOf(first).sort()).toEqual(["shop.A", "shop.B", "shop.C", "shop.D"]);
  const problem = `another file with this name, of ${folder}, is served in its place`;
  expect(await drop(first, { "a.proto": serviceProto("Other") })).toMatchObject({
    problems: [{ source: "dropped a.proto", file: "a.proto", problem }],
  });
  await first.stop();

  const second = await startGrpc({}, undefined, dataDir);
  await expect
    .poll(() => protosOf(second)?.sources)
    .toEqual([
      { id: "dropped a.proto", kind: "dropped", title: "a.proto", files: 1, repeated: 0, services: ["shop.Other"], problems: 0 },
      { id: "dropped b.proto", kind: "dropped", title: "b.proto", files: 1, repeated: 0, services: ["shop.B"], problems: 0 },
      { id: "dropped set", kind: "dropped", title: "set", files: 2, repeated: 0, services: ["shop.C", "shop.D"], problems: 0 },
    ]);
  await drop(second, { "same/b.proto": serviceProto("B"), "same/e.proto": serviceProto("E") });
  const same = { id: "dropped same", kind: "dropped", title: "same", files: 1, repeated: 1, services: ["shop.E"], problems: 0 };
  await polled(() => protosOf(second)?.sources).toContainEqual(same);
  await second.act("protos.remove", { source: "dropped same" });
  await drop(second, { "set/c.proto": serviceProto("C2"), "b.proto": serviceProto("B2") });
  await second.act("protos.remove", { source: "dropped a.proto" });
  await polled(() => servicesOf(second).sort()).toEqual(["shop.B2", "shop.C2"]);
  await expect(second.act("protos.remove", { source: "dropped ../x" })).rejects.toMatchObject({ code: "CALL_INVALID" });
  await second.act("protos.remove", { source: "dropped set" });
  await second.act("protos.remove", { source: "dropped b.proto" });
  await polled(() => servicesOf(second)).toEqual([]);
});

it("[GRPC-84] a broken file is named with its line on the page, in the log and by the action; the good ones go on", async () => {
  const folder = write(temporaryDir(), {
    "bad.proto": 'syntax = "proto3";\nmessage Bad {\n  Nothing a = 1;\n}',
    "good.proto": serviceProto("Good"),
  });
  const gone = path.join(write(temporaryDir(), { "gone.proto": serviceProto("Gone") }), "gone.proto");
  const served = await startGrpc({ protos: [folder, gone] });
  rmSync(gone);
  await until(() => !servicesOf(served).includes("shop.Gone"));
  expect((await get(served, "Good")).status.code).toBe(0);
  const bad = { source: folder, file: "bad.proto", line: 3, column: 11, problem: "there is no type Nothing" };
  await expect
    .poll(() => protosOf(served)?.problems)
    .toEqual([{ source: gone, file: gone, problem: "there is no such file or folder" }, bad]);
  await until(() =>
    served.logs.some(({ level, text }) => level === "warning" && text === `bad.proto:3:11: there is no type Nothing (${folder})`),
  );
  const added = await drop(served, { "worse.proto": "syntax = 'proto3';\n\noops", "fine.proto": serviceProto("Fine") });
  expect(added.problems).toEqual([
    { source: "dropped worse.proto", file: "worse.proto", line: 3, column: 1, problem: '"oops" does not begin a definition' },
  ]);
  expect((await get(served, "Fine")).status.code).toBe(0);
  writeFileSync(path.join(folder, "bad.proto"), serviceProto("Mended"));
  await until(() => servicesOf(served).includes("shop.Mended"));
});

it("[GRPC-231] a path of the setting that is missing, or of which nothing can be served, ends the start", async () => {
  const folder = write(temporaryDir(), {
    "bad.proto": 'syntax = "proto3";\nmessage Bad {\n  Nothing a = 1;\n}',
    "notes.txt": "",
    "good/good.proto": serviceProto("Good"),
  });
  const named = (name: string) => path.join(folder, name);
  const problems = [
    ["gone.proto", "cannot be used: there is no such file or folder"],
    ["bad.proto", "cannot be used: bad.proto:3:11: there is no type Nothing"],
    ["notes.txt", "cannot be used: its name is not that of a .proto file"],
  ] as const;
  for (const [name, problem] of problems) {
    await expect(startGrpc({ protos: [named("good"), named(name)] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`Protocol files: ${named(name)} ${problem}`),
      hint: expect.stringContaining("GRPC_PROTOS"),
      field: { name: "protos" },
    });
  }
  mkdirSync(named("empty"));
  const served = await startGrpc({ protos: [named("empty"), folder] });
  await until(() => servicesOf(served).includes("shop.Good"));
});

it("[GRPC-84] files that import a broken one, maybe through others, are named behind it, as one problem", async () => {
  const importing = (name: string) => `syntax = "proto3";\npackage shop;\nimport "${name}.proto";\nmessage Of${name} {}`;
  const folder = write(temporaryDir(), {
    ...Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`a${index}.proto`, importing(index === 0 ? "bad" : `a${index - 1}`)])),
    "bad.proto": 'syntax = "proto3";\nmessage Bad {\n  Nothing a = 1;\n}',
    "good.proto": serviceProto("Good"),
  });
  const served = await startGrpc({ protos: [folder] });
  await expect
    .poll(() => protosOf(served)?.problems)
    .toEqual([
      { source: folder, file: "bad.proto", line: 3, column: 11, problem: "there is no type Nothing" },
      {
        source: folder,
        file: "bad.proto",
        problem: "a0.proto, a1.proto, a2.proto, a3.proto, a4.proto and 2 more import it and are left out, too",
      },
    ]);
  expect((await get(served, "Good")).status.code).toBe(0);
});

it("[GRPC-85] Backlot's own services and files cannot be replaced; copies of theirs and of Google's files are no problem", async () => {
  const folder = write(temporaryDir(), {
    "mine.proto": 'syntax = "proto3";\npackage example;\nmessage Mine {}\nservice Greeter { rpc SayHello(Mine) returns (Mine); }',
    "example.proto": serviceProto("Taken"),
    "grpc/health/v1/health.proto": serviceProto("Health"),
    "ours.proto": serviceProto("Ours"),
    "google/protobuf/any.proto": 'syntax = "proto3"; package google.protobuf; message Any {}',
    "also.proto": 'syntax = "proto3";\npackage grpc.health.v1;\nservice Health {}',
  });
  const served = await startGrpc({ protos: [folder] });
  await expect
    .poll(() => protosOf(served)?.problems.map(({ file, line, problem }) => `${file}:${line}: ${problem}`))
    .toEqual([
      "example.proto:undefined: Backlot has a file of its own with this name: give it another one",
      "also.proto:3: grpc.health.v1.Health is Backlot's own and cannot be replaced",
      "mine.proto:4: example.Greeter is Backlot's own and cannot be replaced",
    ]);
  const { replies } = await callMethod(served.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }]);
  expect(replies).toEqual([{ message: "Hello, x from backlot!", status: 200 }]);
});

it("[GRPC-89] names do not lead out of a folder, links that lead back end, and what is not UTF-8 is named with its line", async () => {
  const folder = write(temporaryDir(), {
    "latin.proto": Buffer.from('syntax = "proto3";\n// caf\xe9\nmessage A {}', "latin1"),
    "up.proto": 'syntax = "proto3";\nimport "../secret.proto";',
    "in/good.proto": serviceProto("Good"),
  });
  symlinkSync("..", path.join(folder, "in/again"));
  symlinkSync("self.proto", path.join(folder, "self.proto"));
  const served = await startGrpc({ protos: [folder] });
  await expect
    .poll(() => protosOf(served)?.problems.map(({ file, line, column, problem }) => [file, line, column, problem]))
    .toEqual([
      ["in/again", undefined, undefined, "this link leads back to a folder around it, and is left out"],
      ["latin.proto", 2, 7, "the text is not UTF-8 here"],
      ["self.proto", undefined, undefined, "this link leads in a circle"],
      ["up.proto", 2, 8, "there is no file ../secret.proto to import"],
    ]);
  await polled(() => servicesOf(served)).toEqual(["shop.Good"]);
  for (const name of ["../out.proto", "/etc/x.proto", "a/../../b.proto", "a\\b.proto", "", "a//b.proto"]) {
    await expect(drop(served, { [name]: serviceProto("Evil") }), name).rejects.toMatchObject({ code: "CALL_INVALID" });
  }
  await polled(() => protosOf(served)?.sources.length).toBe(1);
});

it("[GRPC-11] details of a status may have the user's types", async () => {
  const served = await startGrpc({ protos: [write(temporaryDir(), { "a.proto": serviceProto("A") })] });
  await polled(() => servicesOf(served)).toEqual(["shop.A"]);
  const metadata = { "x-backlot-status": "ABORTED", "x-backlot-details": '{"@type":"shop.AReply","name":"why"}' };
  const { status } = await callMethod(served.client(), "/shop.A/Get", empty, named, [{}], { metadata });
  expect(status.code).toBe(10);
  expect(String(status.metadata.get("grpc-status-details-bin")[0])).toContain("shop.AReply");
  const web = await fetch(new URL("/shop.A/Get", served.webUrl), {
    method: "POST",
    headers: { "content-type": "application/json", ...metadata },
    body: "{}",
  });
  expect(await web.json()).toMatchObject({ details: [{ type: "shop.AReply", debug: { name: "why" } }] });
});

it("[GRPC-88] descriptor sets that are cut, that lie, miss imports or have files twice are named problems, and the service goes on", async () => {
  const served = await startGrpc({ protos: [write(temporaryDir(), { "good.proto": serviceProto("Good") })] });
  const folder = write(temporaryDir(), shop);
  const built = async (...flags: string[]) => {
    const file = path.join(temporaryDir(), "set.binpb");
    await run("protoc", ["-I", folder, ...flags, `--descriptor_set_out=${file}`, "shop/orders.proto"]);
    return readFileSync(file);
  };
  const whole = await built("--include_imports");
  const added = async (bytes: Uint8Array) =>
    (await drop(served, { "set.binpb": bytes })).problems.map(({ file, problem }) => `${file}: ${problem}`);
  expect(await added(whole)).toEqual([]);
  await polled(() => servicesOf(served).sort()).toEqual(["shop.Good", "shop.Orders"]);
  expect(await added(Buffer.concat([whole, whole]))).toEqual([]);
  expect((await added(await built())).join()).toMatch(/shop\/orders\.proto: .*shop\/item\.proto/);
  await polled(() => servicesOf(served)).toEqual(["shop.Good"]);

  const seed = 88;
  const { below: at } = seededRandom(seed);
  const bad = [
    ...Array.from({ length: 12 }, () => whole.subarray(0, 1 + at(whole.length - 1))),
    ...Array.from({ length: 24 }, () => {
      const changed = Buffer.from(whole);
      for (let count = 1 + at(3); count > 0; count--) changed[at(changed.length)] = at(256);
      return changed;
    }),
    // Field 1 of a length that is not there; the same without end.
    Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07]),
    Buffer.alloc(64, 0xff),
    Buffer.from([0x0b, 0x0b, 0x0b]),
  ];
  for (const [index, bytes] of bad.entries()) {
    const problems = await added(bytes);
    const { sources } = protosOf(served);
    expect(problems.length > 0 || sources.some(({ title }) => title === "set.binpb"), `seed ${seed}, set ${index}`).toBe(true);
    expect((await get(served, "Good")).status.code, `seed ${seed}, set ${index}: ${bytes.toString("hex").slice(0, 80)}`).toBe(0);
  }
  expect((await added(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07]))).length).toBe(1);
  expect(await added(whole)).toEqual([]);
});

it("[GRPC-108] a message that is pushed is of the type that the call began with", async () => {
  const stream = (field: string) => `syntax = "proto3"; package shop; message Tick { string ${field} = 1; }
    service Ticks { rpc Watch(stream Tick) returns (stream Tick); }`;
  const folder = write(temporaryDir(), { "ticks.proto": stream("before") });
  const served = await startGrpc({ protos: [folder] });
  const { revision } = await served.act("schema");
  const watch = openStream(served.client(), "/shop.Ticks/Watch");
  const seen: string[] = [];
  watch.on("data", (bytes: Buffer) => seen.push(named.decode(bytes).name));
  const row = await until(() => served.rows()[0]);
  write(folder, { "ticks.proto": stream("after") });
  await until(async () => (await served.act("schema")).revision !== revision);
  await served.act("call.push", { row: row.id, push: { kind: "message", json: '{"before":"x"}' } });
  await until(() => seen.length === 1);
  expect(seen).toEqual(["x"]);
});
