import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { prefixBytes } from "../../servers/grpc/engine/message-type.ts";
import {
  clientMessage,
  dataRequest,
  echoMessage,
  helloReply,
  helloRequest,
  streamRequest,
} from "../../servers/grpc/services/example-messages.ts";
import { unchanged, until } from "../support/until.ts";
import { callMethod } from "./calls.ts";
import { type GrpcUnderTest, onEnd, startGrpc } from "./harness.ts";
import { framed } from "./raw-call.ts";
import { startWithRules } from "./rules.ts";

const echoBidi = "/example.EchoService/EchoBidiStream";
const subscribe = "/example.StreamService/Subscribe";
const enhanceYourCalm = 11;
const memoryBytes = 1 << 20;
const tooMuchMemory = /^all clients together take more than \d+ bytes of memory, and this connection has most of it$/;
const hello = (service: GrpcUnderTest) =>
  callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }]);

/** A client of its own address, on one connection. */
function clientAt(service: GrpcUnderTest, localAddress: string) {
  const socket = () => connectTcp({ port: service.port, host: localAddress.includes(":") ? "::1" : "127.0.0.1", localAddress });
  const session: ClientHttp2Session = connect(`http://${service.address}`, { createConnection: socket });
  session.on("error", () => {});
  onEnd(() => session.destroy());
  const ended: (number | string)[] = [];
  return {
    ended,
    session,
    open(path: string, bytes: Uint8Array, reads = true, metadata = {}) {
      const fields = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const stream = session.request({ ...fields, ...metadata });
      let status = "";
      stream.on("error", () => {});
      stream.on("response", (fields) => (status = String(fields["grpc-status"] ?? "")));
      stream.on("trailers", (fields) => (status = String(fields["grpc-status"])));
      stream.on("close", () => ended.push(status === "" ? (stream.rstCode ?? 0) : status));
      if (reads) stream.resume();
      stream.write(bytes);
      return stream;
    },
  };
}

it("[GRPC-177] small messages count too, and the connections of the address that has most lose them, not the newcomer", async () => {
  const service = await startGrpc({ messageBytes: 1_000, memoryBytes });
  const begun = framed(Buffer.alloc(1_000)).subarray(0, 905);
  const other = clientAt(service, "::1");
  for (let call = 0; call < 10; call++) other.open(echoBidi, begun);
  await until(() => service.rows().length === 10);
  const many = Array.from({ length: 20 }, () => clientAt(service, "127.0.0.1"));
  for (const client of many) for (let call = 0; call < 15; call++) client.open(echoBidi, begun);
  // With 5 KiB for each call, and what the connections take, some 130 of the 300 fit.
  const lost = () => many.flatMap(({ ended }) => ended);
  await until(() => lost().length >= 150);
  expect([lost().length < 230, new Set(lost()), other.ended]).toEqual([true, new Set([enhanceYourCalm]), []]);
  other.open(echoBidi, begun);
  expect((await hello(service)).status.code).toBe(0);
  expect(other.ended).toEqual([]);
});

it.each([
  ["a stream that rules hold until its end", "ClientStream", { reply: { response: "ruled" } }],
  [
    "messages whose replies wait",
    "BidirectionalStream",
    { when: { request: { message: { exists: true } } }, delay: "30s", reply: { response: "ruled" } },
  ],
] as const)("[GRPC-177] %s counts among the messages of all calls", async (_name, method, rule) => {
  const service = await startWithRules([{ method: `example.Greeter/${method}`, ...rule }], { messageBytes: 10_000, memoryBytes });
  const client = clientAt(service, "127.0.0.1");
  const message = clientMessage.frame({ clientId: "", message: "x".repeat(9_000), sequence: 1 });
  const held = Buffer.concat(Array.from({ length: 5 }, () => message));
  for (let call = 0; call < 30; call++) client.open(`/example.Greeter/${method}`, held);
  // Each takes 50 KB, and 20 of them are the bound.
  await until(() => client.ended.length >= 8);
  expect(new Set(client.ended)).toEqual(new Set(["8"]));
  expect(client.ended.length).toBeLessThan(20);
  expect((await hello(service)).status.code).toBe(0);
  client.session.destroy();
  await until(() => service.rows().every(({ tone }) => tone !== "pending"));
});

const textField = (content: string) => {
  const length = Buffer.from([(content.length & 0x7f) | 0x80, content.length >> 7]);
  return framed(Buffer.concat([Buffer.from([0x0a]), length, Buffer.from(content)]));
};

