import { execFile, spawn } from "node:child_process";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { TryAnswer } from "../../contract/services/http.ts";
import { runService } from "../../servers/core/service/run-service.ts";
import type { ServiceError } from "../../servers/core/service/service-error.ts";
import { httpService } from "../../servers/http/http-service.ts";
import { unchanged } from "../support/until.ts";
import { curl } from "./curl.ts";
import { onEnd, rawConnection, startHttp, until } from "./harness.ts";

const textOf = (answer: TryAnswer) => Buffer.from(answer.body.base64, "base64").toString();

it("[HTTP-103] Try sends a real request and returns its row", async () => {
  const service = await startHttp();
  const answer = await service.act("try", {
    method: "POST",
    target: "/api/echo?a=1",
    headers: [
      ["Content-Type", "application/json"],
      ["X-One", "1"],
      ["Content-Length", "999"],
    ],
    body: '{"ü":1}',
  });
  expect(answer).toMatchObject({ status: 200, reason: "OK", httpVersion: "1.1", truncated: false, tookMs: expect.any(Number) });
  expect(answer.headers).toContainEqual(["Content-Type", "application/json"]);
  expect(textOf(answer)).toBe('{"status":"success","received":{"ü":1}}');
  const row = await service.ended(({ id }) => id === answer.row);
  expect(row).toMatchObject({ verb: "POST", target: "/api/echo?a=1", client: "backlot" });
  expect(service.detail(row.id).request.headers).toContainEqual(["X-One", "1"]);
  const head = await service.act("try", { method: "HEAD", target: "/" });
  expect(head).toMatchObject({ status: 200, body: { bytes: 0 } });
});

it("[HTTP-103] the row of a tried request with a User-Agent of its own says that it is from Try", async () => {
  const service = await startHttp();
  const clientOf = async (headers: [string, string][]) => {
    const answer = await service.act("try", { method: "GET", target: "/", headers });
    return (await service.ended(({ id }) => id === answer.row)).client;
  };
  expect([await clientOf([["User-Agent", "curl/8.0"]]), await clientOf([])]).toEqual(["curl (from Try)", "backlot"]);
});

