/** What the frames of a client are answered with: RFC 9113, in the order of its sections. */
import { expect, it } from "vitest";
import { clientMessage, echoMessage } from "../../servers/grpc/services/example-messages.ts";
import { until } from "../support/until.ts";
import { callFields, field, flags, frameTypes, h2Frame, preface } from "./h2-frames.ts";
import { type GrpcUnderTest, startGrpc } from "./harness.ts";
import { type HostileClient, hostileClient } from "./hostile-http2.ts";

const { data, headers, priority, rstStream, settings, ping, goaway, windowUpdate, continuation } = frameTypes;
const pushPromise = 5;
const padded = 8;
const withPriority = 0x20;
const { endStream, endHeaders, ack } = flags;
const codes = { protocol: 1, flowControl: 3, streamClosed: 5, frameSize: 6, refused: 7, compression: 9, calm: 11 };

const echoUnary = "/example.EchoService/EchoUnary";
const watch = callFields("/grpc.health.v1.Health/Watch");
/** A call that is open for a while, also when its request has ended. */
const slow = Buffer.concat([callFields(echoUnary), field("x-backlot-delay", "2s")]);
const message = echoMessage.frame({ message: "x" });
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};
const setting = (id: number, value: number): Buffer => Buffer.concat([Buffer.from([0, id]), number(value)]);
const open = (stream: number, block: Uint8Array = watch, more = 0) => h2Frame(headers, endHeaders | more, stream, block);
const cancel = (stream: number) => h2Frame(rstStream, 0, stream, number(8));
/** A call that is answered at once and whose both sides end. */
const whole = (stream: number) => [open(stream, callFields(echoUnary)), h2Frame(data, endStream, stream, message)];
const probe = h2Frame(ping, 0, 0, Buffer.from("are here"));
const pong = h2Frame(ping, ack, 0, Buffer.from("are here"));
/** Other than of `callFields`. */
const fields = (...pairs: readonly (readonly [name: string, value: string])[]) =>
  Buffer.concat(pairs.map(([name, value]) => field(name, value)));
const post = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", echoUnary],
] as const;

type Expected = { readonly goaway: number } | { readonly reset: number } | "lives";
type Case = readonly [name: string, expected: Expected, ...frames: (Buffer | readonly Buffer[])[]];

const protocol = { goaway: codes.protocol };
const size = { goaway: codes.frameSize };
const malformed = { reset: codes.protocol };
const bad = (name: string, ...pairs: readonly (readonly [string, string])[]): Case => [`§8 ${name}`, malformed, open(1, fields(...pairs))];

