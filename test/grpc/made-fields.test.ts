import { writeFileSync } from "node:fs";
import path from "node:path";
import { create, type DescMessage, fromBinary, fromJson, isMessage, toBinary, toJson } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { fieldsOfJson } from "../../servers/grpc/engine/json-fields.ts";
import { fieldsOfMessage, requireMessage } from "../../servers/grpc/engine/message-check.ts";
import { UnreadableRequest } from "../../servers/grpc/engine/status.ts";
import { compileProtos } from "../../servers/grpc/protos/compile-protos.ts";
import { sampleMessage } from "../../servers/grpc/replies/sample-message.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { startGrpc } from "./harness.ts";
import { framed, rawRequest } from "./raw-call.ts";
import { sayHello, startWithRules } from "./rules.ts";

const wideFields = (count: number) =>
  Array.from({ length: count }, (_, index) => `${["string", "int32", "bool", "double"][index % 4]} field_${index} = ${index + 1};`).join(
    " ",
  );

const shop = `syntax = "proto2"; package shop; import "google/protobuf/any.proto"; import "google/protobuf/struct.proto";
message Order { optional string name = 1; repeated Item items = 2; map<string, Item> by_name = 3; optional group Place = 4 { optional string city = 1; }
  repeated group Stop = 5 { repeated Item left = 1; } oneof target { string email = 6; Item item = 7; } optional Order parent = 8;
  repeated int32 counts = 9 [packed = true]; repeated double prices = 10 [packed = true]; optional google.protobuf.Any any = 11; map<int32, string> names = 12;
  optional google.protobuf.Struct extra = 13; }
message Item { optional string sku = 1; repeated string tags = 2; map<string, int32> stock = 3; optional bytes token = 4; }`;

function shopTypes() {
  const { registry, errors } = compileProtos({ sources: [{ name: "shop.proto", text: shop }] });
  expect(errors).toEqual([]);
  const order = registry.getMessage("shop.Order") as DescMessage;
  return { registry, order };
}

/** The fields of all messages that a decoded one has. */
function fieldsIn(value: unknown, typeOf: (name: string) => DescMessage | undefined): number {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 0;
  const own = isMessage(value) ? (typeOf(value.$typeName)?.fields.length ?? 0) : 0;
  return Object.values(value).reduce((sum: number, inner) => sum + fieldsIn(inner, typeOf), own);
}

