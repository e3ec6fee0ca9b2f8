/** What holds for the connections of both ports: GRPC_PORT, and HTTP/2 on GRPC_WEB_PORT. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { expect, it } from "vitest";
import { helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { processCpuMs } from "../support/cpu-time.ts";
import { until } from "../support/until.ts";
import { callMethod } from "./calls.ts";
import { callFields, flags, frameTypes, h2Frame, preface } from "./h2-frames.ts";
import { type GrpcUnderTest, onEnd, startGrpc } from "./harness.ts";
import { besideBystander, hostileConnection } from "./hostile-http2.ts";
import { post } from "./web-clients.ts";

const { headers, rstStream, settings, ping } = frameTypes;
const watch = callFields("/grpc.health.v1.Health/Watch");

const ports = [
  ["GRPC_PORT", (service: GrpcUnderTest) => service.port],
  ["GRPC_WEB_PORT", (service: GrpcUnderTest) => Number(new URL(service.webUrl).port)],
] as const;

const echoUnary = "/example.EchoService/EchoUnary";
const typeOf = (port: string) => (port === "GRPC_PORT" ? "application/grpc" : "application/grpc-web+proto");

const closedLines = ({ logs }: GrpcUnderTest) =>
  logs.filter(({ level, text }) => level === "warning" && /^The connection from 127\.0\.0\.1:\d+ was closed: /.test(text));
const closedBecause = (service: GrpcUnderTest, why: RegExp) => until(() => closedLines(service).find(({ text }) => why.test(text)));

it.each(ports)("[GRPC-166] a client of HTTP/2 that does not answer pings is closed, with a log line, on %s", async (_name, portOf) => {
  const service = await startGrpc({ keepaliveMs: 200, keepaliveTimeoutMs: 200 });
  const gone = hostileConnection(portOf(service));
  await gone.write(preface);
  await gone.closed;
  await closedBecause(service, /it did not answer a ping in time\.$/);
});

it.each(ports)("[GRPC-166] keepalive lets a client that answers be, on %s", async (_name, portOf) => {
  const service = await startGrpc({ keepaliveMs: 100, keepaliveTimeoutMs: 2_000 });
  const client = hostileConnection(portOf(service));
  await client.write(preface);
  for (let answered = 0; answered < 5; answered++) {
    const isPing = (frame: Buffer) => frame[3] === ping && (frame[4] ?? 0) === 0;
    const next = await until(() => framesOf(client.received()).filter(isPing)[answered]);
    await client.write(h2Frame(ping, flags.ack, 0, next.subarray(9)));
  }
  expect(client.isClosed).toBe(false);
  expect(closedLines(service)).toEqual([]);
});

it.each(ports)("[GRPC-166] a client that sends a preface and no SETTINGS is closed, with a log line, on %s", async (_name, portOf) => {
  const service = await startGrpc({ handshakeMs: 300 });
  const silent = hostileConnection(portOf(service));
  await silent.write(preface.subarray(0, 24));
  await silent.closed;
  await closedBecause(service, /it sent no SETTINGS in time\.$/);
});

it.each(ports)("[GRPC-166] floods on %s end their connection, each with its log line", async (_name, portOf) => {
  const service = await startGrpc({ concurrentStreams: 50 });
  const calls = (count: number, more: (stream: number) => readonly Buffer[]) =>
    Array.from({ length: count }, (_, index) => 2 * index + 1).flatMap((stream) => [
      h2Frame(headers, flags.endHeaders, stream, watch),
      ...more(stream),
    ]);
  const floods = {
    settings: Array.from({ length: 3_000 }, () => h2Frame(settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100]))),
    pings: Array.from({ length: 3_000 }, () => h2Frame(ping, 0, 0, Buffer.alloc(8))),
    resets: calls(3_000, (stream) => [h2Frame(rstStream, 0, stream, Buffer.from([0, 0, 0, 8]))]),
    streams: calls(5_000, () => []),
    broken: [h2Frame(ping, 0, 0, Buffer.alloc(7))],
  };
  await besideBystander(service, async () => {
    for (const [name, frames] of Object.entries(floods)) {
      const before = closedLines(service).length;
      const client = hostileConnection(portOf(service));
      await client.write(preface);
      await until(() => client.received().length > 9);
      await client.write(Buffer.concat([h2Frame(settings, flags.ack, 0), ...frames]));
      await client.closed;
      await until(() => closedLines(service).length > before).catch(() => {
        throw new Error(`there is no log line of ${name}`);
      });
    }
  });
});

it.each(ports)("[GRPC-166] the connections of an address are bounded on %s", async (_name, portOf) => {
  const service = await startGrpc({ connectionsPerAddress: 3 });
  const kept = Array.from({ length: 3 }, () => hostileConnection(portOf(service)));
  for (const client of kept) await client.write(preface);
  await until(() => kept.every((client) => client.received().length > 0));
  await hostileConnection(portOf(service)).closed;
  await until(() => service.logs.some(({ text }) => /was refused: it has 3 already/.test(text)));
  expect(kept.some(({ isClosed }) => isClosed)).toBe(false);
});

it("[GRPC-167] a client of HTTP/1.1 that sends half of a head, or of its one message, is answered when its time is over", async () => {
  const service = await startGrpc({ handshakeMs: 300, requestMs: 300 });
  const answerTo = async (bytes: string) => {
    const socket = connectTcp(Number(new URL(service.webUrl).port), "127.0.0.1");
    onEnd(() => socket.destroy());
    const chunks: Buffer[] = [];
    socket.on("error", () => {});
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.write(bytes);
    return until(() => chunks.length > 0 && Buffer.concat(chunks).toString().split("\r\n", 1)[0]);
  };
  expect(await answerTo("POST /example.Greeter/SayHello HTTP/1.1\r\nHost: a\r\nContent-")).toBe("HTTP/1.1 408 Request Timeout");
  await until(() => service.logs.some(({ level, text }) => level === "warning" && /was answered 408/.test(text)));
  const head = "POST /example.Greeter/SayHello HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n";
  expect(await answerTo(`${head}{"na`)).toBe("HTTP/1.1 504 Gateway Timeout");
  await service.ended(({ outcome }) => outcome === "HTTP 408");
  await service.ended(({ outcome }) => outcome === "DEADLINE_EXCEEDED");
});

it("[GRPC-170] a client that leaves the last bytes of a call unread loses its status after a while, and its row says so", async () => {
  const service = await startGrpc({ unreadMs: 200 });
  const client = hostileConnection(service.port);
  // SETTINGS_INITIAL_WINDOW_SIZE of 0: no byte of the answer may be sent.
  const noWindow = h2Frame(settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
  const call = h2Frame(headers, flags.endHeaders, 1, callFields("/example.Greeter/SayHello"));
  await client.write(Buffer.concat([preface, noWindow, call, h2Frame(frameTypes.data, flags.endStream, 1, Buffer.alloc(5))]));
  const row = await until(() => service.rows().find(({ tone }) => tone === "aborted"));
  expect(row).toMatchObject({ target: "/example.Greeter/SayHello", outcome: "last bytes unread" });
  // The head of the answer, and the end without trailers.
  const reset = h2Frame(rstStream, 0, 1, Buffer.from([0, 0, 0, 8]));
  await until(() => framesOf(client.received()).some((frame) => frame.equals(reset)));
});

/** Complete frames. */
function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end <= bytes.length) frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}