const cases: readonly Case[] = [
  ["§3.4 the first frame is not SETTINGS", protocol],
  ["§4.2 a frame above 16,384 bytes", size, h2Frame(data, 0, 1, Buffer.alloc(16_385))],
  ["§4.2 a whole frame of 16,384 bytes", "lives", open(1), h2Frame(data, 0, 1, Buffer.alloc(16_384))],
  ["§4.1 the reserved bit of a stream's number", "lives", h2Frame(ping, 0, 0x80000000, Buffer.from("reserved"))],
  ["§4.1 flags that a type of frames does not have", "lives", h2Frame(ping, 0x16, 0, Buffer.from("of flags"))],
  ["§4.2 HEADERS above 16,384 bytes", size, h2Frame(headers, endHeaders, 1, Buffer.alloc(16_385))],
  ["§4.3 a header block interrupted by PRIORITY", protocol, h2Frame(headers, 0, 1, watch), h2Frame(priority, 0, 1, Buffer.alloc(5))],
  ["§4.3 an index of nothing", { goaway: codes.compression }, open(1, Buffer.from([0x80]))],
  ["§4.3 a larger table than allowed", { goaway: codes.compression }, open(1, Buffer.concat([Buffer.from([0x3f, 0xe2, 0x1f]), watch]))],
  ["§4.3 a change of the table behind the fields", { goaway: codes.compression }, open(1, Buffer.concat([watch, Buffer.from([0x20])]))],
  ["§4.3 a change of the table before the fields", "lives", open(1, Buffer.concat([Buffer.from([0x20]), watch]))],
  ["§4.3 a header block that cannot be decoded", { goaway: codes.compression }, open(1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))],
  ["§4.3 a header block interrupted by another frame", protocol, h2Frame(headers, 0, 1, watch), probe],
  ["§4.3 a header block interrupted by another stream", protocol, h2Frame(headers, 0, 1, watch), open(3)],
  ["§5.1 DATA for an idle stream", protocol, h2Frame(data, 0, 1, message)],
  ["§5.1 RST_STREAM for an idle stream", protocol, cancel(1)],
  ["§5.1 WINDOW_UPDATE for an idle stream", protocol, h2Frame(windowUpdate, 0, 1, number(1))],
  ["§5.1 CONTINUATION without HEADERS", protocol, h2Frame(continuation, endHeaders, 1, watch)],
  ["§5.1 DATA behind the end of the request", { reset: codes.streamClosed }, open(1, slow, endStream), h2Frame(data, 0, 1, message)],
  ["§5.1 HEADERS behind the end of the request", { reset: codes.streamClosed }, open(1, slow, endStream), open(1, slow, endStream)],
  ["§5.1 DATA behind the client's reset", { goaway: codes.streamClosed }, open(1), cancel(1), h2Frame(data, 0, 1, message)],
  ["§5.1 HEADERS behind the client's reset", { goaway: codes.streamClosed }, open(1), cancel(1), open(1)],
  ["§5.1 RST_STREAM and WINDOW_UPDATE for a closed stream", "lives", open(1), cancel(1), cancel(1), h2Frame(windowUpdate, 0, 1, number(9))],
  [
    "§5.1 late frames behind a reset of the service",
    "lives",
    open(1, fields()),
    h2Frame(data, 0, 1, message),
    open(1, fields(["a", "b"]), endStream),
  ],
  ["§5.1.1 an even stream", protocol, open(2)],
  ["§5.1.1 a stream with a smaller number than one before", { goaway: codes.protocol }, open(5), open(3)],
  ["§5.1.2 more streams than allowed", { reset: codes.refused }, [3, 5, 7].map((stream) => open(stream)), open(1 + 8)],
  ["§5.3 PRIORITY", "lives", h2Frame(priority, 0, 1, Buffer.alloc(5)), open(1), h2Frame(priority, 0, 1, Buffer.alloc(5))],
  ["§5.3 PRIORITY of another length", size, h2Frame(priority, 0, 1, Buffer.alloc(4))],
  ["§5.3 PRIORITY for the connection", protocol, h2Frame(priority, 0, 0, Buffer.alloc(5))],
  ["§5.3 HEADERS with a priority", "lives", open(1, Buffer.concat([Buffer.alloc(5), watch]), withPriority)],
  [
    "§5.5 frames of unknown types, with unknown flags",
    "lives",
    h2Frame(16, 255, 0, Buffer.from("u=1")),
    h2Frame(200, 0, 7, Buffer.alloc(9)),
  ],
  ["§5.5 an unknown frame within a header block", protocol, h2Frame(headers, 0, 1, watch), h2Frame(200, 0, 1)],
  ["§6.1 DATA for the connection", protocol, h2Frame(data, 0, 0, message)],
  ["§6.1 padding", "lives", open(1), h2Frame(data, padded, 1, Buffer.concat([Buffer.from([3]), message, Buffer.alloc(3)]))],
  ["§6.1 padding that is longer than its frame", protocol, open(1), h2Frame(data, padded, 1, Buffer.from([9, 0, 0]))],
  ["§6.1 padding without a length", size, open(1), h2Frame(data, padded, 1)],
  [
    "§6.1 padding without data, of which the window is given back",
    "lives",
    open(1, slow),
    Array.from({ length: 300 }, () => h2Frame(data, padded, 1, Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]))),
  ],
  ["§6.2 HEADERS for the connection", protocol, open(0)],
  ["§6.2 padding that is longer than its frame", protocol, h2Frame(headers, endHeaders | padded, 1, Buffer.from([200, 0x82]))],
  ["§6.4 RST_STREAM for the connection", protocol, cancel(0)],
  ["§6.4 RST_STREAM of another length", size, open(1), h2Frame(rstStream, 0, 1, Buffer.alloc(3))],
  ["§6.5 SETTINGS for a stream", protocol, h2Frame(settings, 0, 1)],
  ["§6.5 SETTINGS with half an entry", size, h2Frame(settings, 0, 0, Buffer.alloc(3))],
  ["§6.5 an acknowledgement with content", size, h2Frame(settings, ack, 0, setting(4, 1))],
  ["§6.5.2 ENABLE_PUSH of 2", protocol, h2Frame(settings, 0, 0, setting(2, 2))],
  ["§6.5.2 INITIAL_WINDOW_SIZE above the largest", { goaway: codes.flowControl }, h2Frame(settings, 0, 0, setting(4, 0x80000000))],
  ["§6.5.2 MAX_FRAME_SIZE below the smallest", protocol, h2Frame(settings, 0, 0, setting(5, 16_383))],
  ["§6.5.2 MAX_FRAME_SIZE above the largest", protocol, h2Frame(settings, 0, 0, setting(5, 1 << 24))],
  [
    "§6.5.2 a setting whose value is not valid behind one that is",
    protocol,
    h2Frame(settings, 0, 0, Buffer.concat([setting(4, 9), setting(2, 7)])),
  ],
  ["§6.5.2 an unknown setting", "lives", h2Frame(settings, 0, 0, setting(250, 7))],
  [
    "§6.5.2 more entries than anybody needs",
    { goaway: codes.calm },
    h2Frame(settings, 0, 0, Buffer.concat(Array(33).fill(setting(250, 7)))),
  ],
  ["§6.6 PUSH_PROMISE", protocol, h2Frame(pushPromise, endHeaders, 1, Buffer.concat([number(2), watch]))],
  ["§6.7 PING for a stream", protocol, h2Frame(ping, 0, 1, Buffer.alloc(8))],
  ["§6.7 PING of another length", size, h2Frame(ping, 0, 0, Buffer.alloc(7))],
  ["§6.7 an answer to no PING", "lives", h2Frame(ping, ack, 0, Buffer.alloc(8))],
  ["§6.8 GOAWAY without open streams", { goaway: 0 }, h2Frame(goaway, 0, 0, Buffer.alloc(8))],
  ["§7 an unknown code in GOAWAY", { goaway: 0 }, h2Frame(goaway, 0, 0, Buffer.concat([number(0), number(0xff)]))],
  ["§7 an unknown code in RST_STREAM", "lives", open(1), h2Frame(rstStream, 0, 1, number(0xff))],
  ["§6.8 GOAWAY for a stream", protocol, h2Frame(goaway, 0, 1, Buffer.alloc(8))],
  ["§6.8 GOAWAY that is too short", size, h2Frame(goaway, 0, 0, Buffer.alloc(4))],
  ["§6.9 WINDOW_UPDATE of another length", size, h2Frame(windowUpdate, 0, 0, Buffer.alloc(3))],
  ["§6.9 WINDOW_UPDATE of nothing for the connection", protocol, h2Frame(windowUpdate, 0, 0, number(0))],
  ["§6.9 WINDOW_UPDATE of nothing for a stream", malformed, open(1), h2Frame(windowUpdate, 0, 1, number(0))],
  [
    "§6.9.1 a window of the connection that becomes too large",
    { goaway: codes.flowControl },
    h2Frame(windowUpdate, 0, 0, number(0x7fffffff)),
  ],
  [
    "§6.9.1 a window of a stream that becomes too large",
    { reset: codes.flowControl },
    open(1),
    h2Frame(windowUpdate, 0, 1, number(0x7fffffff)),
  ],
  [
    "§6.9.2 a window of a stream that becomes too large by SETTINGS",
    { goaway: codes.flowControl },
    open(1),
    h2Frame(windowUpdate, 0, 1, number(1 << 30)),
    h2Frame(settings, 0, 0, setting(4, 0x7fffffff)),
  ],
  // What the client does not read of its request arrives until the window is used up: the call has one message.
  [
    "§6.9 more DATA than the window of a stream allows",
    { reset: codes.flowControl },
    open(1, slow),
    Array.from({ length: 5 }, () => h2Frame(data, 0, 1, Buffer.alloc(16_384))),
  ],
  [
    "§6.10 a header block in pieces",
    "lives",
    h2Frame(headers, 0, 1, watch.subarray(0, 9)),
    h2Frame(continuation, 0, 1),
    h2Frame(continuation, endHeaders, 1, watch.subarray(9)),
  ],
  ["§6.10 CONTINUATION behind the end of the block", protocol, open(1), h2Frame(continuation, endHeaders, 1, watch)],
  ["§6.10 CONTINUATION for the connection", protocol, h2Frame(headers, 0, 1, watch), h2Frame(continuation, endHeaders, 0, watch)],
  ["§8.1 a second head without the end of the stream", malformed, open(1), open(1, fields(["a", "b"]))],
  ["§8.1 trailers with a pseudo-header field", malformed, open(1), open(1, fields([":path", "/"]), endStream)],
  ["§8.1 trailers", "lives", open(1), open(1, fields(["a", "b"]), endStream)],
  [
    "§8.1.1 content-length that is more than the body",
    malformed,
    open(1, Buffer.concat([watch, fields(["content-length", "9"])]), endStream),
  ],
  [
    "§8.1.1 content-length that is less than the body",
    malformed,
    open(1, Buffer.concat([watch, fields(["content-length", "3"])])),
    h2Frame(data, 0, 1, message),
  ],
  [
    "§8.1.1 content-length that is less than the body in several pieces",
    malformed,
    open(1, Buffer.concat([watch, fields(["content-length", "7"])])),
    h2Frame(data, 0, 1, Buffer.alloc(4)),
    h2Frame(data, 0, 1, Buffer.alloc(4)),
  ],
  [
    "§8.1.1 content-length that is more than the body, with trailers",
    malformed,
    open(1, Buffer.concat([watch, fields(["content-length", "7"])])),
    h2Frame(data, 0, 1, Buffer.alloc(4)),
    open(1, fields(["a", "b"]), endStream),
  ],
  [
    "§8.1.1 content-length of the body",
    "lives",
    open(1, Buffer.concat([watch, fields(["content-length", "5"])])),
    h2Frame(data, endStream, 1, Buffer.alloc(5)),
  ],
  bad("content-length that is no number", ...post, ["content-length", "-1"]),
  bad("content-length twice", ...post, ["content-length", "1"], ["content-length", "2"]),
  bad("a name in upper case", ...post, ["X-Name", "a"]),
  bad("a blank in a name", ...post, ["x name", "a"]),
  bad("an empty name", ...post, ["", "a"]),
  bad("a line feed in a value", ...post, ["x-name", "a\nb"]),
  bad("NUL in a value", ...post, ["x-name", "a\0b"]),
  bad("a value that begins with a blank", ...post, ["x-name", " b"]),
  bad("connection", ...post, ["connection", "close"]),
  bad("transfer-encoding", ...post, ["transfer-encoding", "chunked"]),
  bad("te other than trailers", ...post, ["te", "gzip"]),
  bad("an unknown pseudo-header field", ...post, [":protocol", "websocket"]),
  bad("a pseudo-header field of answers", ...post, [":status", "200"]),
  bad("a pseudo-header field behind another field", post[0], ["x-name", "a"], post[1], post[2]),
  bad("a pseudo-header field twice", ...post, post[0]),
  bad("no :method", post[1], post[2]),
  bad("no :scheme", post[0], post[2]),
  bad("no :path", post[0], post[1]),
  bad("an empty :path", post[0], post[1], [":path", ""]),
  bad(":path without a slash", post[0], post[1], [":path", "x"]),
  bad("CONNECT with :path", [":method", "CONNECT"], [":authority", "a:1"], [":path", "/"]),
  ["§8.5 CONNECT", "lives", open(1, fields([":method", "CONNECT"], [":authority", "a:1"]), endStream)],
  ["§8.3.1 OPTIONS *", "lives", open(1, fields([":method", "OPTIONS"], [":scheme", "http"], [":path", "*"]), endStream)],
];

