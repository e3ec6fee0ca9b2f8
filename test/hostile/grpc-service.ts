import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Client, credentials } from "@grpc/grpc-js";
import { http2Attacks } from "../../bench/load/grpc-attacks.ts";
import { streamRequest } from "../../servers/grpc/services/example-messages.ts";
import { callFields, flags, frameTypes, h2Frame, preface } from "../grpc/h2-frames.ts";
import {
  type Attack,
  type HostileService,
  httpAttacks,
  httpRequest,
  overEndpoint,
  randomBytes,
  repeated,
  type Target,
  throwAt,
} from "./hostile-service.ts";

/** { name: "bystander" } */
const hello = Buffer.from("0a0962797374616e646572", "hex");
const asIs = (bytes: Buffer): Buffer => bytes;

const jsonCall = (path: string, body: string) =>
  httpRequest("POST", path, { headers: "Content-Type: application/json\r\nConnect-Protocol-Version: 1\r\n", body: Buffer.from(body) });

/** Connect's streams: flags, length, message. */
function streamCall(path: string, body: string): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return httpRequest("POST", path, {
    headers: "Content-Type: application/connect+json\r\nConnect-Protocol-Version: 1\r\n",
    body: Buffer.concat([prefix, Buffer.from(body)]),
  });
}

/** Three requests with messages of 4 kB that become 4 MiB: unknown fields, JSON of empty lists, and a list of empty messages. */
function manyValues(): Buffer {
  const requests = [
    ["/grpc.health.v1.Health/Check", "proto", Buffer.alloc(4 << 20, Buffer.from([0x78, 0]))],
    ["/example.Greeter/SayHello", "json", Buffer.from(`{"a":[${"[],".repeat(1_300_000)}[]]}`)],
    ["/example.Greeter/SayHello", "proto", Buffer.alloc(4 << 20, Buffer.from([0x0a, 0]))],
  ] as const;
  return Buffer.concat(
    requests.map(([path, codec, message]) =>
      httpRequest("POST", path, { headers: `Content-Type: application/${codec}\r\nContent-Encoding: gzip\r\n`, body: gzipSync(message) }),
    ),
  );
}

/** What a connection sends to make so many calls at once. */
function unaryCalls(count: number): Buffer {
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, hello.length]), hello]);
  const head = callFields("/example.Greeter/SayHello");
  const frames = Array.from({ length: count }, (_, index) => [
    h2Frame(frameTypes.headers, flags.endHeaders, 2 * index + 1, head),
    h2Frame(frameTypes.data, flags.endStream, 2 * index + 1, message),
  ]);
  return Buffer.concat([preface, ...frames.flat()]);
}

/** The frames of a request whose fields are followed by a unit again and again. */
function longHead(stream: number, unit: Buffer, bytes: number): Buffer {
  const head = callFields("/example.Greeter/SayHello");
  const block = Buffer.concat([head, Buffer.from([0x40, 1, 0x61, 0]), Buffer.alloc(bytes, unit)]);
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += 16_384) {
    const isLast = at + 16_384 >= block.length;
    const flag = (isLast ? flags.endHeaders : 0) | (at === 0 ? flags.endStream : 0);
    frames.push(h2Frame(at === 0 ? frameTypes.headers : frameTypes.continuation, flag, stream, block.subarray(at, at + 16_384)));
  }
  return Buffer.concat(frames);
}
const longHeads = (count: number, unit: readonly number[], bytes: number): Buffer =>
  Buffer.concat([preface, ...Array.from({ length: count }, (_, index) => longHead(2 * index + 1, Buffer.from(unit), bytes))]);

const spaces = " ".repeat(60_000);

/** Calls of one connection with these fields. */
async function callWith(
  { port, holdMs }: Target,
  calls: number,
  fields: Readonly<Record<string, string>>,
  message: Uint8Array = Buffer.alloc(0),
): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { maxSendHeaderBlockLength: 1 << 20 });
  session.on("error", () => {});
  const closed = once(session, "close").then(() => {});
  const head = { ":method": "POST", ":path": "/example.Greeter/SayHello", "content-type": "application/grpc", te: "trailers" };
  for (let call = 0; call < calls; call++) {
    const stream = session.request({ ...head, ...fields });
    stream.on("error", () => {});
    stream.resume();
    stream.end(message);
  }
  await Promise.race([closed, delay(holdMs)]);
  session.destroy();
  await closed;
}

/** A request of ChatService: an action by its number, with its two texts. */
function chatRequest(action: number, ...texts: readonly string[]): Buffer {
  const field = (number: number, content: Buffer) => {
    const length: number[] = [];
    for (let rest = content.length; ; rest >>>= 7) {
      length.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
      if (rest <= 0x7f) break;
    }
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
  };
  return field(action, Buffer.concat(texts.map((text, index) => field(index + 1, Buffer.from(text)))));
}
const joinRoom = (room: string, name: string): Buffer => chatRequest(1, room, name);
const sayInRoom = (room: string, text: string): Buffer => chatRequest(2, room, text);

