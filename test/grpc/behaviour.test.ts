import { fromBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema, anyUnpack } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { frameOf, type MessageType } from "../../servers/grpc/engine/message-type.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { dataRequest, dataResponse, echoMessage, helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { until } from "../support/until.ts";
import { body, type Called, callMethod, collect, openStream } from "./calls.ts";
import { type GrpcUnderTest, startGrpc } from "./harness.ts";
import { framed, rawRequest } from "./raw-call.ts";

const hello = (service: GrpcUnderTest, metadata: Parameters<typeof callMethod>[5] = {}): Promise<Called<object>> =>
  callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }], metadata);
const ask = (service: GrpcUnderTest, metadata: Record<string, string | Buffer | readonly string[]>) => hello(service, { metadata });

it("[GRPC-10] x-backlot-status ends the call with that status, by name or number, and x-backlot-message says why", async () => {
  const service = await startGrpc();
  expect((await ask(service, { "x-backlot-status": "UNAVAILABLE" })).status).toMatchObject({
    code: 14,
    details: "UNAVAILABLE was asked for",
  });
  expect((await ask(service, { "x-backlot-status": "not_found", "x-backlot-message": "no user 7" })).status).toMatchObject({
    code: 5,
    details: "no user 7",
  });
  expect((await ask(service, { "x-backlot-status": "16" })).status.code).toBe(16);
  expect(await ask(service, { "x-backlot-status": "OK" })).toMatchObject({ status: { code: 0 }, replies: [{ status: 200 }] });
  expect(await service.ended(({ outcome }) => outcome === "NOT_FOUND")).toMatchObject({ tone: "refused", reason: "no user 7" });
});

it("[GRPC-10] what the client sends is read and recorded before its call ends without the method", async () => {
  const service = await startGrpc();
  const status = { "x-backlot-status": "UNAVAILABLE" };
  const ended: readonly (readonly [path: string, metadata: Record<string, string>])[] = [
    ["/example.Greeter/SayHello", status],
    ["/example.Greeter/SayHello", { "x-backlot-cut-after": "0" }],
    ["/example.Greeter/SayHello", { ...status, "x-backlot-delay": "50ms" }],
    ["/no.Such/Method", {}],
    ["/example.Greeter/ClientStream", status],
  ];
  const bytes = framed(body(helloRequest.frame({ name: "Ada" })));
  for (const [path, metadata] of ended) await rawRequest(service, { ":path": path, ...metadata }, bytes);
  await until(() => service.rows().length === ended.length && service.rows().every(({ tone }) => tone !== "pending"));
  expect(service.rows().map(({ parts }) => parts)).toEqual(ended.map(() => 1));
});

it("[GRPC-10] a client that sends no request, or no half-close, gets the status too, and others are answered meanwhile", async () => {
  const service = await startGrpc();
  const metadata = { "x-backlot-status": "UNAVAILABLE" };
  const silent = ["/example.Greeter/SayHello", "/example.Greeter/BidirectionalStream", "/no.Such/Method"].map((path) =>
    collect(openStream(service.client(), path, { metadata }), helloReply),
  );
  const half = openStream(service.client(), "/example.Greeter/SayHello", { metadata });
  half.write(body(helloRequest.frame({ name: "Ada" })));
  expect((await ask(service, {})).status.code).toBe(0);
  const codes = (await Promise.all([...silent, collect(half, helloReply)])).map(({ status }) => status.code);
  expect(codes).toEqual([14, 14, 12, 14]);
});