/** Complete frames that came. */
function framesOf(client: HostileClient): Buffer[] {
  const bytes = client.received();
  const frames: Buffer[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (at + 9 + bytes.readUIntBE(at, 3) <= bytes.length) frames.push(bytes.subarray(at, at + 9 + bytes.readUIntBE(at, 3)));
  }
  return frames;
}

const ofType = (client: HostileClient, type: number): Buffer[] => framesOf(client).filter((frame) => frame[3] === type);

async function check(service: GrpcUnderTest, [name, expected, ...frames]: Case): Promise<void> {
  const client = hostileClient(service);
  const begin = name.startsWith("§3.4") ? Buffer.concat([preface.subarray(0, 24), probe]) : preface;
  await client.write(Buffer.concat([begin, ...frames.flat(), probe]));
  if (expected !== "lives" && "goaway" in expected) {
    await client.closed;
    expect(client.goaway(), name).toBe(expected.goaway);
    return;
  }
  await until(() => framesOf(client).some((frame) => frame.equals(pong))).catch(() => {
    throw new Error(`${name}: the connection does not live`);
  });
  expect(client.isClosed, name).toBe(false);
  const resets = ofType(client, rstStream).map((frame) => frame.readUInt32BE(9));
  if (expected === "lives")
    expect(
      resets.filter((code) => code !== 0 && !name.includes("reset of the service")),
      name,
    ).toEqual([]);
  else expect(resets, name).toEqual([expected.reset]);
  client.socket.destroy();
}

