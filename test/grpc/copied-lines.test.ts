import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import type { GrpcMethodView } from "../../contract/services/grpc.ts";
import { type CallLanguage, type CopiedCall, callLines } from "../../renderer/src/services/grpc/call-lines.ts";
import { loaderObjectOf } from "../../renderer/src/services/grpc/schema/loader-object.ts";
import { type GrpcSchema, readSchema } from "../../renderer/src/services/grpc/schema/use-grpc-schema.ts";
import { grpcService } from "../../servers/grpc/grpc-service.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { type GrpcUnderTest, startGrpc } from "./harness.ts";

const run = promisify(execFile);
const timeout = 60_000;

/** As somebody who pastes them: nothing else is given to the programs. */
async function output(language: Exclude<CallLanguage, "grpcurl">, lines: string, cwd = projectRoot): Promise<string> {
  const options = { timeout, cwd };
  const [program, ...parameters] =
    language === "python" ? ["/usr/bin/python3", "-c", lines] : [process.execPath, "--input-type=module", "-e", lines];
  return (await run(program as string, parameters, options)).stdout;
}

interface Shown {
  readonly service: GrpcUnderTest;
  readonly schema: GrpcSchema;
}

async function start(config: Record<string, unknown> = {}, certificatesDir?: string): Promise<Shown> {
  const service = await startGrpc(config, certificatesDir);
  await until(() => service.views.has("services"));
  const { base64 } = await service.act("schema", {});
  return { service, schema: readSchema(base64) };
}

/** The client may be told before the row is recorded. */
const endedCalls = ({ rows }: GrpcUnderTest, path: string, count: number) =>
  until(() => {
    const ended = rows().filter(({ target, tone }) => target === path && tone !== "pending");
    return ended.length === count && ended;
  });

function lines(
  { service, schema }: Shown,
  language: CallLanguage,
  path: string,
  messages: readonly string[],
  more: Partial<CopiedCall> = {},
): string {
  const { services } = service.views.get("services") ?? { services: [] };
  const method = services.flatMap(({ methods }) => methods).find((one) => one.path === path) as GrpcMethodView;
  return callLines(language, {
    ...method,
    origin: `grpc://${service.address}`,
    clientCertificate: false,
    metadata: [],
    messages: messages.map((json) => ({ json, object: loaderObjectOf(schema, method.requestType, json) })),
    ...more,
  });
}

it("[GRPC-153] the copied Python and Node lines of each pattern run as they are, with metadata and deadline", async () => {
  const shown = await start({ serverId: "here" });
  const metadata = [
    ["x-backlot-echo", "headers"],
    ["trace-bin", "AAE="],
  ] as const;
  for (const language of ["python", "node"] as const) {
    const called = (path: string, messages: readonly string[], more?: Partial<CopiedCall>) =>
      output(language, lines(shown, language, path, messages, more));
    expect(await called("/example.Greeter/SayHello", ['{"name":"it\'s \\"Ada\\""}'], { metadata, deadlineMs: 20_000 })).toContain("here!");
    expect(await called("/example.Greeter/StreamData", ['{"count":2,"prefix":"p"}'])).toMatch(/p-0[\s\S]*p-1/);
    const two = ['{"message":"one"}', '{"message":"two"}'];
    expect(await called("/example.Greeter/ClientStream", two)).toContain("Received 2 messages");
    expect(await called("/example.Greeter/BidirectionalStream", two)).toMatch(/Echo: one[\s\S]*Echo: two/);
  }
  const hello = await endedCalls(shown.service, "/example.Greeter/SayHello", 2);
  expect(hello.map(({ outcome }) => outcome)).toEqual(["OK", "OK"]);
  for (const { id } of hello) {
    const { requestHeaders, deadlineMs } = shown.service.detail(id);
    expect(requestHeaders.find(([name]) => name === "trace-bin")?.[1]).toMatch(/^AAE=?$/);
    expect(deadlineMs).toBeGreaterThan(10_000);
  }
});

const shop = {
  "shop/item.proto": `syntax = "proto3"; package shop;
    message Item { string sku_name = 1; bytes image = 2; }`,
  "shop/orders.proto": `syntax = "proto3"; package shop;
    import "shop/item.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto"; import "google/protobuf/struct.proto";
    enum State { NEW = 0; PAID = 1; }
    message Order {
      int64 order_number = 1; State state = 2; repeated Item items = 3; map<string, int64> counts = 4;
      oneof target { string email = 5; Item gift = 6; }
      google.protobuf.Timestamp made_at = 7; google.protobuf.StringValue note = 8; google.protobuf.Struct extra = 9; optional bool rush = 10;
    }
    service Orders { rpc Echo(Order) returns (Order); }`,
};

