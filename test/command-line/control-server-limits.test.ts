import { once } from "node:events";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { controlProtocol, type DownFrame, linkFragment, maxFrameBytes, type Port, tokenProtocol } from "../../contract/wire.ts";
import { type ControlServerOptions, startControlServer } from "../../servers/control-server.ts";
import { ServerWebSocket } from "../../servers/core/http/websocket/server-web-socket.ts";
import { DashboardFiles } from "../../servers/dashboard-files.ts";
import { eventually } from "../support/eventually.ts";
import { httpRequest } from "../support/http-request.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

function dashboardDir(largeBytes = 0): string {
  const folder = path.join(temporaryDir(), "dashboard");
  mkdirSync(folder);
  writeFileSync(path.join(folder, "index.html"), "<!doctype html>");
  writeFileSync(path.join(folder, "large.js"), Buffer.alloc(largeBytes, " "));
  return folder;
}

async function start(
  folder = dashboardDir(),
  attach: ControlServerOptions["attach"] = () => {},
  limits: Pick<ControlServerOptions, "mostWithoutToken" | "unreadBytes"> = {},
) {
  const claimExport = () => undefined;
  const server = await startControlServer({ port: 0, dashboardDir: folder, secret: "the secret", attach, claimExport, ...limits });
  onTestFinished(() => server.close());
  const { origin, port, hash } = new URL(server.url);
  return { origin, port: Number(port), token: hash.slice(linkFragment.length) };
}

