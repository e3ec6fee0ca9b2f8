import { writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { credentials } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { openAuthority } from "../../servers/core/certificates/certificate-authority.ts";
import { makeLeaf } from "../../servers/core/certificates/sign-certificate.ts";
import { echoMessage, helloReply, helloRequest, streamItem, streamRequest } from "../../servers/grpc/services/example-messages.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { body, callMethod } from "./calls.ts";
import { type GrpcUnderTest, onEnd, startGrpc } from "./harness.ts";
import { echoUnary, framed, rawRequest } from "./raw-call.ts";
import { post } from "./web-clients.ts";

const sayHello = "/example.Greeter/SayHello";
const hello = (service: GrpcUnderTest) => callMethod(service.client(), sayHello, helloRequest, helloReply, [{ name: "x" }]);

const rawCall = async (...request: Parameters<typeof rawRequest>) => (await rawRequest(...request)).fields;

it("[GRPC-50] a message above the limit is RESOURCE_EXHAUSTED, also one that becomes so when it is decompressed", async () => {
  const service = await startGrpc({ messageBytes: 1_000 });
  const large = await callMethod(service.client(), echoUnary, echoMessage, echoMessage, [{ message: "x".repeat(1_001) }]);
  expect(large.status.code).toBe(8);
  expect(await service.ended(({ tone }) => tone === "refused")).toMatchObject({ outcome: "RESOURCE_EXHAUSTED" });
  const bomb = framed(gzipSync(Buffer.alloc(1 << 20)), 1);
  expect(await rawCall(service, { "grpc-encoding": "gzip" }, bomb)).toMatchObject({ "grpc-status": "8" });
  expect((await hello(service)).status.code).toBe(0);
});

it.each(["/example.ChatService/Chat", "/grpc.health.v1.Health/Check", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"])(
  "[GRPC-173] the requests of Backlot's services without lists have few values: %s",
  async (method) => {
    const service = await startGrpc();
    const values = framed(Buffer.from(Array.from({ length: 2_002 }, (_, index) => (index % 2 === 0 ? 0x12 : 0))));
    expect(await rawCall(service, { ":path": method }, values)).toMatchObject({ "grpc-status": "8" });
  },
);

it("[GRPC-173] a message of 4 kB that has millions of values when it is decompressed is RESOURCE_EXHAUSTED, on both ports", async () => {
  const service = await startGrpc();
  const bomb = framed(gzipSync(Buffer.alloc(4 << 20, Buffer.from([0x78, 0]))), 1);
  const health = { ":path": "/grpc.health.v1.Health/Check", "grpc-encoding": "gzip" };
  const refused = { "grpc-status": "8", "grpc-message": "the message has more values than the limit of 131072" };
  expect(await rawCall(service, health, bomb)).toMatchObject(refused);
  const json = gzipSync(Buffer.from(`{"a":[${"[],".repeat(1_398_000)}[]]}`));
  expect(await rawCall(service, { ...health, "content-type": "application/grpc+json" }, framed(json, 1))).toMatchObject(refused);
  const connect = { "content-type": "application/json", "content-encoding": "gzip" };
  const web = await post(`${service.webUrl}/grpc.health.v1.Health/Check`, connect, json);
  expect(JSON.parse(web.bytes.toString())).toMatchObject({ code: "resource_exhausted" });
  // Of any length as long as it has few values.
  const long = framed(gzipSync(echoMessage.frame({ message: ",".repeat(4_190_000) }).subarray(5)), 1);
  expect(await rawCall(service, { "grpc-encoding": "gzip" }, long)).toMatchObject({ "grpc-status": "0" });
});

it("[GRPC-51] gzip and deflate in both directions; damaged, undeclared and unknown codings have their status", async () => {
  const service = await startGrpc({ compression: "gzip" });
  const text = "the same ".repeat(3_000);
  for (const algorithm of [1, 2]) {
    const client = service.client({ "grpc.default_compression_algorithm": algorithm });
    const { replies, headers } = await callMethod(client, echoUnary, echoMessage, echoMessage, [{ message: text }]);
    expect(replies).toEqual([{ message: text }]);
    expect(headers).toBeDefined();
  }
  const deflated = await callMethod(
    service.client(),
    "/example.EchoService/EchoBidiStream",
    echoMessage,
    echoMessage,
    [{ message: text }, { message: "b" }],
    {
      metadata: { "x-backlot-compression": "deflate" },
    },
  );
  expect(deflated.replies).toEqual([{ message: text }, { message: "b" }]);
  await until(() => service.rows().filter(({ outcome }) => outcome === "OK").length === 3);
  const details = service.rows().map(({ id }) => [service.detail(id).requestEncoding, service.detail(id).responseEncoding]);
  expect(details).toEqual([
    ["deflate", "gzip"],
    ["gzip", "gzip"],
    ["identity", "deflate"],
  ]);
  const [received, sent] = service.parts(1);
  expect(received).toMatchObject({ direction: "received", compressed: true, bytes: text.length + 4 });
  expect(sent).toMatchObject({ direction: "sent", compressed: true, bytes: text.length + 4 });
  expect(received?.wireBytes).toBeLessThan(500);
  expect(await rawCall(service, { "grpc-encoding": "gzip" }, framed(Buffer.from("no gzip"), 1))).toMatchObject({ "grpc-status": "13" });
  expect(await rawCall(service, {}, framed(Buffer.from("no coding"), 1))).toMatchObject({ "grpc-status": "13" });
  expect(await rawCall(service, { "grpc-encoding": "snappy" }, framed(Buffer.from("x"), 1))).toMatchObject({ "grpc-status": "12" });
});

it("[GRPC-52] a deadline ends the call with DEADLINE_EXCEEDED; one of many days is none that is over; a wrong one is INTERNAL", async () => {
  const service = await startGrpc();
  const request = framed(Buffer.from("0a0178", "hex"));
  expect(await rawCall(service, { "grpc-timeout": "99999999H" }, request)).toMatchObject({ "grpc-status": "0" });
  expect(await rawCall(service, { "grpc-timeout": "20m", "x-backlot-delay": "5s" }, request)).toMatchObject({ "grpc-status": "4" });
  expect(await rawCall(service, { "grpc-timeout": "soon" }, request)).toMatchObject({ "grpc-status": "13" });
  const row = await service.ended(({ outcome }) => outcome === "DEADLINE_EXCEEDED");
  expect(service.detail(row.id)).toMatchObject({ deadlineMs: 20, status: { code: 4, message: "Deadline exceeded" } });
});

it("[GRPC-53] a client that does not read is not sent more than fits; others go on", async () => {
  const service = await startGrpc({ concurrentStreams: 3 });
  const session = connect(`http://127.0.0.1:${service.port}`);
  onEnd(() => session.destroy());
  const fields = { ":method": "POST", ":path": "/example.StreamService/Subscribe", "content-type": "application/grpc", te: "trailers" };
  const slow = session.request(fields).on("error", () => {});
  slow.end(streamRequest.frame({ fromPosition: 0, count: 100_000, rate: 100_000, payloadBytes: 1_000 }));
  // The window that HTTP/2 begins with.
  await until(() => (service.rows()[0]?.bytesOut ?? 0) > 60_000);
  for (let count = 0; count < 20; count++) expect((await hello(service)).status.code).toBe(0);
  expect(service.rows()[0]?.bytesOut).toBeLessThan(1 << 20);
  expect((await hello(service)).status.code).toBe(0);
  slow.close();
});

it("[GRPC-51] a stream of large messages goes on while they are compressed in another thread", async () => {
  const service = await startGrpc({ compression: "gzip" });
  const request = { fromPosition: 0, count: 20, rate: 100_000, payloadBytes: 200_000 };
  const { replies, status } = await callMethod(service.client(), "/example.StreamService/Subscribe", streamRequest, streamItem, [request]);
  expect([replies.length, status.code]).toEqual([20, 0]);
});

it("[GRPC-54] a client is told how many calls may be open on a connection", async () => {
  const service = await startGrpc({ concurrentStreams: 2 });
  const session = connect(`http://${service.address}`);
  onEnd(() => session.destroy());
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  expect(session.remoteSettings.maxConcurrentStreams).toBe(2);
});

it("[GRPC-55] [GRPC-298] TLS by the installation's authority; a client's certificate is verified and shown, and may be required", async () => {
  const folder = temporaryDir();
  const service = await startGrpc({ tls: true }, folder);
  const authority = await openAuthority(folder, Date.now());
  const leaf = await makeLeaf(authority, ["localhost"], Date.now());
  const root = Buffer.from(authority.cert);
  const plain = credentials.createSsl(root);
  const withCertificate = credentials.createSsl(root, Buffer.from(leaf.key), Buffer.from(leaf.cert));
  const call = (channel = plain, of = service) => callMethod(of.client({}, channel), sayHello, helloRequest, helloReply, [{ name: "x" }]);
  expect(service.endpoints[0]).toMatchObject({ label: "gRPC over TLS", url: expect.stringMatching(/^grpcs:/) });
  expect((await call()).status.code).toBe(0);
  expect((await call(withCertificate)).status.code).toBe(0);
  await until(() => service.rows().length === 2 && service.rows().every(({ tone }) => tone === "ok"));
  const [first, second] = service.rows().map(({ id }) => service.detail(id).connection);
  expect(first?.tls).toMatch(/^TLSv1\.3 /);
  expect([first?.clientCertificate, second?.clientCertificate]).toEqual([undefined, expect.stringContaining("Backlot")]);

  const strict = await startGrpc({ tls: true, clientCertificates: "required" }, folder);
  expect((await call(withCertificate, strict)).status.code).toBe(0);
  expect((await call(plain, strict)).status.code).toBe(14);
  const lines = () => strict.logs.filter(({ text }) => text.startsWith("A TLS handshake")).map(({ text }) => text);
  await until(() => lines().some((text) => text.endsWith(" failed: the client sent no certificate, which is required.")));
  const socket = connectTcp(strict.port, "127.0.0.1").on("error", () => {});
  onEnd(() => socket.destroy());
  socket.write("GET / HTTP/1.1\r\n\r\n");
  await until(() => lines().some((text) => text.endsWith(" failed: the client sent HTTP without TLS.")));
  expect(lines().join()).not.toMatch(/openssl|\.c:|undefined/i);
  const handshakes = strict.rows().filter(({ target }) => target === "(TLS handshake)");
  expect(handshakes.map(({ reason }) => reason)).toEqual([
    "TLS handshake failed: the client sent no certificate, which is required",
    "TLS handshake failed: the client sent HTTP without TLS",
  ]);
});

it("[GRPC-55] a file of authorities that cannot be used fails the start, and is named with its variable", async () => {
  const file = path.join(temporaryDir(), "ca.pem");
  const start = () => startGrpc({ tls: true, clientCaFile: file });
  const failure = (what: string) => ({ code: "CONFIG_INVALID", message: expect.stringContaining(`Client authority: ${file} ${what}`) });
  await expect(start()).rejects.toMatchObject(failure("cannot be read"));
  writeFileSync(file, "hello");
  const unusable = start();
  await expect(unusable).rejects.toMatchObject(failure("contains no certificate"));
  await expect(unusable).rejects.toMatchObject({ hint: expect.stringContaining("GRPC_CLIENT_CA_FILE") });
});

it("[GRPC-56] bytes that are no HTTP/2 and broken frames end their connection only, with a log line", async () => {
  const service = await startGrpc();
  for (const bytes of ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x04\x06\0\0\0\0\0abcd"]) {
    const socket = connectTcp(service.port, "127.0.0.1");
    onEnd(() => socket.destroy());
    socket.on("error", () => {});
    socket.resume();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(bytes, "latin1");
    await closed;
  }
  await until(() => service.logs.some(({ level, text }) => level === "warning" && /connection from .* was closed/.test(text)));
  expect((await hello(service)).status.code).toBe(0);
});

it("[GRPC-57] when the service stops, calls in flight finish in the grace time, endless ones end with UNAVAILABLE", async () => {
  const service = await startGrpc({ graceMs: 600 });
  const short = callMethod(service.client(), sayHello, helloRequest, helloReply, [{ name: "x" }], {
    metadata: { "x-backlot-delay": "300ms" },
  });
  const endless = callMethod(service.client(), "/example.StreamService/Subscribe", streamRequest, streamItem, [
    { fromPosition: 0, count: 0, rate: 50, payloadBytes: 0 },
  ]);
  await until(() => service.rows().length === 2);
  const startedAt = performance.now();
  await service.stop();
  expect(performance.now() - startedAt).toBeGreaterThan(550);
  expect((await short).status.code).toBe(0);
  const { status, replies } = await endless;
  expect(status).toMatchObject({ code: 14, details: "the service is stopping" });
  expect(replies.length).toBeGreaterThan(10);
});

const echoBidi = "/example.EchoService/EchoBidiStream";

it.each([
  ["that are incomplete", { ":path": echoBidi }, framed(Buffer.alloc(100_000)).subarray(0, 90_005)],
  [
    "that wait for the end of the request",
    { "grpc-encoding": "gzip" },
    framed(gzipSync(body(echoMessage.frame({ message: "x".repeat(90_000) }))), 1),
  ],
  ["on the web port", { ":path": echoBidi, "content-type": "application/grpc-web" }, framed(Buffer.alloc(100_000)).subarray(0, 90_005)],
] as const)("[GRPC-177] messages %s count in the memory of all calls: those that have most are ended", async (name, fields, bytes) => {
  const service = await startGrpc({ messageBytes: 100_000, memoryBytes: 12_800_000 });
  const url = name === "on the web port" ? service.webUrl : `http://${service.address}`;
  const open = async (count: number) => {
    const session = connect(url);
    onEnd(() => session.destroy());
    const ended: unknown[] = [];
    for (let call = 0; call < count; call++) {
      const stream = session.request({ ":method": "POST", ":path": echoUnary, "content-type": "application/grpc", ...fields });
      stream.on("error", () => {});
      stream.on("close", () => ended.push(stream.rstCode));
      stream.resume();
      stream.write(bytes);
    }
    return { session, ended };
  };
  const { session, ended } = await open(200);
  // 70 to 140 of them fit: room for the rest of a message is memory, too.
  await until(() => ended.length >= 20);
  expect(ended.length).toBeLessThan(150);
  const one = await service.ended(({ outcome }) => outcome === "RESOURCE_EXHAUSTED");
  expect(service.detail(one.id).status?.message).toMatch(/^all clients together take more than 12800000 bytes of memory/);
  expect((await hello(service)).status.code).toBe(0);
  session.destroy();
  await until(() => service.rows().every(({ tone }) => tone !== "pending"));
  const again = await open(60);
  await until(() => service.rows().filter(({ tone }) => tone === "pending").length === 60);
  expect((await hello(service)).status.code).toBe(0);
  expect(again.ended).toEqual([]);
});
