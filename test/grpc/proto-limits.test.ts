import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { callMethod } from "./calls.ts";
import { type GrpcUnderTest, startGrpc } from "./harness.ts";
import { python } from "./python.ts";
import { drop, polled, protosOf, serviceProto, servicesOf, shop, write } from "./user-protos.ts";

const run = promisify(execFile);
const problemsOf = (served: GrpcUnderTest) => protosOf(served)?.problems.map(({ file, problem }) => `${file}: ${problem}`);

it("[GRPC-86] bytes, files and types are bounded by settings: what is too much is named, and the rest is served", async () => {
  const files = { "a.proto": serviceProto("A"), "b.proto": serviceProto("B"), "c.proto": serviceProto("C") };
  const folder = write(temporaryDir(), files);
  const limited = async (limits: object) => {
    const served = await startGrpc({ protos: [folder], ...limits });
    await polled(() => servicesOf(served).length).toBeGreaterThan(0);
    await polled(() => problemsOf(served)?.length).toBe(1);
    return [servicesOf(served).sort(), problemsOf(served)];
  };
  const bytes = files["a.proto"].length * 2;
  const leftOut = (limit: string) => `c.proto: with it there would be more than ${limit} in all: it and what follows are left out`;
  expect(await limited({ protoFiles: 2 })).toEqual([["shop.A", "shop.B"], [leftOut("2 files")]]);
  expect(await limited({ protoBytes: bytes })).toEqual([["shop.A", "shop.B"], [leftOut(`${bytes} bytes`)]]);
  expect(await limited({ protoTypes: 6 })).toEqual([
    ["shop.A", "shop.B"],
    ["c.proto: with its 3 messages, enums and methods there would be more than 6 in all"],
  ]);
  const served = await startGrpc({ protoFiles: 2 });
  await expect(drop(served, files)).rejects.toMatchObject({ code: "CALL_INVALID", message: "There are more than 2 files" });

  // One file is made into types within one step of the service.
  const messages = Array.from({ length: 5_001 }, (_, index) => `message M${index} {}`).join("\n");
  const long = `syntax = "proto3"; package shop; message Long { string a = 1 [json_name = "${"x".repeat(1 << 20)}"]; }`;
  const large = write(temporaryDir(), { "many.proto": `syntax = "proto3"; package shop;\n${messages}`, "long.proto": long });
  write(large, { "small.proto": serviceProto("Small") });
  const other = await startGrpc({ protos: [large] });
  await polled(() => servicesOf(other)).toEqual(["shop.Small"]);
  await polled(() => problemsOf(other)).toEqual([
    expect.stringMatching(/^long\.proto: its descriptor has \d+ bytes; that of one file may have 1048576$/),
    "many.proto: it has 5001 messages, enums and methods; one file may have 5000",
  ]);
});

it("[GRPC-87] of 100,000 types those up to the limit are served and the rest is named, and the calls of others go on", async () => {
  const files: Record<string, string> = {};
  for (let file = 10; file < 35; file++) {
    const types = Array.from(
      { length: 4_000 },
      (_, index) => `message F${file}M${index} { F${file}M${index - (index % 10) + ((index + 1) % 10)} next = 1; }`,
    );
    const rpcs = `service S${file} { rpc Get(F${file}M0) returns (F${file}M3999); }`;
    files[`f${file}.proto`] = `syntax = "proto3"; package big;\n${types.join("\n")}\n${rpcs}`;
  }
  const folder = temporaryDir();
  const served = await startGrpc({ protos: [folder] });
  const client = served.client();
  const hello = () => callMethod(client, "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "bystander" }]);
  write(folder, files);
  let calls = 0;
  for (; servicesOf(served).length < 4; calls++) expect((await hello()).status.code).toBe(0);
  expect(calls).toBeGreaterThan(20);
  expect(servicesOf(served).sort()).toEqual(["big.S10", "big.S11", "big.S12", "big.S13"]);
  await polled(() => problemsOf(served)?.length).toBe(21);
  expect(problemsOf(served)).toContain("f14.proto: with its 4002 messages, enums and methods there would be more than 20000 in all");
  const output = JSON.parse(await python("sample_client.py", served.address, "big.S12")) as { replies: object };
  expect(output.replies).toEqual({ Get: [expect.any(Object)] });
}, 180_000);

it("[GRPC-87] types and imports in circles: those of types are served, those of imports are named", async () => {
  const folder = write(temporaryDir(), {
    "tree.proto": `syntax = "proto2"; package shop; message Tree { optional Tree left = 1; repeated Leaf leaves = 2; map<string, Tree> named = 3; }
      message Leaf { oneof one { Tree tree = 1; Leaf leaf = 2; } } service Trees { rpc Get(Tree) returns (Leaf); }`,
    "one.proto": 'syntax = "proto3"; import "two.proto";',
    "two.proto": 'syntax = "proto3"; import "one.proto";',
    "self.proto": 'syntax = "proto3"; import "self.proto";',
  });
  const served = await startGrpc({ protos: [folder] });
  await polled(() => servicesOf(served)).toEqual(["shop.Trees"]);
  await polled(() => problemsOf(served)?.sort()).toEqual([
    "self.proto: self.proto imports this file too: the imports are circular",
    "two.proto: one.proto imports it and is left out, too",
    "two.proto: one.proto imports this file too: the imports are circular",
  ]);
  const { replies } = JSON.parse(await python("sample_client.py", served.address, "shop.Trees")) as { replies: { Get: object[] } };
  expect(replies.Get.length).toBe(1);
});

it("[GRPC-80] buf images, serialized and as JSON, beside each other and beside a descriptor set of the same files", async () => {
  const folder = write(temporaryDir(), shop);
  const file = path.join(temporaryDir(), "set.binpb");
  const flags = ["--include_imports", "--include_source_info", `--descriptor_set_out=${file}`];
  await run("protoc", ["-I", folder, ...flags, "shop/orders.proto"]);
  const plain = fromBinary(FileDescriptorSetSchema, readFileSync(file));
  // What buf adds: field 8042 of each file says whether it is there only because another one imports it.
  const image = (isImport: (name: string) => boolean) => {
    const set = fromBinary(FileDescriptorSetSchema, readFileSync(file));
    for (const each of set.file) each.$unknown = [{ no: 8_042, wireType: 2, data: Uint8Array.from([2, 8, isImport(each.name) ? 1 : 0]) }];
    return toBinary(FileDescriptorSetSchema, set);
  };
  const json = JSON.parse(toJsonString(FileDescriptorSetSchema, plain)) as { file: object[] };
  const jsonImage = JSON.stringify({
    file: json.file.map((each) => ({ ...each, bufExtension: { isImport: false, unusedDependency: [1] } })),
  });
  const served = await startGrpc();
  const sets: readonly Readonly<Record<string, string | Uint8Array>>[] = [
    { "image.binpb": image((name) => name !== "shop/orders.proto") },
    { "image.bin": image(() => false), "set.pb": readFileSync(file) },
    { "image.json": jsonImage },
  ];
  for (const files of sets) {
    const { sources, problems } = await drop(served, files);
    expect(problems).toEqual([]);
    await polled(() => servicesOf(served)).toEqual(["shop.Orders"]);
    const [only, ...others] = sources;
    if (only !== undefined && others.length === 0) await served.act("protos.remove", { source: only });
  }
  const output = JSON.parse(await python("sample_client.py", served.address, "shop.Orders")) as { files: object };
  expect(output.files).toMatchObject({ "shop/orders.proto": ["shop/item.proto", "google/protobuf/timestamp.proto"] });
});
