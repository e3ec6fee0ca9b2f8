import { createHash } from "node:crypto";
import { deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { expect, it } from "vitest";
import { frameOf } from "../../servers/grpc/engine/message-type.ts";
import { dataRequest, dataResponse, helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { until } from "../support/until.ts";
import { body } from "./calls.ts";
import { startGrpc } from "./harness.ts";
import { all, framesOf, fromText, post, referenceClient, sent, webTransport, webTransportCases } from "./web-clients.ts";

const cases = webTransportCases.map((one) => [one.name, one] as const);
const json = { "content-type": "application/json" };
const grpcWeb = { "content-type": "application/grpc-web+proto" };

it.each(cases)("[GRPC-120] the four patterns, health and reflection by %s", async (_name, one) => {
  const grpc = await startGrpc();
  const transport = webTransport(grpc.webUrl, one);
  const client = referenceClient(transport);
  expect(await client.sayHello({ name: "Ada" })).toMatchObject({ message: "Hello, Ada from backlot!", status: 200 });
  const items = await all(client.streamData({ count: 3, prefix: "p" }));
  expect(items.map(({ id, value }) => `${id} ${value}`)).toEqual(["0 p-0", "1 p-1", "2 p-2"]);
  const reply = await client.clientStream(sent({ message: "a" }, { message: "b" }));
  expect(reply).toMatchObject({ response: "Received 2 messages", receivedSequence: 2 });
  expect((await referenceClient(transport, "grpc.health.v1.Health").check({ service: "example.Greeter" })).status).toBe(1);

  const both = () => all(client.bidirectionalStream(sent({ message: "a", sequence: 1 }, { message: "b", sequence: 2 })));
  const reflection = referenceClient(transport, "grpc.reflection.v1.ServerReflection");
  const listed = () => all(reflection.serverReflectionInfo(sent({ messageRequest: { case: "listServices", value: "*" } })));
  if (one.protocol === "connect" && one.httpVersion === "1.1") {
    // connect-es reports the 505.
    await expect(both()).rejects.toThrow(/505/);
    return;
  }
  expect((await both()).map(({ response }) => response)).toEqual(["Echo: a", "Echo: b"]);
  expect(JSON.stringify(await listed(), (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value))).toContain(
    "example.StreamService",
  );
});

it("[GRPC-120] Connect streams answer while the client still sends, over HTTP/2", async () => {
  const grpc = await startGrpc();
  const client = referenceClient(webTransport(grpc.webUrl, { name: "", protocol: "connect", httpVersion: "2", json: false }));
  let answered: (() => void) | undefined;
  async function* turns() {
    for (let sequence = 1; sequence <= 3; sequence++) {
      const next = new Promise<void>((resolve) => {
        answered = resolve;
      });
      yield { message: "turn", sequence };
      await next;
    }
  }
  const got: unknown[] = [];
  for await (const { receivedSequence } of client.bidirectionalStream(turns())) {
    got.push(receivedSequence);
    answered?.();
  }
  expect(got).toEqual([1, 2, 3]);
});

it.each(cases)("[GRPC-121] statuses, details, metadata and trailers by %s", async (_name, one) => {
  const grpc = await startGrpc();
  const client = referenceClient(webTransport(grpc.webUrl, one));
  const asked = {
    "x-backlot-status": "UNAVAILABLE",
    "x-backlot-message": "größer als 100 %",
    "x-backlot-details": '{"@type":"RetryInfo","retryDelay":"2s"}',
    "x-backlot-trailers": "x-why=maintenance",
  };
  const calls = [client.sayHello({ name: "Ada" }, { headers: asked }), all(client.streamData({ count: 1 }, { headers: asked }))];
  const errorOf = (call: Promise<unknown>): Promise<ConnectError | undefined> =>
    call.then(
      () => undefined,
      (thrown) => thrown,
    );
  for (const error of await Promise.all(calls.map(errorOf))) {
    expect(error).toBeInstanceOf(ConnectError);
    expect(error?.code).toBe(Code.Unavailable);
    expect(error?.rawMessage).toBe("größer als 100 %");
    expect(error?.details).toMatchObject([{ type: "google.rpc.RetryInfo", value: new Uint8Array([10, 2, 8, 2]) }]);
    expect(error?.metadata.get("x-why")).toBe("maintenance");
  }

  let headers: Headers | undefined;
  let trailers: Headers | undefined;
  await client.sayHello(
    { name: "Ada" },
    {
      headers: { "x-mine": "7", "x-bytes-bin": "AAH/", "x-backlot-echo": "both", "x-backlot-headers": "x-more=1" },
      onHeader: (got) => {
        headers = got;
      },
      onTrailer: (got) => {
        trailers = got;
      },
    },
  );
  expect([headers?.get("x-mine"), headers?.get("x-bytes-bin"), headers?.get("x-more")]).toEqual(["7", "AAH/", "1"]);
  expect([trailers?.get("x-mine"), trailers?.get("x-bytes-bin")]).toEqual(["7", "AAH/"]);
});

it.each(cases)("[GRPC-121] deadlines and a cut by %s", async (_name, one) => {
  const grpc = await startGrpc();
  const client = referenceClient(webTransport(grpc.webUrl, one));
  const headers = { "x-backlot-delay": "5s" };
  await expect(client.sayHello({ name: "Ada" }, { headers, timeoutMs: 1_000 })).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  const row = await grpc.ended(({ target }) => target.endsWith("SayHello"));
  expect(grpc.detail(row.id).deadlineMs).toBe(1_000);
  const cut = { "x-backlot-cut-after": "2" };
  const got: unknown[] = [];
  const reading = (async () => {
    for await (const item of client.streamData({ count: 5, prefix: "p" }, { headers: cut })) got.push(item);
  })();
  await expect(reading).rejects.toBeInstanceOf(ConnectError);
  expect(got.length).toBeLessThanOrEqual(2);
  expect((await grpc.ended(({ target }) => target.endsWith("StreamData"))).outcome).toBe("reset");
});

it("[GRPC-190] a field that the type does not have is ignored, as by Connect's servers, and the call's record names it", async () => {
  const grpc = await startGrpc();
  const { status, bytes } = await post(`${grpc.webUrl}/example.Greeter/SayHello`, json, '{"nmae":"Ada"}');
  expect([status, JSON.parse(bytes.toString())]).toEqual([200, { message: "Hello,  from backlot!", status: 200 }]);
  const row = await grpc.ended(() => true);
  expect(grpc.detail(row.id).notes).toEqual(["Unknown field nmae was ignored"]);
});

it("[GRPC-121] the errors of unary calls of Connect have a status of HTTP and are JSON", async () => {
  const grpc = await startGrpc();
  const ask = async (headers: Record<string, string>, path = "/example.Greeter/SayHello") => {
    const { status, bytes } = await post(grpc.webUrl + path, { ...json, ...headers }, "{}");
    return [status, JSON.parse(bytes.toString()) as unknown];
  };
  const statuses = [499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];
  for (const [index, status] of statuses.entries()) {
    const [got, error] = await ask({ "x-backlot-status": String(index + 1) });
    expect([index + 1, got]).toEqual([index + 1, status]);
    if (index === 0) expect(error).toEqual({ code: "canceled", message: "CANCELLED was asked for" });
  }
  expect(await ask({ "x-backlot-status": "ABORTED", "x-backlot-details": '{"@type":"RetryInfo","retryDelay":"2s"}' })).toEqual([
    409,
    {
      code: "aborted",
      message: "ABORTED was asked for",
      details: [{ type: "google.rpc.RetryInfo", value: "CgIIAg", debug: { retryDelay: "2s" } }],
    },
  ]);
  expect(await ask({}, "/example.Greeter/Gone")).toEqual([
    501,
    { code: "unimplemented", message: "There is no method /example.Greeter/Gone" },
  ]);
  expect(await ask({ "connect-timeout-ms": "soon" })).toMatchObject([400, { code: "invalid_argument" }]);
  expect(await ask({ "connect-protocol-version": "2" })).toMatchObject([400, { code: "invalid_argument" }]);
  expect(await ask({ "x-backlot-headers": "connection=close" })).toMatchObject([400, { code: "invalid_argument" }]);
});

it("[GRPC-122] gRPC-Web's text is base64 in both directions, in pieces of any length", async () => {
  const grpc = await startGrpc();
  const request = dataRequest.frame({ count: 2, prefix: "p" });
  const whole = request.toString("base64");
  const pieces = [request.subarray(0, 1), request.subarray(1, 6), request.subarray(6)].map((piece) => piece.toString("base64")).join("");
  const unpadded = [whole, pieces].map((text) => text.replace(/=+$/, ""));
  expect(unpadded[0]).not.toBe(whole);
  for (const text of [whole, pieces, ...unpadded]) {
    const { headers, bytes } = await post(
      `${grpc.webUrl}/example.Greeter/StreamData`,
      { "content-type": "application/grpc-web-text", accept: "application/grpc-web-text" },
      text,
    );
    expect(headers.get("content-type")).toBe("application/grpc-web-text+proto");
    const answer = fromText(bytes);
    const [first, second, trailers] = framesOf(answer);
    expect([first, second].map((frame) => dataResponse.decode(frame?.content ?? Buffer.alloc(0)).value)).toEqual(["p-0", "p-1"]);
    expect([trailers?.flags, trailers?.content.toString()]).toEqual([0x80, "grpc-status: 0\r\n"]);
  }
  // One character has not enough bits for a byte; a byte behind the last message is the start of one more.
  const further = Buffer.concat([request, Buffer.from([0])])
    .toString("base64")
    .replace(/=+$/, "");
  const faults = [
    ["AAA*AAAA", "the request is not base64"],
    [`${unpadded[0]}==A`, "the request is not base64"],
    ["AAAAAA=A", "the request is not base64"],
    [further, "the request ends within a message"],
  ] as const;
  for (const [text, message] of faults) {
    const bad = await post(`${grpc.webUrl}/example.Greeter/StreamData`, { "content-type": "application/grpc-web-text" }, text);
    expect(fromText(bad.bytes).toString(), text).toContain(`grpc-status: 13\r\ngrpc-message: ${message}`);
  }
});

it("[GRPC-123] a unary method is a plain POST of JSON, or a GET where it has no side effects", async () => {
  const grpc = await startGrpc();
  const url = `${grpc.webUrl}/example.Greeter/SayHello`;
  const charset = { "content-type": "application/json; charset=utf-8" };
  for (const headers of [json, charset]) {
    const { status, headers: got, bytes } = await post(url, headers, '{"name":"Ada","unknown":[1]}');
    expect([status, got.get("content-type")]).toEqual([200, "application/json"]);
    expect(JSON.parse(bytes.toString())).toEqual({ message: "Hello, Ada from backlot!", status: 200 });
  }
  const wrong = await post(url, json, '{"name":7}');
  expect(wrong.status).toBe(400);
  expect(JSON.parse(wrong.bytes.toString())).toMatchObject({ code: "invalid_argument" });

  const asJson = await fetch(`${url}?connect=v1&encoding=json&message=${encodeURIComponent('{"name":"Ada"}')}`);
  expect(await asJson.json()).toEqual({ message: "Hello, Ada from backlot!", status: 200 });
  const message = gzipSync(body(helloRequest.frame({ name: "Grace" }))).toString("base64url");
  const asProto = await fetch(`${url}?connect=v1&encoding=proto&base64=1&compression=gzip&message=${message}`);
  expect(helloReply.decode(Buffer.from(await asProto.arrayBuffer())).message).toBe("Hello, Grace from backlot!");
  const client = referenceClient(
    webTransport(grpc.webUrl, { name: "", protocol: "connect", httpVersion: "1.1", json: false }, { useHttpGet: true }),
  );
  expect((await client.sayHello({ name: "Alan" })).message).toBe("Hello, Alan from backlot!");
  await until(() => grpc.rows().filter(({ outcome }) => outcome === "OK").length === 5);
  expect(grpc.rows().filter(({ id }) => grpc.detail(id).httpMethod === "GET").length).toBe(3);

  expect((await fetch(`${url}?encoding=json`)).status).toBe(400);
  expect((await fetch(url)).status).toBe(415);
  const unsafe = await fetch(`${grpc.webUrl}/grpc.health.v1.Health/Check?encoding=json&message={}`);
  expect([unsafe.status, unsafe.headers.get("allow")]).toEqual([405, "POST"]);
});

it.each(cases)("[GRPC-124] requests and answers are compressed by %s", async (_name, one) => {
  const grpc = await startGrpc({ compression: "gzip" });
  const transport = webTransport(grpc.webUrl, one, {
    sendCompression: compressionGzip,
    acceptCompression: [compressionGzip],
    compressMinBytes: 0,
  });
  const message = "compressible ".repeat(200);
  const client = referenceClient(transport, "example.EchoService");
  expect((await client.echoUnary({ message })).message).toBe(message);
  const row = await grpc.ended(() => true);
  const { requestEncoding, responseEncoding } = grpc.detail(row.id);
  expect([requestEncoding, responseEncoding]).toEqual(["gzip", "gzip"]);
  for (const { compressed, bytes, wireBytes } of grpc.parts(row.id)) {
    expect(compressed).toBe(true);
    expect(bytes).toBeGreaterThan(message.length);
    expect(wireBytes).toBeLessThan(200);
  }
});

it("[GRPC-124] messages above the limit are RESOURCE_EXHAUSTED, also once decompressed; codings that cannot be read are named", async () => {
  const grpc = await startGrpc({ messageBytes: 1_000 });
  const connect = async (headers: Record<string, string>, request: Buffer | string) => {
    const { status, bytes } = await post(`${grpc.webUrl}/example.EchoService/EchoUnary`, { ...json, ...headers }, request);
    return [status, (JSON.parse(bytes.toString()) as { code?: string }).code];
  };
  const long = JSON.stringify({ message: "x".repeat(5_000) });
  expect(await connect({}, long)).toEqual([429, "resource_exhausted"]);
  expect(await connect({ "content-encoding": "gzip" }, gzipSync(long))).toEqual([429, "resource_exhausted"]);
  expect(await connect({ "content-encoding": "deflate" }, deflateSync('{"message":"a"}'))).toEqual([200, undefined]);
  expect(await connect({ "content-encoding": "gzip" }, "no gzip")).toEqual([400, "invalid_argument"]);
  expect(await connect({ "content-encoding": "br" }, "x")).toEqual([501, "unimplemented"]);

  const web = async (headers: Record<string, string>, request: Buffer) => {
    const { bytes } = await post(`${grpc.webUrl}/example.EchoService/EchoUnary`, { ...grpcWeb, ...headers }, request);
    return /grpc-status: (\d+)/.exec(bytes.toString())?.[1];
  };
  const compressed = frameOf(gzipSync(Buffer.alloc(5_000)));
  compressed[0] = 1;
  expect(await web({}, frameOf(Buffer.alloc(5_000)))).toBe("8");
  // The length alone is enough.
  expect(await web({}, Buffer.from([0, 0xff, 0xff, 0xff, 0xff]))).toBe("8");
  expect(await web({ "grpc-encoding": "gzip" }, compressed)).toBe("8");
  expect(await web({}, compressed)).toBe("13");
  expect(await web({ "grpc-encoding": "snappy" }, compressed)).toBe("12");
});

it("[GRPC-124] an answer is compressed where its client accepts that", async () => {
  const grpc = await startGrpc();
  const url = `${grpc.webUrl}/example.Greeter/SayHello`;
  const asked = { ...json, "x-backlot-compression": "gzip" };
  const plain = await post(url, { ...asked, "accept-encoding": "gzip;q=0, br" }, '{"name":"Ada"}');
  expect(plain.headers.get("content-encoding")).toBeNull();
  const web = await post(
    url,
    { ...grpcWeb, "x-backlot-compression": "gzip", "grpc-accept-encoding": "identity,gzip" },
    helloRequest.frame({ name: "Ada" }),
  );
  expect(web.headers.get("grpc-encoding")).toBe("gzip");
  const [answer] = framesOf(web.bytes);
  expect(answer?.flags).toBe(1);
  expect(helloReply.decode(gunzipSync(answer?.content ?? Buffer.alloc(0))).message).toBe("Hello, Ada from backlot!");
});

it("[GRPC-124] a large message arrives whole", async () => {
  const grpc = await startGrpc();
  for (const [, one] of cases) {
    const client = referenceClient(webTransport(grpc.webUrl, one), "example.EchoService");
    const message = createHash("sha256").update(one.name).digest("hex").repeat(10_000);
    expect((await client.echoUnary({ message })).message).toBe(message);
  }
});