it("[GRPC-153] they send what was typed of every kind of field, of the user's own types with imports", async () => {
  const folder = temporaryDir();
  for (const [name, text] of Object.entries(shop)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const shown = await start({ protos: [folder] });
  const order = {
    orderNumber: "9007199254740993",
    state: "PAID",
    items: [{ skuName: "a", image: "AP8=" }, {}],
    counts: { big: "-3" },
    gift: { skuName: "b" },
    madeAt: "2026-01-31T12:00:00.500Z",
    note: "hi",
    extra: { deep: [1, null, { x: true }] },
    rush: false,
  };
  const json = JSON.stringify(order);
  for (const language of ["python", "node"] as const) await output(language, lines(shown, language, "/shop.Orders/Echo", [json]));
  const type = shown.schema.getMessage("shop.Order");
  if (!type) throw new Error("there is no such type");
  const sent = (await endedCalls(shown.service, "/shop.Orders/Echo", 2)).map(
    ({ id }) => shown.service.parts(id).find(({ direction }) => direction === "received")?.base64 ?? "",
  );
  for (const base64 of sent) expect(toJson(type, fromBinary(type, Buffer.from(base64, "base64")))).toEqual(order);
});

it("[GRPC-153] a status that metadata asks for reaches the call itself, not the reflection before it", async () => {
  const shown = await start();
  const metadata = [["x-backlot-status", "NOT_FOUND"]] as const;
  const call = (language: CallLanguage) => lines(shown, language, "/example.Greeter/SayHello", ['{"name":"Ada"}'], { metadata });
  expect(await output("node", call("node"))).toContain("5 NOT_FOUND");
  await expect(output("python", call("python"))).rejects.toThrow("StatusCode.NOT_FOUND");
  expect(call("grpcurl")).toContain("-rpc-header 'x-backlot-status: NOT_FOUND'");
  const calls = await endedCalls(shown.service, "/example.Greeter/SayHello", 2);
  expect(calls.map(({ outcome }) => outcome)).toEqual(["NOT_FOUND", "NOT_FOUND"]);
  const reflections = await endedCalls(shown.service, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", 2);
  expect(reflections.map(({ outcome }) => outcome)).toEqual(["OK", "OK"]);
});

/** As somebody has saved them, beside the packages of Node. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDir();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  symlinkSync(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

it("[GRPC-153] over TLS they trust the authority, and show a client certificate if one is required; both are files beside them", async () => {
  const certificates = temporaryDir();
  const read = (name: string) => readFileSync(path.join(certificates, name), "utf8");
  for (const clientCertificate of [false, true]) {
    const clientCertificates = clientCertificate ? "required" : "optional";
    const shown = await start({ tls: true, clientCertificates, serverId: "here" }, certificates);
    // A certificate that the authority signed, and its key.
    const [key = ""] = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----\n/.exec(read("computer.pem")) ?? [];
    const folder = folderWith({
      "backlot-authority.pem": new X509Certificate(read("authority-with-private-key.pem")).toString(),
      ...(clientCertificate && { "client.pem": new X509Certificate(read("computer.pem")).toString(), "client-key.pem": key }),
    });
    const origin = `grpcs://${shown.service.address}`;
    const call = (language: CallLanguage) =>
      lines(shown, language, "/example.Greeter/SayHello", ['{"name":"Ada"}'], { origin, clientCertificate });
    for (const language of ["python", "node"] as const) {
      expect(await output(language, call(language), folder)).toContain("Hello, Ada from here!");
    }
    expect(call("grpcurl")).toContain(
      clientCertificate ? "-cacert backlot-authority.pem -cert client.pem -key client-key.pem " : "-cacert backlot-authority.pem -d",
    );
    const { config, snippets } = grpcService;
    const ofPage = snippets(shown.service.endpoints, config.parse({ tls: true, clientCertificates }));
    const snippet = (label: string) => ofPage.find((one) => one.label === label)?.text ?? "";
    expect(await output("node", snippet("Node"), folder)).toContain("Hello, world from here!");
    expect(await output("python", snippet("Python"), folder)).toContain("Hello, world from here!");
    expect(snippet("grpcurl").includes("-key client-key.pem")).toBe(clientCertificate);
  }
});