it("[GRPC-11] x-backlot-details adds google.rpc details to the status", async () => {
  const service = await startGrpc();
  const { status } = await ask(service, {
    "x-backlot-status": "INVALID_ARGUMENT",
    "x-backlot-message": "two fields are wrong",
    "x-backlot-details": [
      '{"@type":"RetryInfo","retryDelay":"2.5s"}',
      '{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"name","description":"is empty"}]}',
    ],
  });
  expect(status).toMatchObject({ code: 3, details: "two fields are wrong" });
  const pool = await loadOwnProtos();
  const bytes = status.metadata.get("grpc-status-details-bin")[0] as Buffer;
  const rich = fromBinary(pool.message("google.rpc.Status"), bytes) as unknown as { code: number; message: string; details: Any[] };
  expect([rich.code, rich.message, rich.details.map(({ $typeName }) => $typeName)]).toEqual([
    3,
    "two fields are wrong",
    [AnySchema.typeName, AnySchema.typeName],
  ]);
  expect(rich.details.map((detail) => anyUnpack(detail, pool.registry))).toMatchObject([
    { $typeName: "google.rpc.RetryInfo", retryDelay: { seconds: 2n, nanos: 500_000_000 } },
    { $typeName: "google.rpc.BadRequest", fieldViolations: [{ field: "name", description: "is empty" }] },
  ]);
  const asIs = await ask(service, { "x-backlot-status": "INTERNAL", "x-backlot-details-bin": Buffer.from([8, 13]) });
  expect(asIs.status.metadata.get("grpc-status-details-bin")).toEqual([Buffer.from([8, 13])]);
});

it("[GRPC-307] details of more JSON than an answer has room for are refused", async () => {
  const service = await startGrpc();
  const ask16 = (violations: number) =>
    ask(service, {
      "x-backlot-status": "INVALID_ARGUMENT",
      "x-backlot-details": ["BadRequest", "BadRequest"].map((type) =>
        JSON.stringify({ "@type": type, fieldViolations: Array.from({ length: violations }, () => ({})) }),
      ),
    });
  expect((await ask16(2_700)).status.metadata.get("grpc-status-details-bin")).toHaveLength(1);
  const { code, details } = (await ask16(2_800)).status;
  expect([code, details]).toEqual([3, "x-backlot-details: they have 16884 characters, which is more than 16384"]);
});

it("[GRPC-12] [GRPC-211] x-backlot-delay delays the call, and the client's deadline still holds", async () => {
  const service = await startGrpc();
  const startedAt = performance.now();
  expect((await ask(service, { "x-backlot-delay": "250ms" })).status.code).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThan(245);
  const late = await hello(service, { metadata: { "x-backlot-delay": "10s" }, deadlineMs: 100 });
  expect(late.status.code).toBe(4);
  const row = await service.ended(({ tone }) => tone !== "ok");
  expect(["DEADLINE_EXCEEDED", "cancelled at deadline"]).toContain(row.outcome);
  expect(service.detail(row.id).deadlineMs).toBeLessThanOrEqual(100);
});

