import { create, type DescField, type DescMessage, type JsonObject, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { metadataProblem } from "../../contract/services/grpc.ts";
import { type CallLanguage, type CopiedCall, callLines } from "../../renderer/src/services/grpc/call-lines.ts";
import { loaderObjectOf } from "../../renderer/src/services/grpc/schema/loader-object.ts";
import { serializedMessage } from "../../renderer/src/services/grpc/schema/message-json.ts";
import { statusDetails } from "../../renderer/src/services/grpc/schema/status-details.ts";
import {
  bytesFromHex,
  fieldValue,
  firstValue,
  hasPresence,
  hexOfBytes,
  shapeOf,
  typedNumber,
  valueProblem,
  withValue,
} from "../../renderer/src/services/grpc/try/form/form-value.ts";
import {
  checkMessage,
  firstCall,
  hasWrongMetadata,
  keptCall,
  messageOf,
  type TryCall,
  tryCallSchema,
  withMessage,
} from "../../renderer/src/services/grpc/try/try-call.ts";
import { schemaOf } from "./schema-of.ts";

const schema = schemaOf(`syntax = "proto3"; package t;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/struct.proto";
enum Kind { NONE = 0; BIG = 1; }
message Line { string sku_name = 1; }
message All {
  string text = 1; int32 small = 2; uint64 large = 3; double real = 4; bool yes = 5; Kind kind = 6; bytes raw = 7;
  repeated Line lines = 8; map<string, int32> counts = 9; optional string maybe = 10;
  oneof way { string street = 11; Line line = 12; }
  google.protobuf.Timestamp at = 13; google.protobuf.StringValue wrapped = 14; google.protobuf.Value any = 15; Line one = 16;
}`);
const all = schema.getMessage("t.All") as DescMessage;
const field = (name: string) => all.fields.find((other) => other.name === name) as DescField;
const shape = (name: string) => shapeOf(field(name));

it("[GRPC-76] each field has the input of its type; wrappers and well-known types have that of their JSON", () => {
  expect(Object.fromEntries(all.fields.map((each) => [each.name, shapeOf(each).kind]))).toEqual({
    text: "string",
    small: "number",
    large: "number",
    real: "number",
    yes: "bool",
    kind: "enum",
    raw: "bytes",
    lines: "message",
    counts: "number",
    maybe: "string",
    street: "string",
    line: "message",
    at: "text",
    wrapped: "string",
    any: "json",
    one: "message",
  });
  expect(all.fields.filter(hasPresence).map(({ name }) => name)).toEqual(["maybe", "at", "wrapped", "any", "one"]);
});

it("[GRPC-76] what is typed becomes ProtoJSON of the type, in the order of its fields, and of a file's own names", () => {
  const typed: readonly (readonly [string, JsonValue])[] = [
    ["raw", bytesFromHex("0a ff")],
    ["large", typedNumber("18446744073709551615", (field("large") as { scalar: number }).scalar)],
    ["small", typedNumber("-3", (field("small") as { scalar: number }).scalar)],
    ["real", typedNumber("0.5", (field("real") as { scalar: number }).scalar)],
    ["lines", [firstValue(shape("lines")), { skuName: "x" }]],
    ["at", firstValue(shape("at"))],
    ["wrapped", ""],
    ["kind", firstValue(shape("kind"))],
  ];
  const message = typed.reduce<JsonObject>((known, [name, value]) => withValue(all, known, field(name), value), { other: 1 });
  expect(JSON.stringify(message)).toBe(
    '{"small":-3,"large":"18446744073709551615","real":0.5,"kind":"NONE","raw":"Cv8=","lines":[{},{"skuName":"x"}],"at":"1970-01-01T00:00:00Z","wrapped":"","other":1}',
  );
  const { other: _, ...ofType } = message;
  expect(serializedMessage(schema, "t.All", JSON.stringify(ofType))).toBeDefined();
  const line = schema.getMessage("t.Line") as DescMessage;
  const sku = line.fields[0] as DescField;
  expect(fieldValue({ sku_name: "own" }, sku)).toBe("own");
  expect(withValue(line, { sku_name: "own" }, sku, "new")).toEqual({ skuName: "new" });
  expect(withValue(line, { skuName: "own" }, sku, undefined)).toEqual({});
});

it("[GRPC-76] a value that is not of its type is kept as typed, and named", () => {
  const scalar = (field("small") as { scalar: number }).scalar;
  expect(typedNumber("1e", scalar)).toBe("1e");
  expect(typedNumber("007", scalar)).toBe("007");
  expect(valueProblem(shape("small"), "1e")).toBe("Not a whole number");
  expect(valueProblem(shape("small"), 2 ** 31)).toBe("Not between -2147483648 and 2147483647");
  expect(valueProblem(shape("large"), "-1")).toContain("Not between 0");
  expect(valueProblem(shape("real"), "NaN")).toBeUndefined();
  expect(valueProblem(shape("kind"), "LARGE")).toBe("Not a value of Kind");
  expect(valueProblem(shape("at"), "today")).toBe("Not a Timestamp");
  const half = bytesFromHex("0a1");
  expect([hexOfBytes(half), valueProblem(shape("raw"), half)]).toEqual(["0a1", "Not hexadecimal: two digits for each byte"]);
  expect(serializedMessage(schema, "t.All", JSON.stringify({ raw: half }))).toBeUndefined();
  expect(valueProblem(shape("raw"), "Cv8=")).toBeUndefined();
  expect(valueProblem(shape("raw"), "Cv8*")).toBe("Not base64");
});

it("[GRPC-74] JSON is checked by its type while it is typed", () => {
  expect(checkMessage(schema, "t.Line", '{"skuName":"x"}')).toEqual({ state: "valid" });
  expect(checkMessage(schema, "t.Line", '{"nome":1}')).toMatchObject({ state: "invalid", problem: expect.stringContaining("nome") });
  expect(checkMessage(schema, "t.Line", '{"skuName":')).toMatchObject({ state: "invalid" });
  expect(checkMessage(undefined, "t.Line", '{"nome":1}')).toEqual({ state: "valid" });
});

it("[GRPC-152] what is not JSON, or not of its type, is named with the line and column where it stands", () => {
  const placeOf = (text: string) => {
    const check = checkMessage(schema, "t.All", text);
    return check.state === "invalid" ? / (line \d+ column \d+)$/.exec(check.problem)?.[1] : check.state;
  };
  expect(placeOf('{\n  "text": \n}')).toBe("line 3 column 1");
  expect(placeOf('{\n  "text": "a",,\n}')).toBe("line 2 column 15");
  expect(placeOf('{\n  "text": "a",\n  "nome": 1 }')).toBe("line 3 column 3");
  expect(placeOf('{ "lines": [{ "skuName": "a" },\n  { "skuName": "b" },\n  { "sku_name": 3 }] }')).toBe("line 3 column 17");
  expect(placeOf('{ "one": {\n "skuName": "a",\n "x": {} } }')).toBe("line 3 column 2");
  expect(placeOf('{ "counts": { "a": 1,\n "b": "x" } }')).toBe("line 2 column 7");
  expect(placeOf('{ "kind": "BIG",\n "at": "today" }')).toBe("line 2 column 8");
  expect(placeOf('{ "raw": "AAE=", "street": "a", "line": {} }')).toBe("line 1 column 1");
  expect(placeOf('{ "raw": "AAE=", "kind": "BIG", "any": [1] }')).toBe("valid");
});

it("[GRPC-73] the message that is offered first for StreamData asks for some items", () => {
  expect(JSON.parse(messageOf({ ...firstCall, path: "/example.Greeter/StreamData" }) ?? "{}")).toEqual({ count: 5, prefix: "item" });
});

it("[GRPC-151] metadata that cannot be sent is named by its name or its value", () => {
  const problemOf = (name: string, value: string) => metadataProblem(name, value)?.of;
  expect(["x-one", "X-Two", "a.b_c-9", "authorization"].map((name) => problemOf(name, "any text"))).toEqual(Array(4).fill(undefined));
  expect(["bad name", "ä", "x:y", ":path", "grpc-timeout", "Connection", "te"].map((name) => problemOf(name, "1"))).toEqual(
    Array(7).fill("name"),
  );
  expect([problemOf("x-one", "größe"), problemOf("x-one", "a\nb"), problemOf("x-bin", "not base64!")]).toEqual(["value", "value", "value"]);
  expect([problemOf("x-bin", "AAE="), problemOf("x-bin", "_-8"), problemOf("x-bin", "")]).toEqual([undefined, undefined, undefined]);
  expect(hasWrongMetadata({ ...firstCall, metadata: [["", "größe"]] })).toBe(false);
  expect(hasWrongMetadata({ ...firstCall, metadata: [["x-one", "größe"]] })).toBe(true);
});

const copied: CopiedCall = {
  ...{
    origin: "grpc://127.0.0.1:50051",
    clientCertificate: false,
    path: "/t.Shop/Buy",
    pattern: "bidi stream",
    requestType: "t.Line",
    responseType: "t.All",
  },
  metadata: [
    ["authorization", "Bearer abcdefgh"],
    ["trace-bin", "AAE="],
  ],
  deadlineMs: 2_500,
  messages: [{ json: '{ "skuName": "it\'s" }', object: loaderObjectOf(schema, "t.Line", '{"skuName":"it\'s"}') }],
};

it("[GRPC-75] the call as lines for grpcurl, Python and Node has messages, metadata and deadline", () => {
  const lines = (language: CallLanguage, changed: Partial<CopiedCall> = {}) => callLines(language, { ...copied, ...changed });
  expect(lines("grpcurl")).toBe(
    `grpcurl -plaintext -rpc-header 'authorization: Bearer abcdefgh' -rpc-header 'trace-bin: AAE=' -max-time 2.5 -d '{"skuName":"it'\\''s"}' 127.0.0.1:50051 t.Shop/Buy`,
  );
  expect(lines("python")).toContain(
    'for reply in call(iter(requests), timeout=2.5, metadata=[("authorization", "Bearer abcdefgh"), ("trace-bin", base64.b64decode("AAE="))]):\n    print(reply)',
  );
  expect(lines("node")).toContain("const call = client.Buy(metadata, { deadline: Date.now() + 2500 });");
  expect(lines("node")).toContain('call.write({"sku_name":"it\'s"});');
  expect(lines("node")).toContain('metadata.add("trace-bin", Buffer.from("AAE=", "base64"));');
  const unary = { pattern: "unary", metadata: [], deadlineMs: undefined } as const;
  expect(lines("python", unary)).toContain("print(call(request))");
  expect(lines("node", unary)).toContain('client.Buy({"sku_name":"it\'s"}, metadata, {}, (error, reply) =>');
});

it("[BL-468] the messages of a call that are too long for one argument are piped to grpcurl", () => {
  const unary = { ...copied, pattern: "unary", metadata: [], deadlineMs: undefined } as const;
  const long = { json: `{"skuName":"${"ü".repeat(30_000)}"}`, object: undefined };
  const lines = (messages: CopiedCall["messages"]) => callLines("grpcurl", { ...unary, messages });
  expect(lines([long, long])).toBe(`printf %s '${long.json} ${long.json}' | grpcurl -plaintext -d @ 127.0.0.1:50051 t.Shop/Buy`);
  expect(lines([long])).toBe(`grpcurl -plaintext -d '${long.json}' 127.0.0.1:50051 t.Shop/Buy`);
});

it("[GRPC-75] with TLS the lines use the authority's certificate", () => {
  const lines = (language: CallLanguage) => callLines(language, { ...copied, origin: "grpcs://127.0.0.1:50051" });
  expect(lines("grpcurl")).toContain("grpcurl -cacert backlot-authority.pem ");
  expect(lines("python")).toContain(
    'grpc.secure_channel("127.0.0.1:50051", grpc.ssl_channel_credentials(open("backlot-authority.pem", "rb").read()))',
  );
  expect(lines("node")).toContain('grpc.credentials.createSsl(readFileSync("backlot-authority.pem"))');
});

it("[GRPC-77] what is typed is remembered for each method, without credentials", () => {
  const typed: TryCall = {
    ...withMessage({ ...firstCall, path: "/t.Shop/Buy" }, '{"skuName":"x"}'),
    metadata: [
      ["Authorization", "Bearer abcdefgh"],
      ["x-backlot-delay", "2s"],
    ],
  };
  expect(messageOf(typed)).toBe('{"skuName":"x"}');
  expect(messageOf({ ...typed, path: firstCall.path })).toBe(messageOf(firstCall));
  const kept = keptCall(typed);
  expect(kept.metadata).toEqual([
    ["Authorization", ""],
    ["x-backlot-delay", "2s"],
  ]);
  expect(messageOf(keptCall(withMessage(typed, '{"password":"x"}')))).toBeUndefined();
  expect(tryCallSchema.safeParse(JSON.parse(JSON.stringify(kept))).success).toBe(true);
  expect(tryCallSchema.safeParse({ ...kept, messages: { a: 1 } }).success).toBe(false);
});

it("[GRPC-78] the details of a status are decoded by their types; one of an unknown type has its bytes", () => {
  const rpc = schemaOf(`syntax = "proto3"; package google.rpc;
    import "google/protobuf/any.proto"; import "google/protobuf/duration.proto";
    message Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3; }
    message RetryInfo { google.protobuf.Duration retry_delay = 1; }`);
  const any = (type: string, value: readonly number[]) => ({ typeUrl: `type.googleapis.com/${type}`, value: Uint8Array.from(value) });
  const status = rpc.getMessage("google.rpc.Status") as DescMessage;
  const details = [any("google.rpc.RetryInfo", [10, 2, 8, 2]), any("t.Unknown", [1, 2]), any("google.rpc.RetryInfo", [255])];
  const bytes = toBinary(status, create(status, { code: 14, message: "later", details } as never));
  const trailers = [["grpc-status-details-bin", Buffer.from(bytes).toString("base64").replaceAll("=", "")]] as const;
  expect(statusDetails(rpc, trailers)).toMatchObject([
    { typeName: "google.rpc.RetryInfo", json: { retryDelay: "2s" } },
    { typeName: "t.Unknown", json: undefined, bytes: Uint8Array.of(1, 2) },
    { typeName: "google.rpc.RetryInfo", json: undefined },
  ]);
  expect(statusDetails(rpc, [["grpc-status-details-bin", "!"]])).toEqual([]);
  expect(statusDetails(rpc, undefined)).toEqual([]);
});
