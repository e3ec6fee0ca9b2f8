import { fromBinary, toJson } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { compileProtos } from "../../servers/grpc/protos/compile-protos.ts";
import { sampleMessage } from "../../servers/grpc/replies/sample-message.ts";

const text = `syntax = "proto2"; package shop;
  import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/wrappers.proto";
  import "google/protobuf/struct.proto"; import "google/protobuf/any.proto"; import "google/protobuf/empty.proto";
  enum State { UNKNOWN = 0; OPEN = 3; CLOSED = 4; }
  message Order {
    required string name = 1; optional int64 total = 2; optional double price = 3; optional bool paid = 4; optional bytes token = 5;
    optional State state = 6; repeated string tag = 7; repeated Item items = 8; map<string, int32> counts = 9;
    oneof target { string email = 10; Item item = 11; }
    optional Order parent = 12; repeated Order children = 13; map<int32, Order> by_number = 14;
    optional google.protobuf.Timestamp created_at = 15; optional google.protobuf.Duration ttl = 16;
    optional google.protobuf.StringValue note = 17; optional google.protobuf.Struct extra = 18; optional google.protobuf.Any any = 19;
    optional google.protobuf.Empty nothing = 20; optional group Place = 21 { optional string city = 1; }
    optional string callback_url = 22; optional uint32 small = 23; optional Wide wide = 24;
  }
  message Item { optional string sku = 1; optional Order order = 2; optional Loop loop = 3; }
  message Loop { optional Loop again = 1; oneof one { Loop first = 2; int32 second = 3; } }
  message Wide { optional Deep a = 1; }
  message Deep { optional Wide b = 1; optional fixed64 n = 2; }`;

it("[GRPC-83] a sample has a value that fits each field's type and name, and ends where types contain themselves", () => {
  const { registry, errors } = compileProtos({ sources: [{ name: "shop.proto", text }] });
  expect(errors).toEqual([]);
  const order = registry.getMessage("shop.Order");
  if (!order) throw new Error("there is no such type");
  const first = toJson(order, fromBinary(order, sampleMessage(order, 1)), { registry });
  const item = (number: number) => ({ sku: number === 1 ? "sku" : `sku-${number}`, loop: { second: number } });
  expect(first).toEqual({
    name: "name",
    total: "1",
    price: 1.5,
    paid: true,
    token: Buffer.from("token").toString("base64"),
    state: "OPEN",
    tag: ["tag", "tag-2"],
    items: [item(1), item(2)],
    counts: { key: 1 },
    email: "someone-1@example.com",
    createdAt: expect.stringMatching(/^2\d{3}-/),
    ttl: "1s",
    note: "note",
    extra: { extra: "extra" },
    nothing: {},
    place: { city: "city" },
    callbackUrl: "https://example.com/1",
    small: 1,
    wide: { a: { n: "1" } },
  });
  const fifth = toJson(order, fromBinary(order, sampleMessage(order, 5)));
  expect(fifth).toMatchObject({ name: "name-5", total: "5", tag: ["tag-5", "tag-6"] });
  expect({ ...(fifth as object), createdAt: "" }).toEqual({
    ...(toJson(order, fromBinary(order, sampleMessage(order, 5))) as object),
    createdAt: "",
  });
});

it("[GRPC-83] types that require one another get no sample of billions of fields, nor one that is thousands of messages deep", () => {
  const required = (count: number, type: string) =>
    Array.from({ length: count }, (_, field) => `required ${type} f${field} = ${field + 1};`).join(" ");
  const wide = Array.from({ length: 9 }, (_, level) => `message Wide${level} { ${required(20, `Wide${level + 1}`)} }`);
  const deep = Array.from({ length: 2_000 }, (_, level) => `message Deep${level} { ${required(1, `Deep${level + 1}`)} }`);
  const text = `syntax = "proto2"; package shop; ${wide.join(" ")} message Wide9 { } ${deep.join(" ")} message Deep2000 { }`;
  const { registry, errors } = compileProtos({ sources: [{ name: "shop.proto", text }] });
  expect(errors).toEqual([]);
  for (const name of ["shop.Wide0", "shop.Deep0"]) {
    const type = registry.getMessage(name);
    if (!type) throw new Error("there is no such type");
    expect(() => sampleMessage(type, 1)).toThrow("requires too many fields");
  }
});

it("[GRPC-83] a type that cannot be made without itself is refused, or left out of lists; an Any is empty", () => {
  const text = `syntax = "proto2"; package shop; message Self { required Self inner = 1; } message Holder { optional string name = 1; repeated Self list = 2; }
    message Tree { optional string name = 1; repeated group Branch = 2 { required Tree inner = 1; } }`;
  const { registry, errors } = compileProtos({
    sources: [
      { name: "shop.proto", text },
      { name: "any.proto", text: 'syntax = "proto3"; import "google/protobuf/any.proto";' },
    ],
  });
  expect(errors).toEqual([]);
  const jsonOf = (name: string) => {
    const type = registry.getMessage(name);
    if (!type) throw new Error("there is no such type");
    return toJson(type, fromBinary(type, sampleMessage(type, 1)), { registry });
  };
  expect(() => jsonOf("shop.Self")).toThrow("requires too many fields");
  expect(jsonOf("shop.Holder")).toEqual({ name: "name" });
  expect(jsonOf("shop.Tree")).toEqual({ name: "name" });
  expect(jsonOf("google.protobuf.Any")).toEqual({});
});
