import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import type { ServiceView } from "../../contract/service.ts";
import type { GrpcCall, GrpcMessagePart } from "../../contract/traffic/grpc.ts";
import type { ControlClient } from "../../renderer/src/control/control-client.ts";
import { deadlineLeftText } from "../../renderer/src/services/grpc/deadline-left.tsx";
import { grpcRowCommands } from "../../renderer/src/services/grpc/recorded-call.ts";
import { firstCall, messageOf, takeRecorded } from "../../renderer/src/services/grpc/try/try-call.ts";
import { compileProtos } from "../../servers/grpc/protos/compile-protos.ts";
import { schemaOf } from "./schema-of.ts";

const text = 'syntax = "proto3"; package t; message Line { string sku = 1; int32 count = 2; }';
const line = schemaOf(text).getMessage("t.Line") as DescMessage;
const set = create(FileDescriptorSetSchema, {
  file: compileProtos({ sources: [{ name: "t.proto", text }] }).files.map(({ proto }) => proto),
});
const schemaAnswer = { base64: Buffer.from(toBinary(FileDescriptorSetSchema, set)).toString("base64"), revision: 1 };

const part = (index: number, direction: GrpcMessagePart["direction"], sku: string): GrpcMessagePart => {
  const bytes = toBinary(line, create(line, { sku } as never));
  const base64 = Buffer.from(bytes).toString("base64");
  return {
    kind: "grpc-message",
    index,
    at: 0,
    direction,
    bytes: bytes.length,
    wireBytes: bytes.length,
    compressed: false,
    codec: "proto",
    base64,
  };
};
const parts = [part(0, "received", "a"), part(1, "sent", "b"), part(2, "received", "c")];

const call: GrpcCall = {
  ...{
    kind: "grpc-call",
    id: 7,
    at: 0,
    protocol: "grpc",
    httpVersion: "2",
    httpMethod: "POST",
    codec: "proto",
    path: "/t.Shop/Buy",
    authority: "here",
    deadlineMs: 2_500,
  },
  method: { pattern: "bidi stream", requestType: "t.Line", responseType: "t.Line", revision: "" },
  requestHeaders: [
    [":path", "/t.Shop/Buy"],
    ["grpc-timeout", "2500m"],
    ["user-agent", "grpc-node-js/1"],
    ["te", "trailers"],
    ["authorization", "Bearer abcdefgh"],
    ["x-mine", "yes"],
  ],
  requestEncoding: "identity",
  responseEncoding: "identity",
  received: 2,
  sent: 1,
  timing: {},
  connection: { id: 1, remote: "127.0.0.1:9", local: "", openedAt: 0, calls: 1 },
  parts: { total: 3, bytes: 0 } as never,
};

function clientOf(kept: readonly GrpcMessagePart[], leftOut = 0, config: Readonly<Record<string, unknown>> = {}) {
  const asked: unknown[] = [];
  const client = {
    async call(name: string, { from = 0 }: { readonly from?: number }) {
      if (name === "config.read") return { fields: Object.entries(config).map(([field, value]) => ({ name: field, value })) };
      expect(name).toBe("traffic.parts");
      return { parts: kept.slice(from, from + 2), next: Math.min(kept.length, from + 2), total: kept.length, leftOut };
    },
    async action(_actions: unknown, _id: string, name: string, params: unknown) {
      if (name === "schema") return schemaAnswer;
      asked.push([name, params]);
      return { status: { code: 0, name: "OK", message: "" }, received: 1, tookMs: 3 };
    },
  };
  return { asked, client: client as unknown as ControlClient };
}
const origin = { id: "grpc", status: { state: "stopped" }, plannedEndpoints: [{ label: "gRPC", url: "grpc://127.0.0.1:50051" }] };
const service = origin as unknown as ServiceView;
const commands = grpcRowCommands["grpc-call"];

