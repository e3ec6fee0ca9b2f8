/** gRPC over HTTP/2, as its specification has it: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { OutgoingHttpHeaders } from "node:http2";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { dataRequest, dataResponse, echoMessage, helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { until } from "../support/until.ts";
import { body, callMethod, openStream } from "./calls.ts";
import { callFields, field, flags, frameTypes, h2Frame, preface } from "./h2-frames.ts";
import { type GrpcUnderTest, onEnd, startGrpc } from "./harness.ts";
import { hostileClient } from "./hostile-http2.ts";
import { echoUnary, framed, rawRequest } from "./raw-call.ts";

const echoed = echoMessage.frame({ message: "x" });
const fieldsOf = async (service: GrpcUnderTest, headers: OutgoingHttpHeaders, bytes = echoed) =>
  (await rawRequest(service, headers, bytes)).fields;
const hello = (service: GrpcUnderTest) =>
  callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }]);

it("[GRPC-169] what is no POST of gRPC is answered by HTTP, and has a row", async () => {
  const service = await startGrpc();
  const answers = async (headers: OutgoingHttpHeaders) => {
    const { fields, body: text } = await rawRequest(service, headers, Buffer.alloc(0));
    return [fields[":status"], fields.allow, text.toString()];
  };
  const wrongType = `This port speaks gRPC; gRPC-Web and Connect are spoken on port ${new URL(service.webUrl).port}\n`;
  expect(await answers({ ":method": "GET" })).toEqual([405, "POST", "A call is a POST\n"]);
  expect(await answers({ ":method": "DELETE" })).toEqual([405, "POST", "A call is a POST\n"]);
  for (const type of ["application/json", "application/grpc-web", "application/grpcx", undefined]) {
    expect(await answers({ "content-type": type })).toEqual([415, undefined, wrongType]);
  }
  const rows = await until(() => service.rows().every(({ tone }) => tone === "refused") && service.rows().length === 6 && service.rows());
  expect(rows.map(({ outcome }) => outcome)).toEqual([...Array(2).fill("HTTP 405"), ...Array(4).fill("HTTP 415")]);
  expect(service.detail(rows[0]?.id ?? 0)).toMatchObject({
    protocol: "grpc",
    httpMethod: "GET",
    httpStatus: 405,
    path: echoUnary,
    responseHeaders: expect.arrayContaining([["allow", "POST"]]) as unknown,
  });
  // The specification asks for te, which is of no use here.
  for (const type of ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8", "application/grpc+thrift"]) {
    expect(await fieldsOf(service, { "content-type": type, te: undefined })).toMatchObject({ ":status": 200, "grpc-status": "0" });
  }
});

it("[GRPC-169] application/grpc+json has JSON in both directions", async () => {
  const service = await startGrpc();
  const json = { "content-type": "application/grpc+json" };
  const ask = async (text: string) => rawRequest(service, json, framed(Buffer.from(text)));
  const { fields, body: answer } = await ask('{"message":"ä"}');
  expect(fields).toMatchObject({ "content-type": "application/grpc+json", "grpc-status": "0" });
  expect(JSON.parse(body(answer).toString())).toEqual({ message: "ä" });
  expect((await ask('{"message":7}')).fields).toMatchObject({ "content-type": "application/grpc+json", "grpc-status": "3" });
  const row = await service.ended(({ outcome }) => outcome === "OK");
  expect(service.detail(row.id)).toMatchObject({ protocol: "grpc", codec: "json" });
  expect(service.parts(row.id).map(({ codec }) => codec)).toEqual(["json", "json"]);
});

it("[GRPC-161] [GRPC-298] HTTP/1.1 and TLS on the plain port end their connection with a log line that says what is spoken there", async () => {
  const service = await startGrpc();
  const request = httpRequest(`http://${service.address}/`);
  request.on("error", () => {});
  request.end();
  const tls = connectTls({ port: service.port, host: "127.0.0.1" });
  onEnd(() => tls.destroy());
  await Promise.all([new Promise((resolve) => request.on("close", resolve)), new Promise((resolve) => tls.on("error", resolve))]);
  const { port } = new URL(service.webUrl);
  const said = await until(() => {
    const lines = service.logs.filter(({ text }) => text.includes("was closed"));
    return lines.length === 2 && lines;
  });
  for (const { level, text } of said) {
    expect(level).toBe("warning");
    expect(text).toMatch(
      new RegExp(
        `^The connection from 127\\.0\\.0\\.1:\\d+ was closed: its first bytes are not those of HTTP/2 without TLS\\. If the client speaks TLS: it is off here, and GRPC_TLS switches it on\\. HTTP/1\\.1, gRPC-Web and Connect are spoken on port ${port}\\.$`,
      ),
    );
  }
  const refused = await until(() => {
    const rows = service.rows().filter(({ target }) => target === "(connection)");
    return rows.length === 2 && rows;
  });
  for (const { id, tone, outcome, reason, peer } of refused) {
    expect({ tone, outcome, reason }).toEqual({
      tone: "refused",
      outcome: "refused",
      reason: expect.stringMatching(/^its first bytes are not those of HTTP\/2/),
    });
    expect(service.detail(id)).toMatchObject({ path: "(connection)", aborted: reason, connection: { remote: peer } });
  }
  expect((await hello(service)).status.code).toBe(0);
  expect(await fetch(service.metricsUrl).then((answer) => answer.text())).not.toContain("unknown");
});

it("[GRPC-280] a client that has closed its connection while something was left to write is no fault", async () => {
  const service = await startGrpc();
  const client = hostileClient(service, false);
  const call = h2Frame(frameTypes.headers, flags.endHeaders, 1, callFields("/example.EchoService/EchoUnary"));
  await client.write(
    Buffer.concat([preface, call, h2Frame(frameTypes.data, flags.endStream, 1, echoMessage.frame({ message: "x".repeat(10_000) }))]),
  );
  client.socket.resetAndDestroy();
  expect((await hello(service)).status.code).toBe(0);
  await until(() => service.rows().length > 0 && service.rows().every(({ tone }) => tone !== "pending"));
  expect(service.logs.filter(({ text }) => text.includes("was closed"))).toEqual([]);
});

it("[GRPC-162] metadata: bytes may be joined and unpadded, and text that is no ASCII harms nobody, also where it is sent back", async () => {
  const service = await startGrpc();
  const asked = {
    "x-backlot-echo": "both",
    "x-bytes-bin": ["AQ,Ag==", "AwQ"],
    "x-empty-bin": "",
    "x-texts": ["a, b", "c"],
  };
  const fields = await fieldsOf(service, asked);
  expect(fields).toMatchObject({ "grpc-status": "0", "x-bytes-bin": "AQ==, Ag==, AwQ=", "x-texts": "a, b, c", "x-empty-bin": "" });
  const client = hostileClient(service);
  const call = Buffer.concat([callFields(echoUnary), field("x-name", "Zoë"), field("x-ok", "yes"), field("x-backlot-echo", "headers")]);
  const frames = [h2Frame(frameTypes.headers, flags.endHeaders, 1, call), h2Frame(frameTypes.data, flags.endStream, 1, echoed)];
  await client.write(Buffer.concat([preface, ...frames]));
  const row = await service.ended(({ bytesOut = 0, id }) => bytesOut > 0 && id > 1);
  expect(row).toMatchObject({ outcome: "OK" });
  expect(service.detail(row.id).responseHeaders).toContainEqual(["x-ok", "yes"]);
  expect(service.logs.filter(({ level }) => level === "error")).toEqual([]);
});

it("[GRPC-162] messages of a status are percent-encoded UTF-8, and may be asked for as bytes", async () => {
  const service = await startGrpc();
  const special = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";
  const { status } = await callMethod(service.client(), echoUnary, echoMessage, echoMessage, [{ message: "" }], {
    metadata: { "x-backlot-status": "UNKNOWN", "x-backlot-message-bin": Buffer.from(special) },
  });
  expect([status.code, status.details]).toEqual([2, special]);
  const plain = { "x-backlot-status": "2", "x-backlot-message": "100 % (of 'all')" };
  expect(await fieldsOf(service, plain)).toMatchObject({ "grpc-message": "100 %25 (of 'all')" });
  // What quotes the client is cut: clients bound these fields.
  const long = await fieldsOf(service, { ":path": `/${"x".repeat(20_000)}/Y` });
  expect(long["grpc-status"]).toBe("12");
  expect(String(long["grpc-message"]).length).toBeLessThan(1_100);
});

it("[GRPC-163] grpc-timeout has six units, and what is none of them is INTERNAL", async () => {
  const service = await startGrpc();
  const codeOf = async (timeout: string) => (await fieldsOf(service, { "grpc-timeout": timeout }))["grpc-status"];
  const good = ["1H", "1M", "99999999S", "90000m", "90000000u", "99999999H"];
  for (const timeout of good) expect(await codeOf(timeout), timeout).toBe("0");
  const slow = { "x-backlot-delay": "5s" };
  const short = ["1m", "1000u", "1000000n", "1n"];
  for (const timeout of short) {
    expect(await fieldsOf(service, { "grpc-timeout": timeout, ...slow }), timeout).toMatchObject({ "grpc-status": "4" });
  }
  const bad = ["1", "m", "-1m", "1.5S", "1s", "123456789S", "1 m", "0x1m"];
  for (const timeout of bad) expect(await codeOf(timeout), timeout).toBe("13");
  const rows = await until(() => service.rows().length === good.length + short.length + bad.length && service.rows());
  const deadlines = rows.toSorted((left, right) => left.id - right.id).map(({ id }) => service.detail(id).deadlineMs);
  expect(deadlines.slice(0, good.length)).toEqual([3_600_000, 60_000, 99_999_999_000, 90_000, 90_000, 99_999_999 * 3_600_000]);
});

it("[GRPC-164] a call without a message has its status in one block of fields, with the codings that are accepted", async () => {
  const service = await startGrpc();
  const once = { ":status": 200, "content-type": "application/grpc+proto", "grpc-accept-encoding": "identity,deflate,gzip" };
  expect(await fieldsOf(service, { "x-backlot-status": "NOT_FOUND" })).toMatchObject({ ...once, "grpc-status": "5" });
  const unknown = await fieldsOf(service, { "grpc-encoding": "snappy" }, framed(Buffer.from("x"), 1));
  expect(unknown).toMatchObject({ ...once, "grpc-status": "12" });
  // Its message is not compressed: the coding is of no account.
  expect(await fieldsOf(service, { "grpc-encoding": "snappy" })).toMatchObject({ "grpc-status": "0" });
  const flagged = framed(gzipSync(Buffer.from("0a0178", "hex")), 1);
  expect(await fieldsOf(service, {}, flagged)).toMatchObject({ ...once, "grpc-status": "13" });
  expect(await fieldsOf(service, { "grpc-encoding": "identity" }, flagged)).toMatchObject({ "grpc-status": "13" });
  expect(await fieldsOf(service, { "grpc-encoding": "gzip" }, flagged)).toMatchObject({ "grpc-status": "0" });
  expect(await fieldsOf(service, {}, framed(Buffer.from("0a0178", "hex"), 2))).toMatchObject({ "grpc-status": "13" });
  expect(await fieldsOf(service, {}, echoed.subarray(0, 6))).toMatchObject({ "grpc-status": "13" });
  expect(await fieldsOf(service, { ":path": "/no-method" })).toMatchObject({ ":status": 200, "grpc-status": "12" });
  await until(() => service.rows().every(({ tone }) => tone !== "pending"));
  for (const row of service.rows()) expect(service.detail(row.id).responseHeaders === undefined).toBe(row.outcome !== "OK");
});

it("[GRPC-165] cases of the interoperability tests: empty and large messages, ping-pong, an empty stream, cancellation", async () => {
  const service = await startGrpc();
  const client = service.client();
  const echo = (message: string) => callMethod(client, echoUnary, echoMessage, echoMessage, [{ message }]);
  expect(await echo("")).toMatchObject({ replies: [{ message: "" }], status: { code: 0 } });
  const large = "\0".repeat(271_828);
  expect((await echo(large)).replies).toEqual([{ message: large }]);
  const bidi = "/example.EchoService/EchoBidiStream";
  expect(await callMethod(client, bidi, echoMessage, echoMessage, [])).toMatchObject({ replies: [], status: { code: 0 } });

  const stream = openStream(client, bidi);
  const sizes: number[] = [];
  for (const size of [31_415, 9, 2_653, 58_979]) {
    stream.write(body(echoMessage.frame({ message: "x".repeat(size) })));
    const [answer] = (await once(stream, "data")) as [Buffer];
    sizes.push(echoMessage.decode(answer).message.length);
  }
  expect(sizes).toEqual([31_415, 9, 2_653, 58_979]);
  stream.end();
  const [status] = (await once(stream, "status")) as [{ code: number }];
  expect(status.code).toBe(0);

  // Node's own client ends a stream before it resets it.
  const cancelling = hostileClient(service);
  const begun = h2Frame(frameTypes.headers, flags.endHeaders, 1, callFields("/example.Greeter/ClientStream"));
  await cancelling.write(Buffer.concat([preface, begun]));
  await until(() => service.rows().some(({ verb }) => verb === "client stream"));
  await cancelling.write(h2Frame(frameTypes.rstStream, 0, 1, Buffer.from([0, 0, 0, 8])));
  expect(await service.ended(({ verb }) => verb === "client stream")).toMatchObject({ outcome: "client cancelled" });
  const answered = openStream(client, bidi);
  answered.write(body(echoMessage.frame({ message: "a" })));
  await once(answered, "data");
  answered.cancel();
  expect(await service.ended(({ verb, parts, outcome }) => verb === "bidi stream" && parts === 2 && outcome !== "OK")).toMatchObject({
    outcome: "client cancelled",
  });
  const none = await callMethod(client, "/example.Greeter/StreamData", dataRequest, dataResponse, [{ count: 0, prefix: "" }]);
  expect([none.replies, none.status.code]).toEqual([[], 0]);
});
