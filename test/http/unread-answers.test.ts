import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { type HttpUnderTest, onEnd, startHttp, until } from "./harness.ts";

const mebibyte = 1 << 20;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const bytes = (count: number) => `/bytes/${count}`;

describe.each(["HTTP", "HTTPS"] as const)("answers over %s that are not read", (label) => {
  const start = (config: Record<string, unknown>): Promise<HttpUnderTest> =>
    startHttp({ https: label === "HTTPS", httpsPort: 0, generatedBytes: 64 * mebibyte, ...config }, temporaryDir());

  /** A client that reads nothing until it is told to. */
  async function connectTo(service: HttpUnderTest, request: string): Promise<Socket> {
    const { port, hostname } = new URL(service.endpoints.find((endpoint) => endpoint.label === label)?.url ?? "");
    const address = { port: Number(port), host: hostname };
    const socket = label === "HTTPS" ? connectTls({ ...address, rejectUnauthorized: false }) : connect(address);
    onEnd(() => socket.destroy());
    socket.on("error", () => {});
    await once(socket, label === "HTTPS" ? "secureConnect" : "connect");
    socket.pause();
    socket.write(request);
    return socket;
  }

  const rowOf = (service: HttpUnderTest, target: string) => service.rows().find((row) => row.target === target);

  it("[HTTP-146] a connection that reads nothing for the configured time is closed, and its rows say why", async () => {
    const service = await start({ unreadTimeoutMs: 400 });
    await connectTo(service, get(bytes(16 * mebibyte)) + get("/get"));
    const large = await service.ended(({ target }) => target === bytes(16 * mebibyte));
    expect(large).toMatchObject({ tone: "aborted", outcome: "200, client read nothing for 0.4 s" });
    expect((await service.ended(({ target }) => target === "/get")).outcome).toBe("200, client read nothing for 0.4 s");
  });

  it("[HTTP-146] a client that reads slowly gets all, also where an answer waits behind another one", async () => {
    const service = await start({ unreadTimeoutMs: 400 });
    const behind = await connectTo(service, get("/delay/2") + get("/get"));
    const socket = await connectTo(service, get(bytes(32 * mebibyte)));
    let received = 0;
    socket.on("data", (piece) => {
      received += piece.length;
      socket.pause();
    });
    while (received < 32 * mebibyte) {
      const enough = received + 2 * mebibyte;
      while (received < Math.min(enough, 32 * mebibyte)) {
        socket.resume();
        await nextTurn();
      }
      // So that the whole takes longer than the timeout.
      await delay(50);
    }
    behind.resume();
    for (const target of [bytes(32 * mebibyte), "/delay/2", "/get"]) {
      expect((await service.ended((row) => row.target === target)).outcome).toBe("200");
    }
  });

  it("[HTTP-147] where more waits for all than the limit, the connection for which most waits is closed", async () => {
    const service = await start({ allUnsentBytes: 48 * mebibyte, bodyBytes: 32 * mebibyte });
    const sizes = [12, 24, 20];
    const targets = sizes.map((count) => `/api/echo?${count}`);
    const sockets: Socket[] = [];
    for (const [index, target] of targets.entries()) {
      const body = "x".repeat((sizes[index] ?? 0) * mebibyte);
      const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
      sockets.push(await connectTo(service, head + body));
      await until(() => rowOf(service, target));
    }
    const most = await service.ended(({ target }) => target === targets[1]);
    expect(most).toMatchObject({ tone: "aborted", outcome: "200, too many unread bytes" });
    for (const socket of sockets) socket.resume();
    for (const target of [targets[0], targets[2]]) expect((await service.ended((row) => row.target === target)).outcome).toBe("200");
  });
});

it("[HTTP-146] a subscriber that takes nothing for the configured time is disconnected, and its row says why", async () => {
  const service = await startHttp({ unreadTimeoutMs: 400 });
  const stalled = connect({ port: service.port, host: "127.0.0.1" });
  onEnd(() => stalled.destroy());
  stalled.on("error", () => {}).pause();
  stalled.write("GET /api/stream?count=0&duration=60s HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => service.views.get("sse")?.subscribers.length === 1);
  const data = "x".repeat(60_000);
  while ((await service.act("sse.send", { data })).subscribers > 0) await new Promise((resolve) => setImmediate(resolve));
  expect((await service.ended(({ target }) => target.startsWith("/api/stream"))).outcome).toBe("200, client read nothing for 0.4 s");
});
