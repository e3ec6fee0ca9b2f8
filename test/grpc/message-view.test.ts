import { type DescMessage, fromBinary, type Registry, toJson } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import type { Json } from "../../contract/services/grpc-replies.ts";
import { WrittenValues } from "../../servers/grpc/engine/message-values.ts";
import { compileProtos } from "../../servers/grpc/protos/compile-protos.ts";
import { valueAt } from "../../servers/grpc/replies/field-path.ts";
import { MessageView } from "../../servers/grpc/replies/message-view.ts";
import { sampleMessage } from "../../servers/grpc/replies/sample-message.ts";
import { seededRandom } from "../support/seeded-random.ts";

const fields = `Item item = 1; repeated Item items = 2; map<string, Item> by_name = 3; map<sint64, double> rates = 4; map<bool, Mode> modes = 5;
  repeated sint32 numbers = 6; repeated string texts = 7; repeated Mode list = 8; Mode mode = 9; bytes token = 10; float ratio = 11;
  oneof one { string name = 12; Item other = 13; } int64 long = 14; google.protobuf.Timestamp at = 15; google.protobuf.Struct extra = 16;
  repeated google.protobuf.Duration waits = 17; google.protobuf.Int64Value wrapped = 18; bool yes = 19; Order parent = 20;
  google.protobuf.NullValue nothing = 21; repeated bytes blobs = 22; map<int32, bytes> files = 23; fixed64 fixed = 24;`;
const imports = ["timestamp", "duration", "wrappers", "struct"].map((name) => `import "google/protobuf/${name}.proto";`).join(" ");
const types = "enum Mode { OFF = 0; ON = 1; } message Item { string sku = 1; int32 count = 2; }";
const proto3 = `syntax = "proto3"; package shop; ${imports} ${types} message Order { ${fields} optional int32 maybe = 30; }`;
const proto2 = `syntax = "proto2"; package shop; enum Mode { OFF = 0; ON = 1; } message Order { optional group Place = 1 { optional string city = 1; }
  optional Mode mode = 2; repeated Mode modes = 3; optional int32 count = 4 [default = 7]; repeated group Stop = 5 { optional int32 at = 1; } }`;

function typeOf(text: string, name: string): { readonly type: DescMessage; readonly registry: Registry } {
  const { registry, errors } = compileProtos({ sources: [{ name: "shop.proto", text }] });
  expect(errors).toEqual([]);
  return { type: registry.getMessage(name) as DescMessage, registry };
}

/** All that JSON has, and what it might have. */
function* pathsOf(value: Json, path: readonly string[] = []): Generator<readonly string[]> {
  yield path;
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) yield [...path, "length"];
  for (const [name, inner] of Object.entries(value)) yield* pathsOf(inner as Json, [...path, name]);
  yield [...path, "9999"];
}

it.each([
  ["proto3", proto3],
  ["proto2", proto2],
])("[GRPC-178] a path of a rule finds the same in the bytes of a message as in all of its JSON: %s (seeded)", (_name, text) => {
  const { type, registry } = typeOf(text, "shop.Order");
  for (let seed = 1; seed <= 200; seed++) {
    const random = seededRandom(seed);
    // Messages one behind the other are merged.
    const bytes = Buffer.concat(Array.from({ length: random.below(4) }, () => sampleMessage(type, random.below(5))));
    const viewOf = (message: Uint8Array) => new MessageView(type, message, { registry, values: new WrittenValues(1 << 20) });
    const json = toJson(type, fromBinary(type, bytes), { registry, alwaysEmitImplicit: true }) as Json;
    const paths = [...pathsOf(json), ...type.fields.map(({ jsonName }) => [jsonName])];
    const view = viewOf(bytes);
    for (const path of paths) expect(view.at(path), `seed ${seed}: ${path.join(".")}`).toEqual(valueAt(json, path));
    // Damaged ones are read as far as they can be.
    for (let changes = random.below(4); changes > 0 && bytes.length > 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
    const damaged = viewOf(bytes);
    for (const path of paths) {
      try {
        damaged.at(path);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
  }
});

it("[GRPC-178] a path makes JSON of what it names, and not of the other fields and their defaults", () => {
  const wide = Array.from({ length: 100 }, (_, index) => `string field_${index} = ${index + 1};`).join(" ");
  const text = `syntax = "proto3"; package shop; message Orders { repeated Order orders = 1; map<string, Order> named = 2; } message Order { ${wide} }`;
  const { type, registry } = typeOf(text, "shop.Orders");
  const bytes = Buffer.alloc(600, Buffer.from([0x0a, 0]));
  const view = new MessageView(type, bytes, { registry, values: new WrittenValues(4 * 10) });
  expect([view.at(["orders", "length"]), view.at(["orders", "299", "field7"]), view.at(["named", "a"])]).toEqual([300, "", undefined]);
  expect(() => view.at(["orders"])).toThrow("more than 10 fields of the request");
});
