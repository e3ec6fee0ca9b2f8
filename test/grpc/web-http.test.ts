import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { type AddressInfo, connect as connectTcp, createServer } from "node:net";
import { Code } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { expect, it } from "vitest";
import { openAuthority } from "../../servers/core/certificates/certificate-authority.ts";
import { makeLeaf } from "../../servers/core/certificates/sign-certificate.ts";
import { streamRequest } from "../../servers/grpc/services/example-messages.ts";
import { httpRequest } from "../support/http-request.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { type GrpcUnderTest, onEnd, startGrpc } from "./harness.ts";
import { all, post, referenceClient, webTransport, webTransportCases } from "./web-clients.ts";

const json = { "content-type": "application/json" };
const cases = webTransportCases.filter(({ json: isJson }) => !isJson).map((one) => [one.name, one] as const);
const connectJson = { name: "", protocol: "connect", httpVersion: "1.1", json: true } as const;
const hello = (grpc: GrpcUnderTest) => referenceClient(webTransport(grpc.webUrl, connectJson)).sayHello({ name: "Ada" });

/** Sends bytes as they are; resolves with all that came back when the connection has ended. */
async function rawBytes(url: string, bytes: string | Buffer): Promise<string> {
  const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
  onEnd(() => socket.destroy());
  const chunks: Buffer[] = [];
  socket.on("error", () => {});
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
}

it("[GRPC-125] pages of any origin call and read all fields, as the browser is told once for two hours", async () => {
  const grpc = await startGrpc();
  const url = `${grpc.webUrl}/example.Greeter/SayHello`;
  const origin = "https://app.example.com";
  const preflight = await httpRequest(url, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type,x-grpc-web,x-mine" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "POST, GET",
    "access-control-allow-headers": "content-type,x-grpc-web,x-mine",
    "access-control-max-age": "7200",
  });
  const { headers } = await httpRequest(url, {
    method: "POST",
    body: "{}",
    headers: { ...json, origin, "x-backlot-headers": "x-one=1", "x-backlot-trailers": "x-two=2" },
  });
  expect(headers["access-control-allow-origin"]).toBe("*");
  expect(headers["access-control-expose-headers"]).toBe("x-one, trailer-x-two");
  const refused = await httpRequest(url, { method: "POST", headers: { origin }, body: "{}" });
  expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([415, "*"]);
  // A preflight is no call.
  await until(() => grpc.rows().length === 2);
});

it("[GRPC-125] with named origins only their pages are let in, with credentials", async () => {
  const grpc = await startGrpc({ corsOrigins: ["https://app.example.com"] });
  const url = `${grpc.webUrl}/example.Greeter/SayHello`;
  const allowed = async (origin: string) => {
    const { headers } = await httpRequest(url, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });
    return [headers["access-control-allow-origin"], headers["access-control-allow-credentials"], headers.vary];
  };
  expect(await allowed("https://app.example.com")).toEqual(["https://app.example.com", "true", "Origin"]);
  expect(await allowed("https://other.example.com")).toEqual([undefined, undefined, "Origin"]);
});

it("[GRPC-126] what is no call has a status of HTTP that says what would be one, and a row", async () => {
  const grpc = await startGrpc();
  const url = `${grpc.webUrl}/example.Greeter/SayHello`;
  const ask = async (method: string, headers: Record<string, string>, to = url) => {
    const { status, headers: got, body: text } = await httpRequest(to, { method, headers, ...(method === "POST" && { body: "x" }) });
    return { status, accept: got["accept-post"], allow: got.allow, text };
  };
  expect(await ask("POST", { "content-type": "text/plain" })).toMatchObject({
    status: 415,
    accept: expect.stringContaining("application/json, application/proto, application/grpc-web"),
  });
  const stream = `${grpc.webUrl}/example.Greeter/StreamData`;
  expect(await ask("POST", json, stream)).toMatchObject({ status: 415, accept: expect.stringContaining("application/connect+json") });
  const port = new URL(`http://${grpc.address}`).port;
  expect(await ask("POST", { "content-type": "application/grpc" })).toMatchObject({
    status: 415,
    text: `This port is for gRPC-Web and Connect; gRPC itself has port ${port}\n`,
  });
  expect(await ask("DELETE", {})).toMatchObject({ status: 405, allow: "POST, GET" });
  expect(await ask("GET", {}, stream)).toMatchObject({ status: 405, allow: "POST" });
  expect(await ask("GET", {}, `${grpc.webUrl}/`)).toMatchObject({ status: 404 });
  const both = `${grpc.webUrl}/example.Greeter/BidirectionalStream`;
  expect(await ask("POST", { "content-type": "application/connect+json" }, both)).toMatchObject({ status: 505 });

  await until(() => grpc.rows().filter(({ tone }) => tone === "refused").length === 7);
  const row = grpc.rows().find(({ outcome }) => outcome === "HTTP 415");
  expect(row).toMatchObject({ tone: "refused", target: "/example.Greeter/SayHello", reason: expect.stringContaining("text/plain") });
  expect(grpc.detail(row?.id ?? 0)).toMatchObject({ httpStatus: 415, httpMethod: "POST", httpVersion: "1.1" });
  expect((await hello(grpc)).status).toBe(200);
});