it.each(ports)("[GRPC-171] metadata above the limit ends its call with a status, and has a row, on %s", async (name, portOf) => {
  const service = await startGrpc({ metadataBytes: 4_096 });
  const session = connectHttp2(`http://127.0.0.1:${portOf(service)}`);
  onEnd(() => session.destroy());
  await once(session, "remoteSettings");
  const fields = { ":method": "POST", ":path": echoUnary, "content-type": typeOf(name), "x-large": "x".repeat(5_000) };
  const stream = session.request(fields);
  stream.end(Buffer.from([0, 0, 0, 0, 0]));
  const [answered] = (await once(stream, "response")) as [Record<string, string>];
  // gRPC-Web has its trailers in the body.
  const body = Buffer.concat(await stream.toArray()).toString();
  const ended = `grpc-status: ${answered["grpc-status"]} grpc-message: ${answered["grpc-message"]} ${body}`;
  expect(ended).toMatch(/grpc-status: 8\s/);
  expect(ended).toMatch(/the header fields of the call have 5\d{3} bytes, which is more than the limit of 4096/);
  const row = await until(() => service.rows().find(({ tone }) => tone !== "pending"));
  expect(row).toMatchObject({ target: echoUnary, outcome: "RESOURCE_EXHAUSTED" });
  expect(service.detail(row.id).requestHeaders).toContainEqual(["x-large", "x".repeat(5_000)]);
});

