import { once } from "node:events";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import type { Writable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { DownFrame } from "../../contract/wire.ts";
import { controlProtocol, linkExpiredCode, linkFragment, maxFrameBytes, tokenProtocol } from "../../contract/wire.ts";
import { loopbackHosts, startControlServer } from "../../servers/control-server.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { checkDashboard } from "../../servers/dashboard-files.ts";
import { openDashboardSecret, secretFileName } from "../../servers/dashboard-secret.ts";
import { createBinaryHub } from "../../servers/supervisor/binary-hub.ts";
import { serveDashboard } from "../../servers/supervisor/dashboard-session.ts";
import { createTopicHub } from "../../servers/supervisor/topic-hub.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { raw } from "../http/harness.ts";
import { createEventLog } from "../support/event-log.ts";
import { httpRequest } from "../support/http-request.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

async function start(options: { port?: number; secret?: string } = {}) {
  const root = temporaryDir();
  const dashboardDir = path.join(root, "dashboard");
  mkdirSync(path.join(dashboardDir, "assets"), { recursive: true });
  writeFileSync(path.join(dashboardDir, "index.html"), "<!doctype html><title>Backlot</title>");
  writeFileSync(path.join(dashboardDir, "assets", "app-1.js"), "export {};");
  writeFileSync(path.join(root, "secret.txt"), "secret");
  writeFileSync(path.join(root, "dashboard-secret.txt"), "secret");
  const hub = createTopicHub();
  const binary = createBinaryHub({ services: [], post: () => {} });
  let unclaimed = 1;
  const claimExport = (token: string) =>
    token === "the-token" && unclaimed-- > 0 ? { name: "events.csv", sendTo: async (to: Writable) => void to.end("a,b\r\n") } : undefined;
  const call = async (name: string, params: unknown) => ({ name, params });
  const server = await startControlServer({
    port: options.port ?? 0,
    dashboardDir,
    secret: options.secret ?? "the secret",
    attach: (port, reject) => serveDashboard({ port, hub, binary, turns: createTurns(), call, reject }),
    claimExport,
  });
  let closed = false;
  const close = async () => {
    if (!closed) await server.close();
    closed = true;
  };
  onTestFinished(close);
  const { origin, port, hash } = new URL(server.url);
  const token = hash.slice(linkFragment.length);
  const get = (target: string, options: Parameters<typeof httpRequest>[1] = {}) => httpRequest(origin, { ...options, path: target });

  /** Opens the control WebSocket; resolves with the status where it is refused. */
  async function open(
    headers: Record<string, string> = {},
    { target = "/control", protocols = [controlProtocol, tokenProtocol(token)] } = {},
  ) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${target}`, protocols, { headers: { origin, ...headers } });
    const frames = createEventLog<DownFrame>();
    const closes = createEventLog<number>();
    socket.on("message", (data) => frames.add(JSON.parse(String(data))));
    socket.on("close", (code) => closes.add(code));
    socket.on("error", () => {});
    onTestFinished(() => socket.terminate());
    const status = await Promise.race([
      once(socket, "open").then(() => 101),
      new Promise<number>((resolve) =>
        socket.once("unexpected-response", (request, response) => {
          resolve(response.statusCode ?? 0);
          response.resume();
          request.destroy();
        }),
      ),
    ]);
    return { socket, frames, closes, status };
  }
  return { server, origin, port: Number(port), token, get, open, close };
}

describe("control server", () => {
  it("[BL-91] puts the token into the fragment of its link, and sets no cookie", async () => {
    const { server, token, get } = await start();
    expect(new URL(server.url).search).toBe("");
    expect(token).toMatch(/^[\w-]{43}$/);
    // The files of the dashboard are the same for everybody: what they show comes over the WebSocket.
    for (const target of ["/", "/assets/app-1.js", `/?token=${token}`, "/gone"])
      expect((await get(target)).headers["set-cookie"]).toBeUndefined();
    expect(await get("/")).toMatchObject({ status: 200, body: expect.stringContaining("<title>Backlot</title>") });
  });

  it("[BL-135] takes the token of an earlier start on the same port, not that of another port or another data folder", async () => {
    const first = await start({ secret: "one" });
    await first.close();
    const again = await start({ secret: "one", port: first.port });
    expect(again.token).toBe(first.token);
    await again.close();
    const elsewhere = await start({ secret: "one" });
    const other = await start({ secret: "two", port: first.port });
    expect(new Set([first.token, elsewhere.token, other.token]).size).toBe(3);
    for (const { token } of [elsewhere, first]) {
      const { closes } = await other.open({}, { protocols: [controlProtocol, tokenProtocol(token)] });
      expect(await closes.until(() => true)).toBe(linkExpiredCode);
    }
  });

  it("[BL-135] keeps the secret in the data folder, for its owner only, and replaces an invalid one", async () => {
    const dataDir = temporaryDir();
    const warnings: string[] = [];
    const open = () => openDashboardSecret(dataDir, (text) => warnings.push(text));
    const secret = await open();
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await open()).toBe(secret);
    const file = path.join(dataDir, secretFileName);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, "short");
    const another = await open();
    expect(another).not.toBe(secret);
    expect(await open()).toBe(another);
    expect(warnings).toEqual([]);
    rmSync(file);
    mkdirSync(file);
    expect(await open()).toMatch(/^[\w-]{43}$/);
    expect(warnings).toEqual([expect.stringMatching(/^Cannot store the dashboard's secret, so its link changes with each start/)]);
  });

  it("[BL-101] serves an export once, by its own link, as a file and nothing else", async () => {
    const { get, port } = await start();
    const link = "/export/the-token";
    expect((await get(link, { headers: { host: `evil.example:${port}` } })).status).toBe(421);
    expect(await get(link, { method: "HEAD" })).toMatchObject({ status: 405, headers: { allow: "GET" } });
    expect((await get("/export/another-token")).status).toBe(404);
    expect(await get(link)).toMatchObject({
      status: 200,
      body: "a,b\r\n",
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="events.csv"',
        "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
      },
    });
    expect((await get(link)).status).toBe(404);
  });

  it("[BL-90] accepts its loopback host names only, and listens on loopback only", async () => {
    const { get, port } = await start();
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
      expect((await get("/", { headers: { host } })).status).toBe(200);
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1:${port + 1}`, `localhost.evil.example:${port}`]) {
      expect({ host, status: (await get("/", { headers: { host } })).status }).toEqual({ host, status: 421 });
    }
    const lan = Object.values(os.networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === "IPv4");
    if (!lan) return;
    const socket = connect(port, lan.address);
    await expect(once(socket, "connect")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    socket.destroy();
  });

  it("[BL-90] accepts a target in absolute form with its own name, and checks Host beside it", async () => {
    const { get, open, origin, port } = await start();
    for (const name of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`])
      expect((await get(`http://${name}/`)).status).toBe(200);
    expect((await get(`${origin}/assets/app-1.js?v=1`)).status).toBe(200);
    expect((await get(`${origin}`)).status).toBe(200);
    expect((await get(`${origin}/gone`)).status).toBe(404);
    // Neither of the two makes the other one good.
    for (const name of [`evil.example:${port}`, "evil.example", "127.0.0.1", `127.0.0.1:${port + 1}`])
      expect((await get(`http://${name}/`)).status).toBe(421);
    expect((await get(`${origin}/`, { headers: { host: `evil.example:${port}` } })).status).toBe(421);
    for (const target of ["http:///", `https://127.0.0.1:${port}/`, `http://me@127.0.0.1:${port}/`, "http://:1/", `${origin}/%`])
      expect({ target, status: (await get(target)).status }).toEqual({ target, status: 400 });
    const page = { host: `127.0.0.1:${port}` };
    expect((await open(page)).status).toBe(101);
    const upgrade = (target: string) =>
      raw(
        port,
        `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${"A".repeat(22)}==\r\nSec-WebSocket-Protocol: other\r\n\r\n`,
      );
    // With a wrong token it is opened, and closed at once.
    expect(await upgrade(`${origin}/control`)).toMatch(/^HTTP\/1.1 101 /);
    expect(await upgrade(`http://evil.example:${port}/control`)).toMatch(/^HTTP\/1.1 403 /);
  });

  it("[BL-93] answers GET and HEAD", async () => {
    const { get } = await start();
    expect(await get("/", { method: "HEAD" })).toMatchObject({ status: 200, body: "", headers: { "content-length": "37" } });
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]) {
      expect(await get("/", { method })).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    }
  });

  it.each([
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/%2e%2e%2fsecret.txt",
    "/assets/../../secret.txt",
    "/assets/..%2f..%2fsecret.txt",
    "/..%5csecret.txt",
    "//secret.txt",
    "/../dashboard-secret.txt",
    "/..%2fdashboard-secret.txt",
    "/index.html%00.js",
    "/assets",
    "/%",
    "/%ff",
    "/gone.js",
  ])("[BL-94] serves no file outside its folder: %s", async (target) => {
    const { get } = await start();
    const answer = await get(target);
    expect(answer.body).not.toContain("secret\n");
    expect(answer.body).not.toBe("secret");
    expect([400, 404]).toContain(answer.status);
  });

  it("[BL-95] sends a content security policy with pages", async () => {
    const { get } = await start();
    const page = await get("/");
    const policy = String(page.headers["content-security-policy"]).split("; ");
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("style-src 'self' 'unsafe-inline'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.some((directive) => directive.startsWith("script-src") || directive.includes("unsafe-eval"))).toBe(false);
    expect(page.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
    });
    expect(Object.keys(page.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(await get("/assets/app-1.js")).toMatchObject({
      status: 200,
      headers: { "content-type": "text/javascript; charset=utf-8", "cache-control": "private, max-age=31536000, immutable" },
    });
  });

  it("[BL-92] opens the WebSocket with token, Host and Origin only", async () => {
    const { open, origin, port } = await start();
    const right = await open();
    expect(right.status).toBe(101);
    right.socket.send(JSON.stringify({ type: "call", id: 1, name: "hello", params: { a: 1 } }));
    expect(await right.frames.until(({ type }) => type === "result")).toEqual({
      type: "result",
      id: 1,
      value: { name: "hello", params: { a: 1 } },
    });
    const wrong = [
      await open({ origin: "http://evil.example" }),
      await open({ origin: "null" }),
      await open({ origin: `http://127.0.0.1:${port + 1}` }),
      await open({ origin: origin.replace("http", "https") }),
      await open({ host: "evil.example" }),
      await open({}, { target: "/other" }),
    ];
    expect(wrong.map(({ status }) => status)).toEqual(wrong.map(() => 403));
    expect(right.socket.protocol).toBe(controlProtocol);
  });

  it.each([
    ["no subprotocol", []],
    ["another subprotocol", ["mqtt"]],
    ["a wrong token", [controlProtocol, tokenProtocol("a".repeat(43))]],
    ["a cookie of an older version", []],
  ])("[BL-92] a WebSocket with %s is closed with a code that the page can read, and gets no answer", async (name, protocols) => {
    const { open } = await start();
    const { socket, frames, closes, status } = await open(name.includes("cookie") ? { cookie: "backlot_7070=a" } : {}, { protocols });
    expect(status).toBe(101);
    socket.send(JSON.stringify({ type: "call", id: 1, name: "hello", params: {} }));
    expect(await closes.until(() => true)).toBe(linkExpiredCode);
    expect(frames.items).toEqual([]);
  });

  it("[BL-92] on port 80 it takes the names without a port as well, as browsers write them", () => {
    expect(loopbackHosts(80)).toEqual(["127.0.0.1:80", "localhost:80", "[::1]:80", "127.0.0.1", "localhost", "[::1]"]);
    expect(loopbackHosts(7_070)).not.toContain("127.0.0.1");
  });

  it("[BL-92] a request that asks for another protocol than WebSocket is answered as if it had not", async () => {
    const { get } = await start();
    const headers = { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "AAMAAABk" };
    expect((await get("/", { headers })).status).toBe(200);
  });

  it("[BL-92] a client without an Origin is refused", async () => {
    const { token, port } = await start();
    const socket = connect(port, "127.0.0.1");
    socket.write(
      `GET /control HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nSec-WebSocket-Protocol: ${controlProtocol}, ${tokenProtocol(token)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    const [head] = (await once(socket, "data")) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 403 /);
    socket.destroy();
  });

  it.each([
    ["too large", "x".repeat(maxFrameBytes + 1), 1009],
    ["no JSON", "{", 1008],
    ["no frame", JSON.stringify({ type: "dance" }), 1008],
    ["binary noise", Buffer.from([0xff, 0xfe, 0x00]), 1008],
  ])("[BL-96] a frame that is %s closes that connection only", async (_, frame, code) => {
    const { open } = await start();
    const [bad, good] = [await open(), await open()];
    bad.socket.send(frame);
    expect(await bad.closes.until(() => true)).toBe(code);
    good.socket.send(JSON.stringify({ type: "call", id: 1, name: "still here", params: {} }));
    await good.frames.until(({ type }) => type === "result");
    expect(good.closes.items).toEqual([]);
  });

  it("[BL-96] a broken WebSocket frame closes that connection only", async () => {
    const { open } = await start();
    const [bad, good] = [await open(), await open()];
    // RFC 6455 §5.2: reserved bits and an unmasked frame from a client are both errors.
    (bad.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(Buffer.from([0xff, 0x05, 1, 2, 3, 4, 5]));
    await bad.closes.until(() => true);
    good.socket.send(JSON.stringify({ type: "call", id: 1, name: "still here", params: {} }));
    await good.frames.until(({ type }) => type === "result");
  });

  it("[BL-56] serves two dashboards at once", async () => {
    const { open } = await start();
    const both = [await open(), await open()];
    for (const [index, { socket, frames }] of both.entries()) {
      socket.send(JSON.stringify({ type: "call", id: index, name: `call ${index}`, params: {} }));
      expect(await frames.until(({ type }) => type === "result")).toMatchObject({ id: index, value: { name: `call ${index}` } });
    }
    expect(both.map(({ frames }) => frames.items.length)).toEqual([1, 1]);
  });

  it("[BL-97] closes every connection", async () => {
    const { open, close, port } = await start();
    const { closes } = await open();
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    const ended = once(idle, "close");
    idle.resume();
    await close();
    await Promise.all([closes.until(() => true), ended]);
  });

  it("[BL-88] says where the dashboard's files are expected", async () => {
    const dir = temporaryDir();
    expect(await checkDashboard(dir).then(String, (error) => toFailure(error))).toMatchObject({
      code: "DASHBOARD_MISSING",
      message: expect.stringContaining(dir),
      hint: "Run npm run build.",
    });
  });
});