it("[GRPC-350] no fewer fields are counted in bytes than are made of them, also in damaged ones (seeded)", () => {
  const { registry, order } = shopTypes();
  const random = seededRandom(350);
  let decoded = 0;
  for (let round = 0; round < 3_000; round++) {
    const bytes = Buffer.concat([sampleMessage(order, 1 + random.below(4)), sampleMessage(order, 1)]);
    for (let changes = random.below(5); changes > 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
    let counted = 0;
    try {
      counted = fieldsOfMessage(bytes, order, 1_000_000, registry);
    } catch (error) {
      expect(error).toBeInstanceOf(UnreadableRequest);
      continue;
    }
    let made = 0;
    try {
      made = fieldsIn(fromBinary(order, bytes, { readUnknownFields: false }), (name) => registry.getMessage(name));
    } catch {
      // Text that is not UTF-8.
      continue;
    }
    decoded++;
    expect(counted, bytes.toString("hex")).toBeGreaterThanOrEqual(made);
  }
  expect(decoded).toBeGreaterThan(100);
});

it("[GRPC-350] the same in JSON, and within an Any", () => {
  const { registry, order } = shopTypes();
  const inner = fromBinary(order, sampleMessage(order, 2));
  const json = toJson(order, inner, { registry });
  const made = fieldsIn(fromJson(order, json, { registry }), (name) => registry.getMessage(name));
  expect(fieldsOfJson(json, order, 1_000_000, registry)).toBeGreaterThanOrEqual(made - 2);
  const outer = fromJson(order, { any: { "@type": "type.googleapis.com/shop.Order", ...(json as object) } }, { registry });
  expect(outer).toMatchObject({ any: anyPack(order, inner) });
  const bytes = toBinary(order, outer);
  expect(fieldsOfMessage(bytes, order, 1_000_000, registry)).toBeGreaterThan(made);
  expect(fieldsOfJson(toJson(order, outer, { registry }), order, 1_000_000, registry)).toBeGreaterThan(made);
});

it("[GRPC-350] a message is checked without being made: what is valid passes, what is broken does not, whatever comes (seeded)", () => {
  const { order } = shopTypes();
  const random = seededRandom(351);
  const isValid = (bytes: Uint8Array) => {
    try {
      requireMessage(bytes, order);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(UnreadableRequest);
      return false;
    }
  };
  for (let number = 1; number < 20; number++) expect(isValid(sampleMessage(order, number))).toBe(true);
  const deep = (levels: number) => {
    let bytes = Buffer.alloc(0);
    for (let level = 0; level < levels; level++) {
      const length = bytes.length < 0x80 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
      bytes = Buffer.concat([Buffer.from([0x42, ...length]), bytes]);
    }
    return bytes;
  };
  for (const valid of [
    [],
    [0x0a, 1, 0x61],
    // An unknown field, and one that has come as another wire type than its own.
    [0xa0, 0x06, 1],
    [0x08, 5],
    // A group, and a packed list.
    [0x23, 0x0a, 1, 0x61, 0x24],
    [0x4a, 2, 0x80, 1],
    [0x52, 8, 0, 0, 0, 0, 0, 0, 0, 0],
    deep(99),
  ])
    expect(isValid(Buffer.from(valid)), Buffer.from(valid).toString("hex")).toBe(true);
  for (const broken of [
    // Cut; longer than its message.
    [0x0a],
    [0x0a, 5, 0x61],
    [0x12, 2, 0x0a, 5, 0x61, 0x61, 0x61, 0x61, 0x61],
    // No field 0, no wire type 6, an end without a group, a group without its end or with that of another.
    [0x00, 1],
    [0x0e, 1],
    [0x24],
    [0x23, 0x0a, 1, 0x61],
    [0x23, 0x2c],
    // Parts of numbers.
    [0x4a, 1, 0x80],
    [0x52, 7, 0, 0, 0, 0, 0, 0, 0],
    deep(102),
  ])
    expect(isValid(Buffer.from(broken)), Buffer.from(broken).toString("hex")).toBe(false);
  for (let round = 0; round < 3_000; round++) {
    const bytes = Buffer.from(sampleMessage(order, 1 + random.below(4)));
    for (let changes = random.below(5); changes >= 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
    isValid(bytes.subarray(0, random.below(bytes.length + 1)));
  }
});

const trees = `edition = "2023"; package trees;
message Tree { string name = 1; map<string, Tree> trees = 2; repeated int32 counts = 3; int64 count = 4; string any = 5 [features.utf8_validation = NONE]; }`;

it("[GRPC-353] a request is valid where protobuf says so: texts of proto2 may be no UTF-8, entries of maps are no level of their own, numbers have ten bytes", () => {
  const { registry, errors } = compileProtos({ sources: [{ name: "trees.proto", text: trees }] });
  expect(errors).toEqual([]);
  const tree = registry.getMessage("trees.Tree") as DescMessage;
  const { order } = shopTypes();
  const areValid = (type: DescMessage, messages: readonly (readonly number[] | Uint8Array)[]) =>
    messages.map((message) => {
      const bytes = Uint8Array.from(message);
      const isDecoded = holds(() => fromBinary(type, bytes, { readUnknownFields: false }));
      return [isDecoded, holds(() => requireMessage(bytes, type))];
    });
  const inMaps = (levels: number) => {
    let bytes: Uint8Array = new Uint8Array();
    for (let level = 1; level < levels; level++) bytes = toBinary(tree, create(tree, { trees: { "": fromBinary(tree, bytes) } } as never));
    return bytes;
  };
  const text = [1, 0xff];
  const number = (bytes: number) => [...Array<number>(bytes - 1).fill(0xff), 1];
  const yes = [true, true];
  const no = [false, false];
  // Also as a key of a map, in a list, in another message and in a group.
  const proto2 = [
    [0x0a, ...text],
    [0x1a, 3, 0x0a, ...text],
    [0x12, 3, 0x12, ...text],
    [0x23, 0x0a, ...text, 0x24],
  ];
  expect(areValid(order, proto2)).toEqual(proto2.map(() => yes));
  const strict = [
    [0x0a, ...text],
    [0x12, 3, 0x0a, ...text],
    [0x2a, ...text],
  ];
  expect(areValid(tree, strict)).toEqual([no, no, yes]);
  expect(areValid(tree, [inMaps(100), [0x20, ...number(10)], [0x1a, 11, 1, ...number(10)]])).toEqual([yes, yes, yes]);
  expect(
    areValid(tree, [
      [0x20, ...number(11)],
      [0x1a, 12, 1, ...number(11)],
    ]),
  ).toEqual([no, no]);
});

function holds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

const wide = `syntax = "proto3"; package wide; message Item { ${wideFields(1_000)} } message Items { repeated Item items = 1; } message Few { repeated Small items = 1; }
message Small { string a = 1; } message Ok { string a = 1; } service Wide { rpc Put(Items) returns (Ok); rpc Map(Few) returns (Items); }`;

it("[GRPC-350] 130,000 messages of two bytes with 1,000 fields each are answered with a sample, and as JSON refused", async () => {
  const dir = temporaryDir();
  writeFileSync(path.join(dir, "wide.proto"), wide);
  const service = await startGrpc({ protos: [dir] });
  const many = framed(Buffer.alloc(260_000, Buffer.from([0x0a, 0])));
  expect((await rawRequest(service, { ":path": "/wide.Wide/Put" }, many)).fields).toMatchObject({ "grpc-status": "0" });
  expect((await rawRequest(service, { ":path": "/wide.Wide/Put" }, framed(Buffer.from([0x0a, 5])))).fields).toMatchObject({
    "grpc-status": "13",
  });
  const put = async (items: number) => {
    const body = JSON.stringify({ items: Array(items).fill({}) });
    const response = await fetch(`${service.webUrl}/wide.Wide/Put`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return response.json();
  };
  expect(await put(100)).toEqual({ a: "a" });
  for (const items of [5_000, 130_000]) expect(await put(items)).toMatchObject({ code: "resource_exhausted" });
});

it("[GRPC-354] what a rule makes of a request for header fields, trailers or its status message is bounded, and other calls go on", async () => {
  const status = { code: "ABORTED", message: "{{request.name}}" };
  for (const rule of [{ headers: { "x-echo": "{{request.name}}" } }, { trailers: { "x-echo": "{{request.name}}" } }, { status }]) {
    const service = await startWithRules([
      { method: "example.Greeter/SayHello", ...("status" in rule ? rule : { ...rule, reply: { message: "ok" } }) },
    ]);
    const called = async (name: string) => (await sayHello(service, name)).status;
    expect((await called("é".repeat(1_000_000))).code).toBe(8);
    expect((await called("short")).code).toBe("status" in rule ? 10 : 0);
  }
});