it("[GRPC-126] bytes that are no HTTP are answered, their connection is closed, and the service goes on", async () => {
  const grpc = await startGrpc();
  const statusOf = async (bytes: string) => (await rawBytes(grpc.webUrl, bytes)).split("\r\n", 1)[0];
  expect(await statusOf("\x16\x03\x01\x02\0")).toBe("HTTP/1.1 400 Bad Request");
  expect(await statusOf("POST / HTTP/1.1\r\n\r\n")).toBe("HTTP/1.1 400 Bad Request");
  expect(await statusOf("GET / HTTP/3.0\r\nHost: a\r\n\r\n")).toMatch(/ 505 /);
  expect(await statusOf(`GET /${"x".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/ (?:414|431) /);
  expect(await statusOf(`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(70_000)}\r\n\r\n`)).toMatch(/ 431 /);
  expect(await statusOf(`GET / HTTP/1.1\r\nHost: a\r\n${"a:\r\n".repeat(2_100)}\r\n`)).toMatch(/ 431 /);
  expect(await statusOf("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n")).toMatch(/ (?:400|501) /);
  // HTTP/2 with a first frame that is none.
  await rawBytes(grpc.webUrl, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x04\x06\0\0\0\0\0abcd");
  // A preface that never becomes one.
  await rawBytes(grpc.webUrl, "PRINT / HTTP/1.1\r\n\r\n");
  await until(() => grpc.logs.some(({ level, text }) => level === "warning" && text.includes("was answered 400")));
  const bad = await grpc.ended(({ outcome, target }) => outcome === "HTTP 400" && target === "(malformed)");
  expect(bad.reason).toMatch(/^HTTP 400 Bad Request: The client began TLS on a port of plain HTTP/);
  const large = await grpc.ended(({ outcome }) => outcome === "HTTP 431");
  expect(grpc.detail(large.id)).toMatchObject({ httpStatus: 431, httpVersion: "1.1" });
  expect((await hello(grpc)).status).toBe(200);
});

it("[GRPC-367] what comes behind a request and is none takes nothing of the answers before it", async () => {
  const grpc = await startGrpc();
  const request = (more = "") =>
    `POST /example.Greeter/SayHello HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${more}Content-Length: 14\r\n\r\n{"name":"Ada"}`;
  const close = request("Connection: close\r\n");
  const answersTo = async (bytes: string) =>
    [...(await rawBytes(grpc.webUrl, bytes)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  // RFC 9112 §2.2: some old clients add a line end to what they post. §9.6: what follows is ignored.
  for (const more of ["\r\n", close, close.repeat(4), request(), "xxxx"]) expect(await answersTo(`${close}${more}`)).toEqual(["200"]);
  expect(await answersTo(`${request()}${close}`)).toEqual(["200", "200"]);
  expect((await answersTo(`${request()}garbage\r\n\r\n`))[0]).toBe("200");
  expect(await answersTo(`${request()}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`)).toEqual(["200", "505"]);
});

it("[GRPC-126] the version of HTTP is found whatever the pieces in which the first bytes arrive", async () => {
  const grpc = await startGrpc();
  const port = Number(new URL(grpc.webUrl).port);
  // Passes the first bytes of a client on one by one.
  const slow = createServer((client) => {
    const service = connectTcp(port, "127.0.0.1");
    service.setNoDelay(true);
    service.pipe(client);
    client.on("error", () => {}).once("close", () => service.destroy());
    service.on("error", () => {});
    client.once("data", async (first: Buffer) => {
      client.pause();
      for (const byte of first) {
        service.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      client.pipe(service);
    });
  });
  slow.listen(0, "127.0.0.1");
  onEnd(() => slow.close());
  await once(slow, "listening");
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  for (const [, one] of cases) {
    const sessionManager = new Http2SessionManager(url);
    const client = referenceClient(
      webTransport(url, one, one.httpVersion === "2" ? { sessionManager } : { nodeOptions: { agent: false } }),
    );
    expect((await client.sayHello({ name: "Ada" })).message).toContain("Ada");
    sessionManager.abort();
  }
});

it.each(cases)("[GRPC-128] a client that does not read is sent no more than fits, and others go on, by %s", async (_name, one) => {
  const grpc = await startGrpc();
  const request = streamRequest.frame({ fromPosition: 0, count: 0, rate: 100_000, payloadBytes: 1_000 });
  const headers = { "content-type": one.protocol === "connect" ? "application/connect+proto" : "application/grpc-web+proto" };
  const path = "/example.StreamService/Subscribe";
  if (one.httpVersion === "2") {
    const session = connectHttp2(grpc.webUrl);
    onEnd(() => session.destroy());
    session.on("error", () => {});
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.on("error", () => {});
    stream.end(request);
  } else {
    const socket = connectTcp(Number(new URL(grpc.webUrl).port), "127.0.0.1");
    onEnd(() => socket.destroy());
    socket.pause();
    const type = `content-type: ${headers["content-type"]}`;
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\n${type}\r\ncontent-length: ${request.length}\r\n\r\n`);
    socket.write(request);
  }
  await until(() => grpc.rows().some(({ parts = 0 }) => parts > 10));
  let before = -1;
  const still = await until(() => {
    const { bytesOut = 0 } = grpc.rows()[0] ?? {};
    const isStill = bytesOut === before && bytesOut > 0;
    before = bytesOut;
    return isStill && bytesOut;
  });
  // What the system keeps for a connection over loopback, and the bound of the call.
  expect(still).toBeLessThan(12 << 20);
  expect((await hello(grpc)).status).toBe(200);
});

