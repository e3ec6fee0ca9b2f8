import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { expect, it, onTestFinished, vi } from "vitest";
import type { GrpcViews } from "../../contract/services/grpc.ts";
import { methodChoices } from "../../renderer/src/services/grpc/call-scopes.tsx";
import { messagePreview } from "../../renderer/src/services/grpc/message-preview.ts";
import { hasTooManyFields, readMessage, readMessageStart, readWithDefaults } from "../../renderer/src/services/grpc/schema/message-json.ts";
import { messageTemplate } from "../../renderer/src/services/grpc/schema/message-template.ts";
import { fieldsOf, typesWithin } from "../../renderer/src/services/grpc/schema/type-fields.ts";
import { callRates, shownRates } from "../../renderer/src/services/grpc/services/call-rates.ts";
import { serviceRows } from "../../renderer/src/services/grpc/services/service-rows.ts";
import { createCallsView } from "../../servers/grpc/observe/call-metrics.ts";
import { schemaOf } from "./schema-of.ts";

const source = `syntax = "proto3"; package t;
  message Order {
    string id = 1;
    optional int64 size = 2;
    repeated Line lines = 3;
    map<string, Kind> kinds = 4;
    oneof to { string street = 5; Order parent = 6; }
  }
  message Line { Kind kind = 1; }
  enum Kind { NONE = 0; BOOK = 7; }`;

const schema = schemaOf(source);
const order = schema.getMessage("t.Order") as DescMessage;

it("[GRPC-71] fields have number, name, type with its label, and oneof; each inner type is listed once, also in a cycle", () => {
  expect(fieldsOf(order)).toEqual([
    { number: 1, name: "id", type: "string" },
    { number: 2, name: "size", type: "optional int64" },
    { number: 3, name: "lines", type: "repeated t.Line" },
    { number: 4, name: "kinds", type: "map<string, t.Kind>" },
    { number: 5, name: "street", type: "string", oneof: "to" },
    { number: 6, name: "parent", type: "t.Order", oneof: "to" },
  ]);
  expect(typesWithin(order, 40).map(({ typeName }) => typeName)).toEqual(["t.Order", "t.Line", "t.Kind"]);
  expect(typesWithin(order, 2).length).toBe(2);
});

it("[GRPC-72] a message is decoded by its type; other bytes, and unknown types, are not", () => {
  const bytes = toBinary(order, create(order, { id: "x", size: 2n ** 60n, lines: [{ kind: 7 }], kinds: { a: 7 } } as never));
  expect(readWithDefaults(schema, "t.Order", bytes)?.json).toEqual({
    id: "x",
    size: "1152921504606846976",
    lines: [{ kind: "BOOK" }],
    kinds: { a: "BOOK" },
  });
  expect(readWithDefaults(schema, "t.Order", new Uint8Array())?.json).toEqual({ id: "", lines: [], kinds: {} });
  expect(readMessage(schema, "t.Order", new Uint8Array())).toEqual({});
  expect(readMessage(schema, "t.Order", Uint8Array.of(0xff))).toBeUndefined();
  expect(readMessage(schema, "t.Other", bytes)).toBeUndefined();
  expect(readMessage(undefined, "t.Order", bytes)).toBeUndefined();
});

it("[GRPC-72] of a message of which the start is kept the whole fields are decoded", () => {
  const whole = toBinary(order, create(order, { id: "x", size: 5n, lines: [{ kind: 7 }] } as never));
  const json = { id: "x", size: "5", lines: [{ kind: "BOOK" }] };
  const starts = [...whole, 0].map((_, length) => JSON.stringify(readMessageStart(schema, "t.Order", whole.subarray(0, length))));
  expect([...new Set(starts)]).toEqual(["{}", '{"id":"x"}', '{"id":"x","size":"5"}', JSON.stringify(json)]);
  const long = toBinary(order, create(order, { id: "x", to: { case: "street", value: "s".repeat(40_000) } } as never));
  expect(messagePreview(schema, "t.Order", { base64: Buffer.from(long.subarray(0, 3_000)).toString("base64"), bytes: long.length })).toBe(
    '{"id":"x"} …',
  );
});

it("[GRPC-72] of a message with very many fields that have their default these are left out, which is said", () => {
  const fields = Array.from({ length: 100 }, (_, index) => `string field_${index} = ${index + 1};`).join(" ");
  const wide = schemaOf(`syntax = "proto3"; package t; message Orders { repeated Order orders = 1; } message Order { ${fields} }`);
  const ordersOf = (count: number) => Buffer.alloc(2 * count, Buffer.from([0x0a, 0]));
  const few = readWithDefaults(wide, "t.Orders", ordersOf(3));
  const first = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, ""]));
  expect(few).toEqual({ isTerse: false, json: { orders: [first, first, first] } });
  const many = ordersOf(4_000);
  expect(readWithDefaults(wide, "t.Orders", many)).toEqual({ isTerse: true, json: { orders: Array.from({ length: 4_000 }, () => ({})) } });
  expect(hasTooManyFields(wide, "t.Orders", many)).toBe(false);
  // Some tenths of a second and more to decode: it is shown as bytes.
  const tooMany = ordersOf(50_000);
  expect([readMessage(wide, "t.Orders", tooMany), readWithDefaults(wide, "t.Orders", tooMany)]).toEqual([undefined, undefined]);
  expect(hasTooManyFields(wide, "t.Orders", tooMany)).toBe(true);
  const shown = messagePreview(wide, "t.Orders", { base64: ordersOf(600).toString("base64"), bytes: 1_200 });
  expect(shown.length).toBeLessThan(2_000);
});