it("[BL-204] resend sends a recorded request again as it was: method, header fields and the bytes of its body; its row says so", async () => {
  const service = await startHttp();
  const bytes = Buffer.from([0, 255, 1, 254]);
  const answer = await service.act("resend", {
    method: "PROPFIND",
    target: "/anything?x=%20",
    headers: [
      ["Host", "example.test"],
      ["X-Two", "a"],
      ["X-Two", "b"],
      ["Transfer-Encoding", "chunked"],
      ["User-Agent", "curl/8.0"],
    ],
    body: bytes.toString("base64"),
  });
  const row = await service.ended(({ id }) => id === answer.row);
  const { request } = service.detail(row.id);
  expect(row.client).toBe("curl (sent again)");
  expect([request.method, request.target]).toEqual(["PROPFIND", "/anything?x=%20"]);
  expect(request.headers).toEqual(
    expect.arrayContaining([
      ["Host", "example.test"],
      ["X-Two", "a"],
      ["X-Two", "b"],
      ["Content-Length", "4"],
    ]),
  );
  expect(Buffer.from(request.body.base64, "base64")).toEqual(bytes);
  await expect(service.act("resend", { method: "GET /x", target: "/" })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[HTTP-104] Try is bounded in size and time, and reports when it cannot send", async () => {
  const service = await startHttp({ generatedBytes: 8 << 20 });
  const large = await service.act("try", { method: "GET", target: "/bytes/4000000" });
  expect(large.truncated).toBe(true);
  expect(Buffer.from(large.body.base64, "base64")).toHaveLength(1 << 20);
  for (const params of [
    { method: "GET", target: "/a b" },
    { method: "GET", target: "/", headers: [["Bad Name", "1"]] },
    { method: "GET", target: "/", headers: [["X", "a\nb"]] },
    { method: "BREW", target: "/" },
    { method: "GET", target: "http://elsewhere/" },
  ]) {
    await expect(service.running.act("try", params)).rejects.toMatchObject({ code: "CALL_INVALID" });
  }
  const pending = service.act("try", { method: "GET", target: "/api/stream?count=0" });
  await until(() => service.rows().find(({ target }) => target.startsWith("/api/stream")));
  const refused = expect(pending).rejects.toMatchObject({ code: "CALL_INVALID" });
  await service.stop();
  await refused;
});

it("[HTTP-105] sample traffic is real requests of several clients, until it is stopped", async () => {
  const service = await startHttp();
  await until(() => service.views.has("sample"));
  expect(service.views.get("sample")).toEqual({ running: false });
  expect(await service.act("sample.start")).toBeNull();
  await service.act("sample.start");
  await until(() => service.views.get("sample")?.running);
  const rows = await until(() => (service.rows().filter(({ tone }) => tone !== "pending").length >= 6 ? service.rows() : undefined));
  expect(new Set(rows.map(({ client }) => client)).size).toBeGreaterThan(1);
  expect(rows.filter(({ target }) => target.startsWith("/api/stream"))).toHaveLength(1);
  await service.act("sample.stop");
  await until(() => service.views.get("sample")?.running === false);
  await unchanged(() => service.rows().length, 800);
});

it("[HTTP-106] port 0 picks one that is free, on IPv4 and IPv6", async () => {
  const service = await startHttp();
  expect(service.port).toBeGreaterThan(0);
  expect((await curl(`http://127.0.0.1:${service.port}/health`)).status).toBe(200);
  expect((await curl(`http://[::1]:${service.port}/ip`)).body).toContain('"::1"');
  expect((await curl(`http://[::1]:${service.port}/absolute-redirect/1`)).headers.location).toBe(`http://[::1]:${service.port}/get`);
});

it("[HTTP-107] a stop closes every connection at once, also streams and WebSockets", async () => {
  const service = await startHttp();
  const requests = [
    "GET /api/stream?count=0 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /api/delay/10 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /drip?duration=10 HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
    "GET /ws/echo HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /hea",
  ];
  const connections = await Promise.all(requests.map((request) => rawConnection(service.port, request)));
  await until(() => service.rows().length === 6);
  await service.stop();
  await Promise.all(connections.map((connection) => connection.closed()));
  const outcome = (path: string) => service.rows().find(({ target }) => target.startsWith(path))?.outcome;
  expect(outcome("/api/delay")).toBe("service stopped");
  expect(outcome("/drip")).toBe("200, service stopped");
  await expect(fetch(`${service.url}/health`)).rejects.toThrow();
});

it("[HTTP-108] a port that is taken fails the start with PORT_IN_USE, and leaves nothing open", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  onEnd(() => holder.close());
  await new Promise((resolve) => holder.once("listening", resolve));
  const { port } = holder.address() as { port: number };
  const failure = await runService(httpService, { config: { port }, dataDir: "unused" }).catch((error: ServiceError) => error);
  expect(failure).toMatchObject({ code: "PORT_IN_USE" });
});

it("[HTTP-109] limits are configuration", async () => {
  const service = await startHttp({ bodyBytes: 10, delaySeconds: 0.1, streamLines: 2, links: 3, headerBytes: 1_024, generatedBytes: 5 });
  expect((await fetch(`${service.url}/api/echo`, { method: "POST", body: "x".repeat(11) })).status).toBe(413);
  expect((await fetch(`${service.url}/api/delay/0.2`)).status).toBe(400);
  expect((await (await fetch(`${service.url}/stream/9`)).text()).trim().split("\n")).toHaveLength(2);
  expect((await (await fetch(`${service.url}/links/9/0`)).text()).match(/<a /g)).toHaveLength(2);
  expect((await (await fetch(`${service.url}/bytes/9`)).arrayBuffer()).byteLength).toBe(5);
  expect((await curl("-H", `X: ${"x".repeat(1_100)}`, service.url)).status).toBe(431);
});

it("[HTTP-110] every snippet works unchanged", async () => {
  const service = await startHttp();
  const run = promisify(execFile);
  const snippets = httpService.snippets([{ label: "HTTP", url: service.url }], {} as never);
  expect(snippets.map(({ language }) => language)).toEqual(expect.arrayContaining(["shell", "javascript", "python"]));
  for (const { label, language, text } of snippets) {
    // Neither ends by itself; websocat is not among the programs of the tests.
    if (text.includes("count=0") || label === "websocat") continue;
    if (language === "shell") expect((await run("sh", ["-c", text])).stdout, label).toContain("HTTP/1.1 200");
    if (language === "javascript" && !text.includes("WebSocket"))
      expect((await run(process.execPath, ["--input-type=module", "-e", text])).stdout, label).toMatch(/^200 /);
  }
  const stream = snippets.find(({ text }) => text.startsWith("curl -N"));
  const child = spawn("sh", ["-c", `exec ${stream?.text}`], { stdio: ["ignore", "pipe", "ignore"] });
  onEnd(() => child.kill());
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  await until(() => output.includes('data: {"id":0,"timestamp":'));
});
