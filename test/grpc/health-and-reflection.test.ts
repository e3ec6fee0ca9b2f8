import path from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { describedMessage } from "../../servers/grpc/engine/message-type.ts";
import { compileProtos } from "../../servers/grpc/protos/compile-protos.ts";
import { createDescriptorPool } from "../../servers/grpc/protos/descriptor-pool.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { reflection } from "../../servers/grpc/services/reflection.ts";
import { createServedMethods } from "../../servers/grpc/services/served-methods.ts";
import { until } from "../support/until.ts";
import { body, callMethod, openStream } from "./calls.ts";
import { startGrpc } from "./harness.ts";
import { python } from "./python.ts";

const pool = await loadOwnProtos();
const healthRequest = describedMessage<{ readonly service: string }>(pool.message("grpc.health.v1.HealthCheckRequest"));
const healthReply = describedMessage<{ readonly status: number }>(pool.message("grpc.health.v1.HealthCheckResponse"));
const listReply = describedMessage<{ readonly statuses: Record<string, { readonly status: number }> }>(
  pool.message("grpc.health.v1.HealthListResponse"),
);
const serving = 1;
const notServing = 2;
const unknown = 3;

it("[GRPC-20] health: Check and List answer for the server and each service, an unknown one is NOT_FOUND", async () => {
  const service = await startGrpc();
  const client = service.client();
  const check = (name: string) => callMethod(client, "/grpc.health.v1.Health/Check", healthRequest, healthReply, [{ service: name }]);
  expect((await check("")).replies).toMatchObject([{ status: serving }]);
  expect((await check("example.Greeter")).replies).toMatchObject([{ status: serving }]);
  expect((await check("no.Such")).status.code).toBe(5);
  await service.act("health.set", { service: "example.Greeter", state: "NOT_SERVING" });
  expect((await check("example.Greeter")).replies).toMatchObject([{ status: notServing }]);
  const { replies } = await callMethod(client, "/grpc.health.v1.Health/List", healthRequest, listReply, [{ service: "" }]);
  expect(replies[0]?.statuses).toMatchObject({
    "": { status: serving },
    "example.Greeter": { status: notServing },
    "example.ChatService": { status: serving },
  });
  await expect(service.act("health.set", { service: "no.Such", state: "SERVING" })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[GRPC-21] watchers see a switch at once, and NOT_SERVING before the service stops", async () => {
  const service = await startGrpc();
  const watch = (name: string) => {
    const seen: number[] = [];
    const stream = openStream(service.client(), "/grpc.health.v1.Health/Watch");
    stream.on("data", (bytes: Buffer) => seen.push(healthReply.decode(bytes).status));
    const ended = new Promise<number>((resolve) => stream.on("status", ({ code }) => resolve(code)));
    stream.write(body(healthRequest.frame({ service: name })));
    stream.end();
    return { seen, ended };
  };
  const [greeter, missing] = [watch("example.Greeter"), watch("no.Such")];
  await until(() => greeter.seen.length === 1 && missing.seen.length === 1);
  await service.act("health.set", { service: "example.Greeter", state: "NOT_SERVING" });
  await until(() => greeter.seen.length === 2);
  await service.act("health.set", { service: "example.Greeter", state: "NOT_SERVING" });
  await service.act("health.set", { service: "example.Greeter", state: "SERVING" });
  await until(() => greeter.seen.length === 3);
  await expect.poll(() => service.views.get("health")).toMatchObject({ states: expect.arrayContaining([["example.Greeter", "SERVING"]]) });
  await service.stop();
  expect(await greeter.ended).toBe(14);
  expect([greeter.seen, missing.seen]).toEqual([[serving, notServing, serving, notServing], [unknown]]);
});

it("[GRPC-30] Python finds, by reflection alone, every service, method and type, and calls each pattern", async () => {
  const service = await startGrpc({ serverId: "here" });
  for (const version of ["v1", "v1alpha"]) {
    const output = JSON.parse(await python("reflection_client.py", service.address, version)) as Record<string, unknown>;
    expect(output).toEqual({
      services: [
        "example.ChatService",
        "example.EchoService",
        "example.Greeter",
        "example.StreamService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
      ],
      unary: { message: "Hello, Py from here!", status: 200 },
      serverStream: ["p-0", "p-1", "p-2"],
      clientStream: "Received 3 messages",
      bidiStream: ["Echo: a", "Echo: b"],
      health: 1,
      error: ["UNAVAILABLE", "UNAVAILABLE was asked for"],
      missing: 5,
    });
  }
});

it("[GRPC-31] reflection serves files under their names with their imports, symbols of every kind, and extensions", async () => {
  const sources = [
    { name: "a/base.proto", text: 'syntax = "proto2"; package a; message Base { extensions 100 to 200; enum Kind { ONE = 1; } }' },
    {
      name: "b/more.proto",
      text: `syntax = "proto2"; package b; import "a/base.proto"; import "google/protobuf/timestamp.proto";
        extend a.Base { optional string note = 150; optional More more = 120; }
        message More { optional google.protobuf.Timestamp at = 1; oneof choice { a.Base base = 2; } }
        service S { rpc Do(More) returns (a.Base); }`,
    },
  ];
  const { files } = compileProtos({ sources });
  const served = createDescriptorPool(files);
  const handlers = reflection(pool, () => served);
  expect(
    createServedMethods({ pool, revision: "", handlers, replies: [] }).find("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"),
  ).toBeDefined();
  const file = served.fileOfSymbol("b.S.Do");
  expect(file?.proto.name).toBe("b/more.proto");
  expect(file && fromBinary(FileDescriptorProtoSchema, served.bytes(file)).dependency).toEqual([
    "a/base.proto",
    "google/protobuf/timestamp.proto",
  ]);
  for (const symbol of ["a.Base", "a.Base.Kind", "a.Base.ONE", "b.note", "b.More.at", "b.More.choice", "b.S"]) {
    expect(served.fileOfSymbol(symbol), symbol).toBeDefined();
  }
  expect(served.extensionNumbers("a.Base")).toEqual([120, 150]);
  expect(served.extensionNumbers("b.More")).toEqual([]);
  expect(served.extensionNumbers("b.Nothing")).toBeUndefined();
  expect(served.extension("a.Base", 150)?.file.proto.name).toBe("b/more.proto");
});

it("[GRPC-31] Python asks for files, symbols of every kind and extensions of proto2, on one stream, by both versions", async () => {
  const service = await startGrpc({ protos: [path.join(import.meta.dirname, "protos")] });
  const symbol = (name: string) => ({ file_containing_symbol: name });
  const extension = (type: string, number: number) => ({
    file_containing_extension: { containing_type: type, extension_number: number },
  });
  const symbols = [
    ...["my.test.S", "my.test.S.B", "my.test.M", "my.test.M.Inner", "my.test.M.Inner.E", "my.test.M.Inner.A", "my.test.M.Grp.In"],
    ...["my.test.M.choice", "my.test.M.c1", "my.test.M.mp_field", "my.test.TWO", "my.test.ext_of_opt", "my.test.M.Inner.nested_ext"],
  ];
  const asked = [
    { file_by_filename: "sub/base.proto" },
    ...symbols.map(symbol),
    symbol("my.test.sub.Base"),
    extension("my.test.Opt", 102),
    extension("google.protobuf.FieldOptions", 50_002),
    { all_extension_numbers_of_type: "my.test.Opt" },
    { all_extension_numbers_of_type: "google.protobuf.FieldOptions" },
    { all_extension_numbers_of_type: "my.test.sub.Base" },
    ...[symbol("my.test.Nothing"), symbol("my.test.M.Inner.E.A"), extension("my.test.Opt", 199)],
    ...[{ file_by_filename: "none.proto" }, { all_extension_numbers_of_type: "my.test.Kind" }, {}],
  ];
  for (const version of ["v1", "v1alpha"]) {
    const output = JSON.parse(await python("symbols_client.py", service.address, version, JSON.stringify(asked))) as {
      answers: unknown[];
    };
    expect(output).toMatchObject({
      types: {
        "my.test.M": expect.arrayContaining(["s", "grp", "c1", "og", "mp_field", "in", "at"]),
        "my.test.M.Inner": ["up", "base", "e"],
        "my.test.Opt": ["a", "b", "many", "nested", "kind", "m", "any", "f", "g"],
        "my.test.sub.Base": expect.any(Array),
      },
      extensions: ["my.test.M.Inner.nested_ext", "my.test.ext_of_opt", "my.test.packed_ext"],
    });
    const [base, first, ...rest] = output.answers;
    expect(base).toEqual(["sub/base.proto"]);
    // With what it imports and was not sent yet.
    const imports = ["google/protobuf/any.proto", "google/protobuf/descriptor.proto", "google/protobuf/timestamp.proto"];
    expect((first as string[])[0]).toBe("all.proto");
    expect((first as string[]).slice(1).sort()).toEqual(imports);
    expect(rest).toEqual([
      ...symbols.slice(1).map(() => ["all.proto"]),
      ["sub/base.proto"],
      ["all.proto"],
      ["all.proto"],
      { "my.test.Opt": [100, 101, 102] },
      { "google.protobuf.FieldOptions": [50_000, 50_002] },
      { "my.test.sub.Base": [] },
      ...[5, 5, 5, 5, 5, 3],
    ]);
  }
});