it.each(cases)("[GRPC-128] a stream ends when its client leaves, by %s", async (_name, one) => {
  const grpc = await startGrpc();
  const stop = new AbortController();
  const client = referenceClient(webTransport(grpc.webUrl, one), "grpc.health.v1.Health");
  const reading = all(client.watch({ service: "" }, { signal: stop.signal }));
  await until(() => grpc.rows().some(({ parts }) => parts === 2));
  stop.abort();
  await expect(reading).rejects.toMatchObject({ code: Code.Canceled });
  const row = await grpc.ended(() => true);
  expect(row).toMatchObject({ tone: "aborted", outcome: one.httpVersion === "2" ? "client cancelled" : "client left" });
});

it.each(cases)(
  "[GRPC-128] when the service stops, calls in flight finish in the grace time, endless ones are UNAVAILABLE, by %s",
  async (_, one) => {
    const grpc = await startGrpc({ graceMs: 600 });
    const transport = webTransport(grpc.webUrl, one);
    const short = referenceClient(transport).sayHello({ name: "Ada" }, { headers: { "x-backlot-delay": "300ms" } });
    const endless = all(referenceClient(transport, "example.StreamService").subscribe({ rate: 50 }));
    const ended = expect(endless).rejects.toMatchObject({ code: Code.Unavailable, rawMessage: "the service is stopping" });
    await until(() => grpc.rows().length === 2);
    await grpc.stop();
    expect((await short).message).toContain("Ada");
    await ended;
  },
);