/** Members of chat, each of which sends these requests; their connection ends after `holdMs`. */
async function chatters({ port, holdMs }: Target, members: number, requests: (member: number) => readonly Buffer[]): Promise<void> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const streams = Array.from({ length: members }, (_, member) => {
    const stream = client.makeBidiStreamRequest("/example.ChatService/Chat", asIs, asIs);
    stream.on("error", () => {}).resume();
    for (const request of requests(member)) stream.write(request);
    return stream;
  });
  await delay(holdMs);
  // A client that is closed goes on with the calls that it has.
  for (const stream of streams) stream.cancel();
  client.close();
}

export const grpcService: HostileService = {
  flags: ["--grpc-web-port", "0", "--grpc-metrics-port", "0"],
  config: { webPort: 0, metricsPort: 0 },
  async openBystander({ port }) {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    return {
      ask: () =>
        new Promise<void>((resolve, reject) => {
          client.makeUnaryRequest("/example.Greeter/SayHello", asIs, asIs, hello, { deadline: Date.now() + 30_000 }, (error) =>
            error ? reject(error) : resolve(),
          );
        }),
      close: async () => client.close(),
    };
  },
  attacks: {
    ...Object.fromEntries(
      Object.entries(http2Attacks).map(([name, bytes]): [string, Attack] => {
        const content = Buffer.concat([preface, bytes()]);
        return [name, (target) => throwAt(target, 4, content, "all")];
      }),
    ),
    "10,000 streams, nothing read": (target) => throwAt(target, 4, Buffer.concat([preface, http2Attacks["10,000-streams"]!()]), "nothing"),
    "header blocks of 250 kB": (target) => throwAt(target, 50, longHeads(2, [0, 1, 0x61, 0], 250_000), "all"),
    "header blocks of 250 kB that change the table": (target) => throwAt(target, 50, longHeads(2, [0x40, 1, 0x61, 0], 250_000), "all"),
    "header fields of a byte, 3,500 for each of 50 calls": (target) => throwAt(target, 20, longHeads(50, [0xbe], 3_500), "all"),
    "details of 60 kB": (target) =>
      callWith(target, 20, {
        "x-backlot-status": "3",
        "x-backlot-details": `{"@type":"BadRequest","fieldViolations":[${"{},".repeat(20_000)}{}]}`,
      }),
    "codings that slow patterns read": (target) =>
      callWith(target, 10, { "x-backlot-compression": "gzip", "grpc-accept-encoding": `a${spaces}x` }),
    "streams at full rate, compressed": (target) =>
      callWith(
        target,
        200,
        { ":path": "/example.StreamService/Subscribe", "grpc-accept-encoding": "gzip", "x-backlot-compression": "gzip" },
        streamRequest.frame({ fromPosition: 0, count: 0, rate: 100_000, payloadBytes: 16_000 }),
      ),
    "20,000 questions of two bytes about services, on each of 50 streams": (target) =>
      callWith(
        target,
        50,
        { ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" },
        Buffer.alloc(20_000 * 7, Buffer.from([0, 0, 0, 0, 2, 0x3a, 0])),
      ),
    "values joined in one field, and sent back": (target) =>
      callWith(target, 20, { "a-bin": ",".repeat(60_000), "x-backlot-echo": "both" }),
    "chat: 64 kB to a room of 60": (target) => {
      const room = `${target.random.below(2 ** 32)}`;
      const text = "x".repeat(64_000);
      return chatters(target, 60, (member) => [joinRoom(room, `${member}`), ...(member < 3 ? Array(3).fill(sayInRoom(room, text)) : [])]);
    },
    "chat: 50 members of 50 rooms come and go": (target) => {
      const name = target.random.below(2 ** 32);
      return chatters(target, 50, (member) => Array.from({ length: 50 }, (_, room) => joinRoom(`${name} ${room}`, `${member}`)));
    },
    "100 calls at once on each of 50 connections": (target) => throwAt(target, 50, unaryCalls(100), "all"),
    "250 calls at once on each of 200 connections": (target) => throwAt(target, 200, unaryCalls(250), "all"),
    "300 connections that say nothing": (target) => throwAt(target, 300, Buffer.alloc(0), "all"),
    "random bytes": (target) => throwAt(target, 20, () => Buffer.concat([preface, randomBytes(target, 2_000)]), "all"),
    ...overEndpoint("gRPC-Web", {
      ...httpAttacks("/example.Greeter/SayHello"),
      "calls, answers unread": (target) =>
        throwAt(target, 8, repeated(jsonCall("/example.Greeter/SayHello", JSON.stringify({ name: "x".repeat(10_000) })), 200), "nothing"),
      "content types that slow patterns read": (target) =>
        throwAt(
          target,
          10,
          Buffer.concat(
            ["application/grpc-web", "application/json;", "application/json; charset=utf-8"].map((type) =>
              httpRequest("POST", "/example.Greeter/SayHello", { headers: `Content-Type: ${type}${spaces}x\r\n` }),
            ),
          ),
          "all",
        ),
      "messages of millions of values": (target) => throwAt(target, 10, manyValues(), "all"),
      "streams, unread": (target) => throwAt(target, 100, streamCall("/example.StreamService/Subscribe", "{}"), "nothing"),
      "JSON of 100,000 levels": (target) => throwAt(target, 20, jsonCall("/example.Greeter/SayHello", '{"name":'.repeat(100_000)), "all"),
    }),
    ...overEndpoint("Metrics", httpAttacks("/metrics")),
  },
};