it("[GRPC-291] what RFC 9113 says of frames, streams and requests, with the code of each error", async () => {
  const service = await startGrpc({ concurrentStreams: 3 });
  for (const one of cases) await check(service, one);
  expect(service.logs.filter(({ level }) => level === "error")).toEqual([]);
  await until(() => service.rows().every(({ tone }) => tone !== "pending"));
});

it("[GRPC-291] the same bytes mean the same in whatever pieces they arrive", async () => {
  const service = await startGrpc();
  const bytes = Buffer.concat([preface, ...whole(1), ...whole(3), probe]);
  for (const pieces of [1, 3, 10, 1_000]) {
    const client = hostileClient(service);
    client.socket.setNoDelay(true);
    for (let at = 0; at < bytes.length; at += pieces) {
      await client.write(bytes.subarray(at, at + pieces));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => ofType(client, headers).length === 4);
    expect(ofType(client, data).map((frame) => frame.subarray(9))).toEqual([message, message]);
    client.socket.destroy();
  }
});

it("[GRPC-292] answers wait for the windows of their stream and of the connection, and streams take turns", async () => {
  const service = await startGrpc();
  const client = hostileClient(service);
  const text = "x".repeat(40_000);
  const asked = (stream: number) => {
    const frame = echoMessage.frame({ message: text });
    const parts = [0, 1, 2].map((part) => frame.subarray(16_384 * part, 16_384 * (part + 1)));
    return [open(stream, callFields(echoUnary)), ...parts.map((part, index) => h2Frame(data, index === 2 ? endStream : 0, stream, part))];
  };
  await client.write(Buffer.concat([preface, h2Frame(settings, 0, 0, setting(4, 10)), ...asked(1), ...asked(3), ...asked(5)]));
  const sent = (stream: number) =>
    ofType(client, data)
      .filter((frame) => frame.readUInt32BE(5) === stream)
      .reduce((sum, frame) => sum + frame.length - 9, 0);
  await until(() => [1, 3, 5].every((stream) => sent(stream) === 10));
  // The window of open streams grows by the difference.
  await client.write(h2Frame(settings, 0, 0, setting(4, 1 << 20)));
  await until(() => sent(1) + sent(3) + sent(5) === 65_535);
  expect(Math.max(sent(1), sent(3), sent(5)) - Math.min(sent(1), sent(3), sent(5))).toBeLessThanOrEqual(16_384);
  await client.write(h2Frame(windowUpdate, 0, 0, number(1 << 20)));
  await until(() => ofType(client, headers).length === 6);
  expect([1, 3, 5].map(sent)).toEqual(Array(3).fill(echoMessage.frame({ message: text }).length));
  expect(ofType(client, data).every((frame) => frame.length <= 9 + 16_384)).toBe(true);
});

