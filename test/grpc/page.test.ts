import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { GrpcMetrics, GrpcTried, GrpcViews } from "../../contract/services/grpc.ts";
import { prefixBytes } from "../../servers/grpc/engine/message-type.ts";
import { grpcService } from "../../servers/grpc/grpc-service.ts";
import { echoMessage, helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { startService } from "../support/start-service.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { callMethod, openStream } from "./calls.ts";
import { type GrpcContract, type GrpcUnderTest, startGrpc } from "./harness.ts";

it("[GRPC-70] calls, open calls and errors of each method are counted for the page", async () => {
  const service = await startGrpc();
  const client = service.client();
  const call = (path: string, metadata = {}) => callMethod(client, path, helloRequest, helloReply, [{ name: "x" }], { metadata });
  await call("/example.Greeter/SayHello");
  await call("/example.Greeter/SayHello", { "x-backlot-status": "ABORTED" });
  await call("/no.Such/Method");
  openStream(client, "/example.EchoService/EchoBidiStream");
  const calls = await until(() => {
    const view = service.views.get("calls");
    return view?.methods.length === 3 && view;
  });
  expect(calls.methods).toEqual([
    { path: "/example.Greeter/SayHello", begun: 2, open: 0, errors: 1 },
    { path: "unknown", begun: 1, open: 0, errors: 1 },
    { path: "/example.EchoService/EchoBidiStream", begun: 1, open: 1, errors: 0 },
  ]);
});

const triedOf = ({ views }: GrpcUnderTest): GrpcTried => views.get("try") ?? { state: "untried" };

it("[GRPC-73] Try calls a unary method with metadata and deadline, and shows reply, headers, trailers and status", async () => {
  const service = await startGrpc({ serverId: "here" });
  await service.act("try.start", {
    path: "/example.Greeter/SayHello",
    json: '{"name":"Ada"}',
    metadata: [["x-backlot-trailers", "x-mine=yes"]],
    deadlineMs: 5_000,
  });
  const ended = await until(() => triedOf(service).state === "ended" && (triedOf(service) as Extract<GrpcTried, { state: "ended" }>));
  expect(ended).toMatchObject({ sent: 1, received: 1, halfClosed: true, deadlineMs: 5_000, status: { code: 0, name: "OK" } });
  expect(ended.trailers).toContainEqual(["x-mine", "yes"]);
  const { messages } = await service.act("try.messages");
  expect(messages.map(({ direction, typeName }) => [direction, typeName])).toEqual([
    ["received", "example.HelloReply"],
    ["sent", "example.HelloRequest"],
  ]);
  expect(helloReply.decode(Buffer.from(messages[0]?.base64 ?? "", "base64")).message).toBe("Hello, Ada from here!");
  expect(await service.ended(() => true)).toMatchObject({ client: "try", outcome: "OK" });
});

it("[GRPC-73] Try keeps a stream open for more messages until it is half-closed or cancelled", async () => {
  const service = await startGrpc();
  const path = "/example.EchoService/EchoBidiStream";
  await service.act("try.start", { path, metadata: [] });
  await expect(service.act("try.start", { path, metadata: [] })).rejects.toMatchObject({ code: "CALL_INVALID" });
  await service.act("try.send", { json: '{"message":"one"}' });
  await service.act("try.send", { json: '{"message":"two"}' });
  await until(() => (triedOf(service) as { readonly received?: number }).received === 2);
  expect(triedOf(service)).toMatchObject({ state: "open", sent: 2, halfClosed: false });
  await service.act("try.half-close");
  await until(() => triedOf(service).state === "ended");
  expect(triedOf(service)).toMatchObject({ status: { code: 0 } });
  await service.act("try.start", { path, metadata: [] });
  await service.act("try.cancel");
  await until(() => (triedOf(service) as Partial<Extract<GrpcTried, { state: "ended" }>>).status?.name === "CANCELLED");
  await expect(service.act("try.send", { json: "{}" })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[GRPC-356] the call of Try is cancelled when no page is open any more, and says so", async () => {
  const service = await startGrpc();
  service.running.pagesLeft();
  await service.act("try.start", { path: "/example.EchoService/EchoBidiStream", metadata: [] });
  service.running.pagesLeft();
  await until(() => triedOf(service).state === "ended");
  expect(triedOf(service)).toMatchObject({ status: { name: "CANCELLED", message: "no page of Backlot is open any more" } });
});

it("[GRPC-74] a message that is not JSON of its type, and an unknown method, are refused and nothing is sent", async () => {
  const service = await startGrpc();
  const start = (path: string, json: string) => service.act("try.start", { path, json, metadata: [] });
  await expect(start("/example.Greeter/SayHello", '{"nome":1}')).rejects.toMatchObject({ message: expect.stringContaining("nome") });
  await expect(start("/example.Greeter/SayHello", "{")).rejects.toMatchObject({ code: "CALL_INVALID" });
  await expect(start("/no.Such/Method", "{}")).rejects.toMatchObject({ code: "CALL_INVALID" });
  expect(service.rows()).toEqual([]);
});

it("[GRPC-151] metadata that cannot be sent is refused, and nothing is sent", async () => {
  const service = await startGrpc();
  const pairs: readonly [string, string][] = [
    ["bad name", "1"],
    ["connection", "close"],
    ["x-one", "größe"],
    ["x-bin", "not base64!"],
  ];
  for (const pair of pairs) {
    const start = service.act("try.start", { path: "/example.Greeter/SayHello", json: "{}", metadata: [pair] });
    await expect(start).rejects.toMatchObject({ code: "CALL_INVALID", message: expect.stringContaining(pair[0]) });
  }
  expect(triedOf(service)).toEqual({ state: "untried" });
});

it("[GRPC-79] Try calls over TLS, also where a client certificate is required", async () => {
  const service = await startGrpc({ tls: true, clientCertificates: "required" }, temporaryDir());
  await service.act("try.start", { path: "/example.Greeter/SayHello", json: "{}", metadata: [] });
  await until(() => (triedOf(service) as Partial<Extract<GrpcTried, { state: "ended" }>>).status?.name === "OK");
  const row = await service.ended(() => true);
  expect(service.detail(row.id).connection).toMatchObject({
    tls: expect.stringContaining("TLS"),
    clientCertificate: expect.stringContaining("Backlot"),
  });
});

it("[GRPC-142] a recorded call is made again with its metadata and messages", async () => {
  const service = await startGrpc();
  const frame = (message: string) => echoMessage.frame({ message }).subarray(prefixBytes).toString("base64");
  const path = "/example.EchoService/EchoBidiStream";
  const metadata: [string, string][] = [["x-mine", "yes"]];
  const params = { path, metadata, deadlineMs: 5_000, messages: [frame("one"), frame("two")] };
  expect(await service.act("resend", params)).toMatchObject({ status: { code: 0, name: "OK" }, received: 2 });
  const row = await service.ended(() => true);
  expect(row).toMatchObject({ client: "resend", target: path, parts: 4 });
  expect(service.detail(row.id).requestHeaders).toContainEqual(["x-mine", "yes"]);
  expect(await service.act("resend", { path: "/no.Such/Method", metadata: [], messages: [] })).toMatchObject({ status: { code: 12 } });
  await expect(service.act("resend", { ...params, metadata: [["not a name", "x"]] })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[GRPC-144] messages of a call that is open are among the figures", async () => {
  const service = await startGrpc();
  await service.act("try.start", { path: "/example.EchoService/EchoBidiStream", json: "{}", metadata: [] });
  let metrics: GrpcMetrics | undefined;
  while (!metrics?.received.some((rate) => rate > 0)) {
    await sleep(100);
    metrics = await service.act("metrics", { seconds: 60, points: 60 });
  }
  expect(Math.max(...metrics.open)).toBe(1);
  expect(Math.max(...metrics.sent)).toBeGreaterThan(0);
});

it("[GRPC-145] a stopped service shows its services and types, also of the user's protocol files, and refuses the rest", async () => {
  const folder = temporaryDir();
  await writeFile(
    path.join(folder, "shop.proto"),
    'syntax = "proto3"; package shop; message Item {} service Shop { rpc Get(Item) returns (Item); }',
  );
  const running = await startGrpc({ protos: [folder] });
  const answer = await running.act("schema");
  await running.stop();
  const revisions: unknown[] = [];
  const stopped = await startService<GrpcContract>(grpcService, {
    mode: "browse",
    // What has gone since ends no browsing.
    config: { protos: [folder, path.join(folder, "gone")] },
    onView: (name, value) => name === "services" && void revisions.push((value as GrpcViews["services"]).revision),
  });
  expect(await stopped.act("schema")).toEqual(answer);
  const served = await until(() => {
    const view = stopped.views.get("services");
    return view?.revision === answer.revision && view;
  });
  expect(served.services.map(({ name }) => name)).toEqual(expect.arrayContaining(["example.Greeter", "shop.Shop"]));
  // A page is not told of fewer types in between, with which it could not read its messages.
  expect(new Set(revisions)).toEqual(new Set([answer.revision]));
  await expect(stopped.act("try.cancel", {})).rejects.toMatchObject({ code: "SERVICE_NOT_RUNNING" });
  expect(stopped.endpoints).toEqual([]);
});