it("[GRPC-141] a recorded call is copied with the client's messages, metadata and deadline", async () => {
  const copy = (title: string) => commands?.copies.find((other) => other.title === title)?.text(call, service, clientOf(parts).client);
  expect(await copy("grpcurl")).toBe(
    `grpcurl -plaintext -rpc-header 'authorization: Bearer abcdefgh' -rpc-header 'x-mine: yes' -max-time 2.5 -d '{"sku":"a"} {"sku":"c"}' 127.0.0.1:50051 t.Shop/Buy`,
  );
  expect(await copy("Python")).toContain('Parse("{\\"sku\\":\\"c\\"}", Request(), descriptor_pool=pool)]');
  expect(await copy("Node")).toContain('call.write({"sku":"a"});\ncall.write({"sku":"c"});');
});

it("[GRPC-141] the copies have a client certificate where the service requires one", async () => {
  const overTls = { ...origin, plannedEndpoints: [{ label: "gRPC over TLS", url: "grpcs://127.0.0.1:50051" }] } as unknown as ServiceView;
  for (const clientCertificates of ["optional", "required"]) {
    const { client } = clientOf(parts, 0, { tls: true, clientCertificates });
    const grpcurl = await commands?.copies.find(({ title }) => title === "grpcurl")?.text(call, overTls, client);
    const certificate = clientCertificates === "required" ? "-cert client.pem -key client-key.pem " : "";
    expect(grpcurl).toContain(`grpcurl -cacert backlot-authority.pem ${certificate}-rpc-header`);
  }
});

it("[GRPC-142] it is sent again as it was, or refused if a message is not whole or not kept", async () => {
  const { asked, client } = clientOf(parts);
  expect(await commands?.resend?.run(client, call, service)).toMatch(/^Called \/t.Shop\/Buy again: OK, 1 message in 3/);
  const metadata = [
    ["authorization", "Bearer abcdefgh"],
    ["x-mine", "yes"],
  ];
  expect(asked).toEqual([["resend", { path: "/t.Shop/Buy", metadata, deadlineMs: 2_500, messages: [parts[0]?.base64, parts[2]?.base64] }]]);
  const cut = clientOf([{ ...(parts[0] as GrpcMessagePart), bytes: 99 }]).client;
  await expect(commands?.resend?.run(cut, call, service)).rejects.toThrow("Only the start of a message was recorded");
  await expect(commands?.resend?.run(clientOf(parts, 5).client, call, service)).rejects.toThrow("no longer kept");
  // As where it was longer than the largest one.
  const unary = { ...call, method: { ...call.method, pattern: "unary" } } as GrpcCall;
  await expect(commands?.resend?.run(clientOf([]).client, unary, service)).rejects.toThrow("Its message did not come whole");
  const copy = commands?.copies[0]?.text(unary, service, clientOf([]).client);
  await expect(copy).rejects.toThrow("Its message did not come whole");
});

it("[GRPC-142] messages that were sent as JSON are sent again as protobuf, with names of HTTP/1.1 in any case", async () => {
  const text = '{ "sku": "a" }';
  const json = {
    ...(parts[0] as GrpcMessagePart),
    codec: "json",
    bytes: text.length,
    base64: Buffer.from(text).toString("base64"),
  } as const;
  const { asked, client } = clientOf([json]);
  const web: GrpcCall = {
    ...call,
    protocol: "connect",
    httpVersion: "1.1",
    codec: "json",
    requestHeaders: [
      ["Host", "here"],
      ["Content-Type", "application/json"],
      ["X-Mine", "yes"],
    ],
  };
  await commands?.resend?.run(client, web, service);
  expect(asked).toEqual([
    ["resend", { path: "/t.Shop/Buy", metadata: [["X-Mine", "yes"]], deadlineMs: 2_500, messages: [parts[0]?.base64] }],
  ]);
});

it("[GRPC-143] it is opened in Try with its first message, and with its credentials", async () => {
  const next = (await takeRecorded(clientOf(parts).client, call))(firstCall);
  expect(next).toMatchObject({
    path: "/t.Shop/Buy",
    deadline: "2.5",
    metadata: [
      ["authorization", "Bearer abcdefgh"],
      ["x-mine", "yes"],
    ],
  });
  expect(JSON.parse(messageOf(next) ?? "")).toEqual({ sku: "a", count: 0 });
});

it("[GRPC-140] what is left of a deadline has tenths near its end", () => {
  expect([0, 1_240, 9_999, 50_400, 125_000].map(deadlineLeftText)).toEqual(["0.0 s", "1.2 s", "10.0 s", "50 s", "2 m 05 s"]);
});
