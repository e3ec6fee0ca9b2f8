import { connect } from "node:net";
import path from "node:path";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { temporaryDir } from "../support/temporary-dir.ts";
import { curl } from "./curl.ts";
import { onEnd, raw, startHttp, until } from "./harness.ts";

const authority = (folder: string) => path.join(folder, "authority-with-private-key.pem");

it("[HTTP-132] HTTPS is a switch with a port of its own: curl trusts it by the installation's authority, and the row is like any other", async () => {
  const folder = temporaryDir();
  const service = await startHttp({ https: true, httpsPort: 0 }, folder);
  expect(service.endpoints.map(({ label }) => label)).toEqual(["HTTP", "HTTPS", "WS", "WSS"]);
  const url = service.endpoints[1]?.url ?? "";
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const answer = await curl("--cacert", authority(folder), `${url}/get?a=1`);
  expect([answer.status, (JSON.parse(answer.body) as { url: string }).url]).toEqual([200, `${url}/get?a=1`]);
  const row = await service.ended(({ target }) => target === "/get?a=1");
  expect(row).toMatchObject({ tone: "ok", verb: "GET", peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
  expect(service.detail(row.id)).toMatchObject({ connection: { tls: "TLSv1.3" } });
  await curl("--cacert", authority(folder), "--tls-max", "1.2", `${url}/get?a=2`);
  const older = await service.ended(({ target }) => target === "/get?a=2");
  expect(service.detail(older.id)).toMatchObject({ connection: { tls: "TLSv1.2" } });
  expect((await curl("--cacert", authority(folder), `${url}/absolute-redirect/1`)).headers.location).toBe(`${url}/get`);

  const socket = new WebSocket(`${url.replace("https", "wss")}/ws/echo`, { rejectUnauthorized: false });
  onEnd(() => socket.terminate());
  socket.on("open", () => socket.send("hello"));
  expect(await new Promise((resolve) => socket.once("message", (data) => resolve(String(data))))).toBe("hello");
});

it("[HTTP-132] without the switch there is one endpoint and no certificate", async () => {
  const folder = path.join(temporaryDir(), "certificates");
  const service = await startHttp({}, folder);
  expect(service.endpoints.map(({ label }) => label)).toEqual(["HTTP", "WS"]);
  await expect(curl(service.url)).resolves.toMatchObject({ status: 200 });
  const { id } = await service.ended(() => true);
  expect(service.detail(id)).not.toHaveProperty("connection.tls");
});

it("[HTTP-262] a failed TLS handshake has a row that says why, a flood of them has few, and who sends nothing has none", async () => {
  const service = await startHttp({ https: true, httpsPort: 0 }, temporaryDir());
  const url = service.endpoints[1]?.url ?? "";
  await expect(curl(`${url}/get`)).rejects.toThrow(/certificate/i);
  const row = await service.ended(({ target }) => target === "(TLS handshake)");
  expect(row).toMatchObject({
    tone: "aborted",
    outcome: "TLS handshake failed: the client does not trust the service's certificate",
    peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  });
  expect(service.detail(row.id)).toMatchObject({ request: { target: "(TLS handshake)" } });
  const port = Number(new URL(url).port);
  const connected = (bytes: string) =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.end(bytes));
      socket.on("error", () => {}).on("close", resolve);
      socket.resume();
    });
  await connected("");
  await Promise.all(Array.from({ length: 40 }, () => connected("GET / HTTP/1.1\r\nHost: a\r\n\r\n")));
  await service.stop();
  const { length } = service.rows();
  expect(length).toBeGreaterThan(10);
  expect(length).toBeLessThanOrEqual(20);
});

it("[HTTP-133] a connection without TLS on the HTTPS port is closed, and an unfinished handshake does not delay a stop", async () => {
  const service = await startHttp({ https: true, httpsPort: 0 }, temporaryDir());
  const port = Number(new URL(service.endpoints[1]?.url ?? "").port);
  const plain = connect(port, "127.0.0.1", () => plain.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  plain.on("error", () => {});
  await until(() => plain.closed);
  const silent = connect(port, "127.0.0.1");
  silent.on("error", () => {});
  await until(() => !silent.connecting);
  const startedAt = performance.now();
  await service.stop();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  await until(() => silent.closed);
  expect(service.rows()).toMatchObject([{ target: "(TLS handshake)", outcome: "TLS handshake failed: the client sent HTTP without TLS" }]);
});

it("[BL-204] a request that came over TLS is sent again over TLS", async () => {
  const service = await startHttp({ https: true, httpsPort: 0 }, temporaryDir());
  const answer = await service.act("resend", { tls: true, method: "GET", target: "/get?a=3" });
  expect(answer.status).toBe(200);
  const row = await service.ended(({ id }) => id === answer.row);
  expect(service.detail(row.id)).toMatchObject({ request: { target: "/get?a=3" }, connection: { tls: "TLSv1.3" } });
});

it("[BL-204] a request that came over TLS is not sent again while HTTPS is off", async () => {
  const service = await startHttp();
  const refused = service.act("resend", { tls: true, method: "GET", target: "/get" });
  await expect(refused).rejects.toMatchObject({ code: "CALL_INVALID", message: "The request came over HTTPS, which is off now" });
});

it("[HTTP-161] TLS on the port of plain HTTP is called that", async () => {
  const service = await startHttp();
  const hello = Buffer.concat([Buffer.from([0x16, 3, 1, 0, 60, 1, 0, 0, 56, 3, 3]), Buffer.alloc(54, 0x0a)]);
  expect(await raw(service.port, hello)).toMatch(/^HTTP\/1.1 400 [\s\S]*began TLS on a port of plain HTTP/);
  expect(JSON.stringify(await service.ended((row) => row.target === "(malformed)"))).toContain("began TLS");
});