it.each([
  ["the service of Watch", "/grpc.health.v1.Health/Watch", textField("x".repeat(9_000))],
  ["the prefix of StreamData", "/example.Greeter/StreamData", dataRequest.frame({ count: 1_000, prefix: "x".repeat(9_000) })],
])("[GRPC-183] what a stream keeps of its request counts among the messages of all calls: %s", async (_name, path, request) => {
  const service = await startGrpc({ messageBytes: 10_000, memoryBytes });
  const client = clientAt(service, "127.0.0.1");
  for (let call = 0; call < 60; call++) client.open(path, request).end();
  // Each takes 23 KB, with two bytes for a character, and 46 of them are the bound.
  await until(() => client.ended.length >= 10);
  expect(client.ended.length).toBeLessThan(40);
  expect((await hello(service)).status.code).toBe(0);
  client.session.destroy();
  await until(() => service.rows().every(({ tone }) => tone !== "pending"));
});

it("[GRPC-184] metadata of open calls are bounded for all clients: the connection that has most loses calls", async () => {
  const service = await startGrpc({ metadataBytes: 8_000, messageBytes: 1_000, memoryBytes });
  const few = clientAt(service, "::1");
  const many = clientAt(service, "127.0.0.1");
  const metadata = { "x-large": "x".repeat(7_500) };
  for (let call = 0; call < 10; call++) few.open(echoBidi, Buffer.alloc(0), true, metadata);
  await until(() => service.rows().length === 10);
  for (let call = 0; call < 120; call++) many.open(echoBidi, Buffer.alloc(0), true, metadata);
  // Each takes 12 KB, and 85 of them are the bound.
  await until(() => many.ended.length >= 45);
  expect((await hello(service)).status.code).toBe(0);
  expect([new Set(many.ended), few.ended]).toEqual([new Set([enhanceYourCalm]), []]);
  expect(many.ended.length).toBeLessThan(70);
  const row = await service.ended(({ outcome }) => outcome === "RESOURCE_EXHAUSTED");
  expect(service.detail(row.id).status?.message).toMatch(tooMuchMemory);
});

it("[GRPC-179] answers that all clients leave unread are bounded: the connection that has most loses calls, and the others go on", async () => {
  const service = await startGrpc({ unreadBytes: 64 << 10, concurrentStreams: 1_000, messageBytes: 1_000, memoryBytes: 4 * memoryBytes });
  const few = clientAt(service, "::1");
  const request = (payloadBytes: number) => streamRequest.frame({ fromPosition: 0, count: 0, rate: 100_000, payloadBytes });
  for (let call = 0; call < 3; call++) few.open(subscribe, request(1_000), false).end();
  await until(() => service.rows().filter(({ bytesOut }) => bytesOut > 0).length === 3);
  const many = Array.from({ length: 4 }, () => clientAt(service, "127.0.0.1"));
  for (const client of many) for (let call = 0; call < 40; call++) client.open(subscribe, request(1_000), false).end();
  // Each of the 160 leaves 64 KiB unread, and 64 of them are the bound.
  const lost = () => many.flatMap(({ ended }) => ended);
  await until(() => lost().length >= 100);
  expect([lost().length < 120, new Set(lost()), few.ended]).toEqual([true, new Set([enhanceYourCalm]), []]);
  const row = await service.ended(({ outcome }) => outcome === "RESOURCE_EXHAUSTED");
  expect(service.detail(row.id).status?.message).toMatch(tooMuchMemory);
  expect((await hello(service)).status.code).toBe(0);
});

it("[GRPC-179] answers of unary calls of Connect count until they are read: the connection that has most loses calls", async () => {
  const messageBytes = 200_000;
  const service = await startGrpc({ messageBytes, memoryBytes: 8 * memoryBytes });
  const session = connect(service.webUrl, { settings: { initialWindowSize: 0 } });
  session.on("error", () => {});
  onEnd(() => session.destroy());
  const fields = {
    ":method": "POST",
    ":path": "/example.EchoService/EchoUnary",
    "content-type": "application/proto",
    "content-encoding": "gzip",
  };
  const ended: (number | undefined)[] = [];
  const request = gzipSync(echoMessage.frame({ message: "x".repeat(messageBytes - 100) }).subarray(prefixBytes));
  for (let call = 0; call < 100; call++) {
    const stream = session.request(fields);
    stream.on("error", () => {});
    stream.on("close", () => ended.push(stream.rstCode));
    stream.end(request);
  }
  // Of these, 40 are the bound.
  await until(() => ended.length >= 50);
  expect([ended.length < 75, new Set(ended)]).toEqual([true, new Set([enhanceYourCalm])]);
  expect((await hello(service)).status.code).toBe(0);
});