const method = (name: string) => ({
  path: `/t.Shop/${name}`,
  name,
  pattern: "unary" as const,
  requestType: "t.Order",
  responseType: "t.Line",
});
const counts = (begun: number, errors: number) => ({ path: "/t.Shop/Buy", begun, open: 1, errors });

it("[BL-486] rates stay until those of the next view are known, and are 0 after a time without one, or before there is one", () => {
  const [first, second, third] = [10, 30, 50].map((begun, index) => ({
    at: index * 1_000,
    since: (index - 1) * 1_000,
    methods: [counts(begun, 0)],
  }));
  if (!first || !second || !third) throw new Error("no views");
  const known = { at: second, rates: callRates(second, first) };
  const shown = (...given: Parameters<typeof shownRates>) => shownRates(...given).get("/t.Shop/Buy");
  expect(shown(second, known, undefined)).toMatchObject({ begun: 30, callsPerSecond: 20 });
  expect(shown(third, known, first)).toMatchObject({ callsPerSecond: 20 });
  expect(shown(second, known, second)).toMatchObject({ begun: 30, callsPerSecond: 0 });
  expect(shown(third, known, second)).toMatchObject({ begun: 50, callsPerSecond: 0 });
  expect(shown(third, undefined, undefined)).toMatchObject({ begun: 50, callsPerSecond: 0 });
});

it("[GRPC-335] after quiet seconds the rate is that of the last second, and 0 in a quiet one", () => {
  vi.useFakeTimers({ now: 10_000 });
  onTestFinished(() => void vi.useRealTimers());
  const views: GrpcViews["calls"][] = [];
  let begun = 0;
  const look = createCallsView({ calls: () => [counts(begun, 0)] }, (view) => void views.push(view));
  const seconds = (count: number) => {
    for (let left = count; left > 0; left--) {
      vi.advanceTimersByTime(1_000);
      look();
    }
  };
  seconds(1);
  begun = 20;
  seconds(1);
  seconds(6);
  begun = 50;
  seconds(1);
  const rate = (index: number) => callRates(views[index] as GrpcViews["calls"], views[index - 1]).get("/t.Shop/Buy")?.callsPerSecond;
  expect(views.map((_, index) => rate(index))).toEqual([0, 20, 0, 30]);
});

it("[GRPC-70] rates are over the time between two views of one run; a service has the sum of its methods, the filter finds names and types", () => {
  const before = { at: 1_000, methods: [counts(10, 1)] };
  const rates = callRates({ at: 3_000, since: 1_000, methods: [counts(30, 5)] }, before);
  expect(rates.get("/t.Shop/Buy")).toEqual({ begun: 30, open: 1, errors: 5, callsPerSecond: 10, errorsPerSecond: 2 });
  expect(callRates({ at: 2_000, since: 1_000, methods: [counts(3, 0)] }, before).get("/t.Shop/Buy")).toMatchObject({ callsPerSecond: 0 });
  expect(callRates({ at: 2_000, methods: [counts(30, 0)] }, before).get("/t.Shop/Buy")).toMatchObject({ callsPerSecond: 0 });
  const services = [{ name: "t.Shop", file: "t.proto", methods: [method("Buy"), method("Sell")] }];
  const rowsFor = (text: string) => serviceRows(services, [["t.Shop", "NOT_SERVING"]], rates, text);
  expect(rowsFor("").map(({ id }) => id)).toEqual(["", "t.Shop", "/t.Shop/Buy", "/t.Shop/Sell"]);
  expect(rowsFor("")[1]).toMatchObject({ kind: "service", health: "NOT_SERVING", rate: { begun: 30, callsPerSecond: 10 } });
  expect(rowsFor("sell").map(({ id }) => id)).toEqual(["t.Shop", "/t.Shop/Sell"]);
  expect(rowsFor("T.ORDER").length).toBe(3);
  expect(rowsFor("nothing")).toEqual([]);
});

it("[GRPC-75] a template has every field with nested messages, of a oneof the first, and ends in a cycle", () => {
  expect(messageTemplate(schema, order)).toEqual({ id: "", lines: [{ kind: "NONE" }], kinds: {}, street: "" });
  const node = schemaOf('syntax = "proto3"; package t; message Node { string name = 1; Node next = 2; }');
  expect(messageTemplate(node, node.getMessage("t.Node") as DescMessage)).toEqual({
    name: "",
    next: { name: "", next: { name: "" } },
  });
});

it("[GRPC-150] the filter offers services with their methods, found by either name", () => {
  const services = [
    { name: "t.Shop", file: "t.proto", methods: [method("Buy"), method("Sell")] },
    { name: "t.Other", file: "t.proto", methods: [{ ...method("Get"), path: "/t.Other/Get" }] },
  ];
  expect(methodChoices(services, "").map(({ value }) => value)).toEqual([
    "/t.Shop/",
    "/t.Shop/Buy",
    "/t.Shop/Sell",
    "/t.Other/",
    "/t.Other/Get",
  ]);
  expect(methodChoices(services, " SELL ").map(({ value }) => value)).toEqual(["/t.Shop/", "/t.Shop/Sell"]);
  expect(methodChoices(services, "other").map(({ value }) => value)).toEqual(["/t.Other/", "/t.Other/Get"]);
  expect(methodChoices(services, "nothing")).toEqual([]);
});