it("[GRPC-171] the bytes of metadata are limited, not the number of its fields", async () => {
  const service = await startGrpc();
  const metadata = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-field-${index}`, "value"]));
  const call = await callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }], { metadata });
  expect(call.status.code).toBe(0);
});

/** All that comes of a call without a message: fields, trailers and body. */
async function textOfCall(url: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const session = connectHttp2(url, { maxSendHeaderBlockLength: 1 << 20 } as object);
  onEnd(() => session.destroy());
  await once(session, "remoteSettings");
  const stream = session.request({ ":method": "POST", ":path": echoUnary, ...fields });
  stream.end();
  const [answered] = (await once(stream, "response")) as [object];
  const body = Buffer.concat(await stream.toArray()).toString();
  return `${JSON.stringify(answered)} ${body}`;
}

it.each(ports)("[GRPC-172] values that are joined in a -bin field count as fields, on %s", async (name, portOf) => {
  const service = await startGrpc();
  const asked = { "content-type": typeOf(name), "a-bin": ",".repeat(60_000), "x-backlot-echo": "trailers" };
  const refused = await textOfCall(`http://127.0.0.1:${portOf(service)}`, asked);
  expect(refused).toMatch(/the header fields of the call have 19\d{5} bytes, which is more than the limit of 65536/);
  // As many bytes, but few values.
  const long = await textOfCall(`http://127.0.0.1:${portOf(service)}`, {
    ...asked,
    "a-bin": "AQ".repeat(30_000),
    "x-backlot-echo": "headers",
  });
  expect(long).not.toMatch(/limit/);
});

it("[GRPC-172] they count over HTTP/1.1, too", async () => {
  const service = await startGrpc();
  const fields = { "content-type": "application/json", "A-Bin": ",".repeat(20_000), "x-backlot-echo": "trailers" };
  const { bytes } = await post(`${service.webUrl}/example.Greeter/SayHello`, fields, "{}");
  expect(JSON.parse(bytes.toString())).toMatchObject({ code: "resource_exhausted", message: expect.stringMatching(/have 66\d{4} bytes/) });
});

it.each(ports)("[GRPC-172] codings and content types with many spaces take linear time, on %s", async (name, portOf) => {
  const service = await startGrpc();
  const long = `a${" ".repeat(60_000)}a`;
  const url = `http://127.0.0.1:${portOf(service)}`;
  const ms = await processCpuMs(async () => {
    const codings = { "grpc-accept-encoding": `${long}, gzip`, "x-backlot-compression": "gzip" };
    await textOfCall(url, { "content-type": typeOf(name), ...codings });
    expect(await textOfCall(url, { "content-type": `application/grpc-web${" ".repeat(60_000)}a` })).toMatch(/"?:status"?:415/);
  });
  // Each took more than 2 s.
  expect(ms).toBeLessThan(1_500);
});

it.each(ports)("[GRPC-131] metadata above twice the limit is reset, with a log line, on %s", async (_name, portOf) => {
  const service = await startGrpc({ metadataBytes: 4_096 });
  for (const [index, isAcknowledged] of [true, false].entries()) {
    const session = connectHttp2(`http://127.0.0.1:${portOf(service)}`);
    onEnd(() => session.destroy());
    if (isAcknowledged) await once(session, "remoteSettings");
    const bytes = "x".repeat(9_000);
    const stream = session.request({ ":method": "POST", ":path": "/a.B/C", "content-type": "application/grpc", "x-large": bytes });
    stream.on("error", () => {});
    await new Promise((resolve) => stream.once("close", resolve));
    expect(stream.rstCode).toBe(11);
    const isLine = /^A call from 127\.0\.0\.1:\d+ ended before a row began: .* 8192 bytes\.$/;
    await until(() => service.logs.filter(({ level, text }) => level === "warning" && isLine.test(text)).length === index + 1);
  }
  expect(service.rows()).toEqual([]);
});