it("[GRPC-179] small messages that wait count what they take in memory", async () => {
  const service = await startGrpc({ unreadBytes: 64 << 10 });
  const client = clientAt(service, "127.0.0.1");
  client.open(subscribe, streamRequest.frame({ fromPosition: 0, count: 0, rate: 100_000, payloadBytes: 0 }), false).end();
  const sent = () => service.rows()[0]?.parts ?? 0;
  let before = -1;
  for (; before !== sent() || before < 100; await new Promise((resolve) => setTimeout(resolve, 200))) before = sent();
  // What fits its window, and 64 KiB with the memory of each.
  expect(sent()).toBeLessThan((64 << 10) / 30 + (64 << 10) / 512 + 500);
});

it("[GRPC-180] open calls are bounded: the connection that has most loses calls, and new ones begin", async () => {
  const service = await startGrpc({ openCalls: 40 });
  const few = clientAt(service, "::1");
  const many = clientAt(service, "127.0.0.1");
  for (let call = 0; call < 10; call++) few.open(echoBidi, Buffer.alloc(0));
  for (let call = 0; call < 60; call++) many.open(echoBidi, Buffer.alloc(0));
  await until(() => many.ended.length >= 30);
  expect((await hello(service)).status.code).toBe(0);
  expect([new Set(many.ended), few.ended]).toEqual([new Set([enhanceYourCalm]), []]);
  expect(many.ended.length).toBeLessThan(40);
  await until(() => service.rows().filter(({ outcome }) => outcome === "RESOURCE_EXHAUSTED").length === many.ended.length);
});

it("[GRPC-302] refused requests whose answers are unread count like calls; a connection that has nothing else is ended", async () => {
  const service = await startGrpc({ messageBytes: 1_000, memoryBytes });
  const session = connect(`http://${service.address}`, { settings: { initialWindowSize: 0 } });
  session.on("error", () => {});
  onEnd(() => session.destroy());
  let ended: number | undefined;
  session.on("goaway", (code) => (ended = code));
  for (let request = 0; request < 120; request++) {
    const stream = session.request({ ":method": "PUT", ":path": "/", "x-large": "x".repeat(7_000) }, { endStream: true });
    stream.on("error", () => {});
  }
  // Each takes 12 KB, and 85 of them are the bound.
  await until(() => ended !== undefined);
  expect(ended).toBe(enhanceYourCalm);
  expect((await hello(service)).status.code).toBe(0);
});

it("[GRPC-183] places in rooms count, too", async () => {
  const service = await startGrpc({ messageBytes: 1_000, memoryBytes });
  const client = clientAt(service, "127.0.0.1");
  const text = (number: number, content: string) => Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), Buffer.from(content)]);
  const join = (room: number, call: number) => {
    const inner = Buffer.concat([text(1, `${room}`), text(2, `${call}`.padEnd(100, "x"))]);
    return framed(Buffer.concat([Buffer.from([0x0a, inner.length]), inner]));
  };
  for (let call = 0; call < 60; call++) {
    const joins = Buffer.concat(Array.from({ length: 50 }, (_, room) => join(room, call)));
    client.open("/example.ChatService/Chat", joins);
  }
  // Each takes 40 KB, and 25 of them are the bound.
  await until(() => client.ended.length >= 20);
  expect((await hello(service)).status.code).toBe(0);
  expect(client.ended.length).toBeLessThan(60);
});

it("[GRPC-308] on the port of gRPC-Web heads and trailers count as they arrive: the connection that has most is ended", async () => {
  const service = await startGrpc({ metadataBytes: 60_000, messageBytes: 1_000, memoryBytes });
  const head =
    "POST /example.Greeter/ClientStream HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc-web+proto\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  let closed = 0;
  const sockets = Array.from({ length: 16 }, () => {
    const socket = connectTcp(Number(new URL(service.webUrl).port), "127.0.0.1").resume();
    onEnd(() => socket.destroy());
    socket.on("error", () => {}).once("close", () => closed++);
    socket.write(`${head}X: `);
    return socket;
  });
  await until(() => service.rows().length === sockets.length);
  for (const socket of sockets) socket.write("x".repeat(50_000));
  // With 50 KB of a field, and what a connection takes, 12 to 14 fit.
  await until(() => closed > 0);
  await unchanged(() => closed, 300);
  expect(closed).toBeLessThanOrEqual(8);
  expect((await hello(service)).status.code).toBe(0);
});