it("[GRPC-13] x-backlot-headers and x-backlot-trailers are sent, x-backlot-echo returns the client's metadata", async () => {
  const service = await startGrpc();
  const { headers, status } = await ask(service, {
    "x-backlot-headers": ["x-one=1", "x-bytes-bin=AQID"],
    "x-backlot-trailers": "x-two=a, b",
    "x-backlot-echo": "both",
    "x-mine": "yes",
    "x-raw-bin": Buffer.from([9, 8]),
  });
  expect(headers?.getMap()).toMatchObject({
    "x-one": "1",
    "x-bytes-bin": Buffer.from([1, 2, 3]),
    "x-mine": "yes",
    "x-raw-bin": Buffer.from([9, 8]),
  });
  expect(status.metadata.getMap()).toMatchObject({ "x-two": "a, b", "x-mine": "yes" });
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-mine-${index}`, "x"]));
  expect((await ask(service, many)).status.code).toBe(0);
  expect((await ask(service, { ...many, "x-backlot-echo": "headers" })).status).toMatchObject({
    code: 3,
    details: expect.stringContaining("at most 100 fields are sent"),
  });
});

it("[GRPC-14] x-backlot-cut-after ends a stream after so many messages, with the status or without any", async () => {
  const service = await startGrpc();
  const stream = (metadata: Record<string, string>) =>
    callMethod(
      service.client(),
      "/example.Greeter/StreamData",
      dataRequest as MessageType<object>,
      dataResponse,
      [{ count: 5, prefix: "p" }],
      {
        metadata,
      },
    );
  const withStatus = await stream({ "x-backlot-cut-after": "2", "x-backlot-status": "ABORTED" });
  expect([withStatus.replies.length, withStatus.status.code]).toEqual([2, 10]);
  const without = await stream({ "x-backlot-cut-after": "1" });
  expect([without.replies.length, without.status.code]).toEqual([1, 13]);
  expect(await service.ended(({ tone }) => tone === "aborted")).toMatchObject({ outcome: "reset" });
});

it("[GRPC-15] a behaviour that is not understood is INVALID_ARGUMENT, so that no test passes by mistake", async () => {
  const service = await startGrpc({ delaySeconds: 1 });
  const refused = async (metadata: Record<string, string>) => (await ask(service, metadata)).status;
  expect(await refused({ "x-backlot-stauts": "NOT_FOUND" })).toMatchObject({
    code: 3,
    details: expect.stringContaining("x-backlot-stauts"),
  });
  for (const [name, value] of Object.entries({
    "x-backlot-status": "NO_SUCH",
    "x-backlot-delay": "5s",
    "x-backlot-cut-after": "-1",
    "x-backlot-details": '{"@type":"Nothing"}',
    "x-backlot-trailers": "grpc-status=0",
    "x-backlot-echo": "me",
    "x-backlot-compression": "br",
  })) {
    expect(await refused({ "x-backlot-status": "ABORTED", [name]: value }), name).toMatchObject({
      code: 3,
      details: expect.stringContaining(name),
    });
  }
  for (const [name, value] of Object.entries({ "x-backlot-message": "why", "x-backlot-details": '{"@type":"RetryInfo"}' })) {
    const details = `${name}: it belongs to a status, and there is no x-backlot-status`;
    expect(await refused({ [name]: value })).toMatchObject({ code: 3, details });
  }
});

it("[GRPC-16] an unknown method is UNIMPLEMENTED and recorded; a wrong number of messages is UNIMPLEMENTED; damaged bytes are INTERNAL", async () => {
  const service = await startGrpc();
  const client = service.client();
  const unknown = await callMethod(client, "/no.Such/Method", helloRequest, helloReply, [{ name: "" }]);
  expect(unknown.status).toMatchObject({ code: 12, details: "There is no method /no.Such/Method" });
  expect(await service.ended(({ target }) => target === "/no.Such/Method")).toMatchObject({ verb: "unknown", outcome: "UNIMPLEMENTED" });
  const path = "/example.Greeter/SayHello";
  expect((await callMethod(client, path, helloRequest, helloReply, [])).status.code).toBe(12);
  expect((await callMethod(client, path, helloRequest, helloReply, [{ name: "a" }, { name: "b" }])).status.code).toBe(12);
  const damaged = { ...echoMessage, frame: () => Buffer.from([0, 0, 0, 0, 2, 10, 99]) };
  expect((await callMethod(client, path, damaged, helloReply, [{ message: "" }])).status).toMatchObject({ code: 13 });
  const named = async (name: Buffer) => {
    const bytes = { ...echoMessage, frame: () => frameOf(Buffer.concat([Buffer.from([10, name.length]), name])) };
    return callMethod(client, path, bytes, helloReply, [{ message: "" }]);
  };
  // A lone continuation byte, an overlong form, half of a surrogate pair, and half a character.
  for (const text of [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xc3]]) {
    expect((await named(Buffer.from([97, ...text]))).status, String(text)).toMatchObject({ code: 13 });
  }
  const [{ message } = { message: "" }] = (await named(Buffer.from("\ufffd \u00e4 \u{1f600}"))).replies;
  expect(message).toContain("Hello, \ufffd \u00e4 \u{1f600} from");
});