it("[GRPC-128] requests without an answer on one connection are bounded, over both versions of HTTP", async () => {
  const grpc = await startGrpc({ concurrentStreams: 8 });
  const session = connectHttp2(grpc.webUrl);
  onEnd(() => session.destroy());
  await once(session, "remoteSettings");
  expect(session.remoteSettings.maxConcurrentStreams).toBe(8);
  const one =
    "POST /example.Greeter/SayHello HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nx-backlot-delay: 5s\r\ncontent-length: 2\r\n\r\n{}";
  const { hostname, port } = new URL(grpc.webUrl);
  const socket = connectTcp(Number(port), hostname);
  onEnd(() => socket.destroy());
  socket.write(one.repeat(20));
  await until(() => grpc.rows().length === 8);
  // On another connection, so what else could begin has begun.
  await rawBytes(grpc.webUrl, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  await until(() => grpc.rows().some(({ target }) => target === "/"));
  expect(grpc.rows()).toHaveLength(9);
});

it("[GRPC-128] with TLS both versions of HTTP are offered, with the installation's certificate, and a client's may be required", async () => {
  const folder = temporaryDir();
  const grpc = await startGrpc({ tls: true }, folder);
  const authority = await openAuthority(folder, Date.now());
  expect(grpc.webUrl).toMatch(/^https:/);
  const nodeOptions = { ca: authority.cert };
  for (const httpVersion of ["1.1", "2"] as const) {
    const one = { name: "", protocol: "grpc-web", httpVersion, json: false } as const;
    const client = referenceClient(webTransport(grpc.webUrl, one, { nodeOptions }));
    expect((await client.sayHello({ name: "Ada" })).message).toContain("Ada");
  }
  await until(() => grpc.rows().length === 2);
  const details = grpc.rows().map(({ id }) => grpc.detail(id));
  expect(details.map(({ httpVersion }) => httpVersion)).toEqual(["1.1", "2"]);
  expect(details[0]?.connection.tls).toMatch(/^TLSv1\.3 /);

  const strict = await startGrpc({ tls: true, clientCertificates: "required" }, folder);
  const leaf = await makeLeaf(authority, ["localhost"], Date.now());
  const status = (agent: Agent) =>
    new Promise((resolve, reject) => {
      const request = httpsRequest(`${strict.webUrl}/example.Greeter/SayHello`, { method: "POST", headers: json, agent }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on("error", reject);
      request.end("{}");
    });
  expect(await status(new Agent({ ...nodeOptions, cert: leaf.cert, key: leaf.key }))).toBe(200);
  await expect(status(new Agent(nodeOptions))).rejects.toThrow();
});

it("[GRPC-129] a call is one row, with its protocol, the version of HTTP, and its messages as they crossed the wire", async () => {
  const grpc = await startGrpc();
  await post(`${grpc.webUrl}/example.Greeter/SayHello`, { ...json, "user-agent": "shop/1.0" }, '{ "name": "Ada" }');
  const row = await grpc.ended(() => true);
  expect(row).toMatchObject({ verb: "unary", target: "/example.Greeter/SayHello", outcome: "OK", tone: "ok", client: "shop", parts: 2 });
  expect(grpc.detail(row.id)).toMatchObject({
    protocol: "connect",
    httpVersion: "1.1",
    httpMethod: "POST",
    codec: "json",
    status: { code: 0 },
    received: 1,
    sent: 1,
    method: { requestType: "example.HelloRequest" },
    requestHeaders: expect.arrayContaining([["content-type", "application/json"]]) as unknown,
    responseHeaders: expect.arrayContaining([
      [":status", "200"],
      ["content-type", "application/json"],
    ]) as unknown,
  });
  const messages = grpc.parts(row.id).map(({ direction, codec, bytes, base64 }) => {
    const text = Buffer.from(base64, "base64").toString();
    expect(bytes).toBe(text.length);
    return [direction, codec, text];
  });
  expect(messages).toEqual([
    ["received", "json", '{ "name": "Ada" }'],
    ["sent", "json", '{"message":"Hello, Ada from backlot!","status":200}'],
  ]);

  const client = referenceClient(webTransport(grpc.webUrl, { name: "", protocol: "grpc-web", httpVersion: "2", json: false }));
  await all(client.streamData({ count: 2, prefix: "p" }));
  const stream = await grpc.ended(({ target }) => target.endsWith("StreamData"));
  expect(grpc.detail(stream.id)).toMatchObject({
    protocol: "grpc-web",
    httpVersion: "2",
    codec: "proto",
    trailers: [["grpc-status", "0"]],
    sent: 2,
    requestHeaders: expect.arrayContaining([[":method", "POST"]]) as unknown,
  });
  expect(grpc.parts(stream.id).length).toBe(3);
  expect(await (await fetch(grpc.metricsUrl)).text()).toContain('grpc_server_requests_total{method="/example.Greeter/StreamData"} 1');
});