it("[GRPC-292] SETTINGS are acknowledged one by one; of a setting that is there twice the last one counts, and a window may become negative", async () => {
  const service = await startGrpc();
  const client = hostileClient(service);
  const answered = () => ofType(client, data).reduce((sum, frame) => sum + frame.length - 9, 0);
  const acknowledged = () => ofType(client, settings).filter((frame) => frame[4] === ack).length;
  const text = echoMessage.frame({ message: "x".repeat(100) });
  const window = (value: number) => h2Frame(settings, 0, 0, setting(4, value));
  await client.write(Buffer.concat([preface, h2Frame(settings, 0, 0, Buffer.concat([setting(4, 90), setting(4, 20)]))]));
  await client.write(Buffer.concat([open(1, callFields(echoUnary)), h2Frame(data, endStream, 1, text)]));
  await until(() => answered() === 20 && acknowledged() === 2);
  // 15 below nothing.
  await client.write(Buffer.concat([window(5), h2Frame(windowUpdate, 0, 1, number(15)), probe]));
  await until(() => framesOf(client).some((frame) => frame.equals(pong)));
  expect([answered(), acknowledged()]).toEqual([20, 3]);
  await client.write(h2Frame(windowUpdate, 0, 1, number(7)));
  await until(() => answered() === 27);
  await client.write(window(1_000));
  await until(() => ofType(client, headers).length === 2);
  expect([answered(), acknowledged()]).toEqual([text.length, 4]);
  client.socket.destroy();
});