async function client(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

async function openDashboard({ origin, port, token }: Awaited<ReturnType<typeof start>>): Promise<WebSocket> {
  const dashboard = new WebSocket(`ws://127.0.0.1:${port}/control`, [controlProtocol, tokenProtocol(token)], { headers: { origin } });
  onTestFinished(() => dashboard.terminate());
  await once(dashboard, "open");
  return dashboard;
}

it("[BL-92] thousands of subprotocols are refused without a look at them", async () => {
  const { origin, port } = await start();
  const handshake = ["GET /control HTTP/1.1", `Host: 127.0.0.1:${port}`, `Origin: ${origin}`, "Upgrade: websocket", "Connection: Upgrade"];
  const fields = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="];
  const answerTo = async (protocols: string): Promise<string> => {
    const socket = await client(port);
    socket.write([...handshake, ...fields, `Sec-WebSocket-Protocol: ${protocols}`, "\r\n"].join("\r\n"));
    const [answer] = await once(socket, "data");
    return String(answer).slice(0, 12);
  };
  expect(await answerTo(`${controlProtocol}, ${tokenProtocol("wrong")}`)).toBe("HTTP/1.1 101");
  expect(await answerTo(`${"a,".repeat(7_000)}b`)).toBe("HTTP/1.1 403");
});

it("[BL-383] of large frames of many dashboards few are read in a turn of the event loop, those of each in order", async () => {
  const ofTurns: number[] = [];
  const read: string[][] = [];
  const control = await start(undefined, (port) => {
    const frames: string[] = [];
    read.push(frames);
    port.onFrame((frame) => {
      frames.push(String(frame));
      if (frame === undefined) ofTurns[ofTurns.length - 1] = (ofTurns.at(-1) ?? 0) + 1;
    });
  });
  const dashboards = await Promise.all(Array.from({ length: 8 }, () => openDashboard(control)));
  // Hundreds of thousands of lists: 10 ms and more each.
  const lists = `[${"[],".repeat(maxFrameBytes / 3 - 100)}[]]`;
  for (const dashboard of dashboards) {
    dashboard.send("1");
    dashboard.send(lists.slice(0, -1));
    dashboard.send(lists.slice(0, -1));
    dashboard.send("2");
  }
  while (read.length < 8 || read.some(({ length }) => length < 4)) {
    ofTurns.push(0);
    await nextTurn();
  }
  expect(Math.max(...ofTurns)).toBeLessThanOrEqual(2);
  expect(read).toEqual(Array.from({ length: 8 }, () => ["1", "undefined", "undefined", "2"]));
});

it("[BL-383] a frame of a thousand levels and more is invalid without being parsed, brackets in texts are not levels", async () => {
  const frames: unknown[] = [];
  const dashboard = await openDashboard(await start(undefined, (port) => port.onFrame((frame) => frames.push(frame))));
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  for (const text of [nested(1_000), nested(1_001), JSON.stringify('\\"['.repeat(2_000))]) dashboard.send(text);
  await eventually(() => frames.length === 3, "all are read");
  expect(frames.map((frame) => typeof frame)).toEqual(["object", "undefined", "string"]);
});

it("[BL-367] of many connections without a token the oldest give way to new ones, and dashboards stay", async () => {
  const control = await start(undefined, undefined, { mostWithoutToken: 100 });
  const { origin, port } = control;
  const dashboard = await openDashboard(control);
  const idle = await Promise.all(Array.from({ length: 200 }, () => client(port)));
  for (const socket of idle) socket.resume();
  const open = () => idle.filter(({ closed }) => !closed).length;
  await eventually(() => open() <= 100, "the oldest are closed");
  expect((await httpRequest(origin, { path: "/" })).status).toBe(200);
  expect(open()).toBeGreaterThan(70);
  expect(dashboard.readyState).toBe(WebSocket.OPEN);
});

it("[BL-367] of connections without a token those that have sent nothing give way first", async () => {
  const { port } = await start();
  const page = await client(port);
  page.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  await once(page, "data");
  page.resume();
  const idle = await Promise.all(Array.from({ length: 300 }, () => client(port)));
  for (const socket of idle) socket.resume();
  await eventually(() => idle.filter(({ closed }) => !closed).length <= 255, "idle ones are closed");
  expect(page.closed).toBe(false);
});

it("[BL-367] of those that have sent something, those whose requests are answered give way first", async () => {
  const { port } = await start(dashboardDir(16 << 20), undefined, { mostWithoutToken: 20 });
  const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  const page = await client(port);
  page.write(get("/large.js"));
  await once(page, "data");
  page.pause();
  const others: Socket[] = [];
  for (let count = 0; count < 40; count++) {
    const other = await client(port);
    other.write(get("/"));
    await once(other, "data");
    others.push(other.resume());
  }
  await eventually(() => others.filter(({ closed }) => !closed).length < 20, "those that are answered are closed");
  page.resume();
  let bytes = 0;
  page.on("data", ({ length }: Buffer) => {
    bytes += length;
  });
  await eventually(() => bytes > 15 << 20, "the rest of the file comes");
});

it("[BL-368] a file is read once until it changes, and all answers share its bytes", async () => {
  const folder = dashboardDir();
  const files = new DashboardFiles(folder);
  const [one, other] = await Promise.all([files.read("/"), files.read("/index.html")]);
  expect(one?.content).toBe(other?.content);
  writeFileSync(path.join(folder, "index.html"), "<!DOCTYPE html>");
  utimesSync(path.join(folder, "index.html"), 1, 1);
  expect(String((await files.read("/"))?.content)).toBe("<!DOCTYPE html>");
});

it("[BL-368] a file is sent in pieces, as its client reads, and others are answered meanwhile", async () => {
  const { origin, port } = await start(dashboardDir(8 << 20));
  const pieces: number[] = [];
  const { write } = ServerResponse.prototype;
  vi.spyOn(ServerResponse.prototype, "write").mockImplementation(function (this: ServerResponse, ...given: unknown[]) {
    pieces.push((given[0] as Buffer).length);
    return Reflect.apply(write, this, given);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const silent = await Promise.all(Array.from({ length: 20 }, () => client(port)));
  for (const socket of silent) socket.pause().write(`GET /large.js HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(32));
  expect((await httpRequest(origin, { path: "/large.js" })).body.length).toBe(8 << 20);
  expect(Math.max(...pieces)).toBe(64 << 10);
  // What the system takes of those that do not read, and one piece more.
  expect(pieces.reduce((sum, bytes) => sum + bytes, -8 << 20)).toBeLessThan(silent.length * (8 << 20));
});

it("[BL-92] of a WebSocket with a wrong token nothing is gathered, and it is closed at once", async () => {
  const { origin, port } = await start();
  const socket = await client(port);
  socket.write(
    `GET /control HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: wrong\r\n\r\n`,
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  expect(head.toString("latin1")).toMatch(/^HTTP\/1\.1 101 /);
  const frame = Buffer.alloc(14 + 65_536);
  frame.writeUInt16BE(0x81ff);
  frame.writeBigUInt64BE(1_048_576n, 2);
  // It may be reset, which is an error before.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume().write(frame);
  await closed;
});

it("[BL-495] of dashboards that read nothing those with most are disconnected, until all leave no more unread than the bound, and others go on", async () => {
  const ports: Port<DownFrame, unknown>[] = [];
  const closed: number[] = [];
  const attach = (port: Port<DownFrame, unknown>) => {
    const index = ports.push(port) - 1;
    port.onClose(() => closed.push(index));
  };
  const send = vi.spyOn(ServerWebSocket.prototype, "send");
  onTestFinished(() => void vi.restoreAllMocks());
  const unreadBytes = 32 << 20;
  const control = await start(undefined, attach, { unreadBytes });
  const bystander = await openDashboard(control);
  let frames = 0;
  bystander.on("message", () => frames++);
  for (let count = 0; count < 8; count++) (await openDashboard(control)).pause();
  await eventually(() => ports.length === 9, "all are attached");
  const frame = { type: "frame", text: "x".repeat(1 << 20) } as unknown as DownFrame;
  const unread = () =>
    [...new Set(send.mock.contexts as ServerWebSocket[])].reduce((sum, one) => sum + (one.isOpen ? one.bufferedAmount : 0), 0);
  // The second one has most.
  for (let count = 0; count < 20; count++) ports[2]?.post(frame);
  let most = 0;
  let posted = 0;
  for (let round = 0; round < 16; round++) {
    for (const port of ports.slice(1)) port.post(frame);
    ports[0]?.post({ type: "small" } as unknown as DownFrame);
    posted++;
    most = Math.max(most, unread());
    await nextTurn();
  }
  await eventually(() => closed.length > 0 && frames === posted, "one is disconnected, and the bystander has all");
  expect(closed[0]).toBe(2);
  expect(closed).not.toContain(0);
  expect(bystander.readyState).toBe(WebSocket.OPEN);
  expect(most).toBeGreaterThan(unreadBytes / 4);
  expect(most).toBeLessThanOrEqual(unreadBytes);
  // There is room again.
  const again = await openDashboard(control);
  await eventually(() => ports.length === 10, "it is attached");
  const answer = once(again, "message");
  ports[9]?.post(frame);
  await answer;
});

it("[BL-580] cookies that other ports of the host have set do not keep the dashboard out", async () => {
  const { port } = await start();
  const answerTo = async (cookieBytes: number) => {
    const socket = await client(port);
    socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nCookie: a=${"x".repeat(cookieBytes)}\r\n\r\n`);
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => parts.push(part));
    await once(socket, "close");
    return Buffer.concat(parts).toString();
  };
  expect(await answerTo(250_000)).toMatch(/^HTTP\/1\.1 200 [\s\S]*<!doctype html>/);
  expect(await answerTo(300_000)).toMatch(/^HTTP\/1\.1 431 [\s\S]*\r\nClear-Site-Data: "cookies"\r\n[\s\S]*load the page again/);
});

it("[BL-592] what comes behind a request and is none takes nothing of the answer before it", async () => {
  const { port } = await start();
  const get = (fields = "") => `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${fields}\r\n`;
  const statusesOf = async (bytes: string) => {
    const socket = await client(port);
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => parts.push(part));
    socket.write(bytes);
    await once(socket, "close");
    return [
      ...Buffer.concat(parts)
        .toString()
        .matchAll(/HTTP\/1\.1 (\d+)/g),
    ].map(([, status]) => status);
  };
  const close = get("Connection: close\r\n");
  for (const more of ["\r\n", close, close.repeat(4), "xxxx"]) expect(await statusesOf(`${close}${more}`)).toEqual(["200"]);
  expect(await statusesOf(`${get()}garbage\r\n\r\n`)).toEqual(["200", "400"]);
});