it("[GRPC-292] a client may send on when the handler has taken what came", async () => {
  const service = await startGrpc();
  const client = hostileClient(service);
  await client.write(Buffer.concat([preface, open(1, callFields("/example.Greeter/ClientStream"))]));
  let window = 65_535;
  let credited = 0;
  for (let count = 0; count < 100; count++) {
    await until(() => {
      const all = ofType(client, windowUpdate).filter((frame) => frame.readUInt32BE(5) === 1);
      window += all.slice(credited).reduce((sum, frame) => sum + frame.readUInt32BE(9), 0);
      credited = all.length;
      return window >= 16_384;
    });
    const part = clientMessage.frame({ clientId: "a", message: "x".repeat(16_000), sequence: 1 });
    await client.write(h2Frame(data, 0, 1, part));
    window -= part.length;
  }
  expect(credited).toBeGreaterThan(10);
  client.socket.destroy();
});

it("[GRPC-293] a table of the client that shrinks is emptied before the next answer", async () => {
  const service = await startGrpc();
  const client = hostileClient(service);
  await client.write(Buffer.concat([preface, ...whole(1)]));
  await until(() => ofType(client, headers).length === 2);
  await client.write(Buffer.concat([h2Frame(settings, 0, 0, setting(1, 0)), ...whole(3), ...whole(5)]));
  await until(() => ofType(client, headers).length === 6);
  const blocks = ofType(client, headers).map((frame) => frame[9]);
  expect(blocks[2]).toBe(0x20);
  // Nothing is kept in a table of nothing.
  expect(
    ofType(client, headers)
      .slice(2)
      .every((frame) => frame.includes("grpc-status") || frame.includes("application/grpc")),
  ).toBe(true);
});

it("[GRPC-294] at a stop the client gets GOAWAY, open calls finish, new ones are refused, and the connection ends", async () => {
  const service = await startGrpc({ graceMs: 4_000 });
  const client = hostileClient(service);
  await client.write(Buffer.concat([preface, open(1, callFields(echoUnary))]));
  await until(() => service.rows().length === 1);
  const stopped = service.stop();
  await until(() => ofType(client, goaway).length === 1);
  await client.write(Buffer.concat([open(3), h2Frame(data, endStream, 1, message)]));
  await Promise.all([stopped, client.closed]);
  expect(ofType(client, rstStream).map((frame) => [frame.readUInt32BE(5), frame.readUInt32BE(9)])).toEqual([[3, codes.refused]]);
  expect(ofType(client, data).map((frame) => frame.subarray(9))).toEqual([message]);
  expect(client.goaway()).toBe(0);
});
