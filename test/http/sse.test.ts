import { spawn } from "node:child_process";
import { connect } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { sseFrame } from "../../servers/http/sse/sse-frame.ts";
import { curl } from "./curl.ts";
import { type HttpUnderTest, onEnd, rawConnection, startHttp, until } from "./harness.ts";

const sseOf = (service: HttpUnderTest) => service.views.get("sse");
const ids = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

it("[HTTP-43] /api/stream sends pings as the reference writes them", async () => {
  const { url } = await startHttp();
  const before = Date.now();
  const answer = await curl("-N", `${url}/api/stream?count=2&duration=50ms`);
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" });
  expect(answer.headers["content-length"]).toBeUndefined();
  expect(answer.body).toMatch(
    /^event: ping\nid: 0\ndata: {"id":0,"timestamp":\d{13}}\n\nevent: ping\nid: 1\ndata: {"id":1,"timestamp":\d{13}}\n\n$/,
  );
  const timestamp = Number(/"timestamp":(\d+)/.exec(answer.body)?.[1]);
  expect(timestamp).toBeGreaterThanOrEqual(before);
  expect(timestamp).toBeLessThanOrEqual(Date.now());
});

it("[HTTP-44] ten events without a count; duration is for all of them, delay comes before the first", async () => {
  const { url } = await startHttp();
  expect(ids((await curl(`${url}/api/stream?duration=100ms`)).body)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const timed = async (query: string) => {
    const startedAt = performance.now();
    await (await fetch(`${url}/api/stream?${query}`)).text();
    return performance.now() - startedAt;
  };
  for (const query of ["count=3&duration=0.4", "count=5&duration=400ms", "count=1&delay=400ms", "count=2&duration=0.2s&delay=200ms"]) {
    expect(await timed(query)).toBeGreaterThanOrEqual(390);
  }
});

it("[HTTP-45] a reconnect continues after the Last-Event-ID of its header field or its query", async () => {
  const { url } = await startHttp();
  const stream = `${url}/api/stream?count=5&duration=0`;
  expect(ids((await curl("-H", "Last-Event-ID: 2", stream)).body)).toEqual([3, 4]);
  expect(ids((await curl(`${stream}&lastEventId=3`)).body)).toEqual([4]);
  expect(ids((await curl("-H", "Last-Event-ID: mine", stream)).body)).toEqual([0, 1, 2, 3, 4]);
});

it("[HTTP-46] a client that has every event is told to stop reconnecting", async () => {
  const { url } = await startHttp();
  const response = await fetch(`${url}/api/stream?count=5`, { headers: { "Last-Event-ID": "4" } });
  expect([response.status, await response.text()]).toEqual([204, ""]);
});

it("[HTTP-47] count=0 streams until the client leaves", async () => {
  const service = await startHttp();
  const child = spawn("curl", ["-sN", `${service.url}/api/stream?count=0&duration=20ms&lastEventId=99`]);
  onEnd(() => child.kill());
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  await until(() => ids(text).length >= 15);
  const seen = ids(text);
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => 100 + index));
  child.kill();
  await until(() => sseOf(service)?.subscribers[0]?.closedBy === "client");
  expect(await service.ended((row) => row.target.startsWith("/api/stream"))).toMatchObject({
    outcome: "200, client left",
    tone: "ok",
  });
});

it("[HTTP-47] setting the clock back does not hold up a stream", async () => {
  const service = await startHttp();
  const stream = await rawConnection(service.port, "GET /api/stream?count=0&duration=20ms HTTP/1.1\r\nHost: a\r\n\r\n");
  let text = "";
  stream.socket.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  const now = Date.now() - 7_200_000;
  vi.spyOn(Date, "now").mockReturnValue(now);
  onTestFinished(() => void vi.restoreAllMocks());
  await until(() => ids(text).length >= 3);
  stream.socket.destroy();
});

it.each([
  "count=-1",
  "count=x",
  "count=1.5",
  "count=9999999",
  "duration=x",
  "duration=-1s",
  "duration=5h",
  "delay=1e9",
  "count=2&delay=11",
])("[HTTP-48] ?%s is refused", async (query) => {
  const { url } = await startHttp();
  const response = await fetch(`${url}/api/stream?${query}`);
  expect([response.status, await response.json()]).toEqual([
    400,
    { status: "error", message: expect.stringMatching(/^Invalid (count|duration|delay)/) },
  ]);
});

it("[HTTP-49] an event sent from the dashboard reaches every subscriber", async () => {
  const service = await startHttp();
  expect(await service.act("sse.send", { data: "nobody" })).toEqual({ subscribers: 0 });
  const request = "GET /api/stream?count=0&duration=1h HTTP/1.1\r\nHost: a\r\n\r\n".replace("1h", "60m");
  const connections = await Promise.all([1, 2, 3].map(() => rawConnection(service.port, request)));
  // HTTP/1.0 has no chunks: the event comes as it is.
  connections.push(await rawConnection(service.port, request.replace("1.1", "1.0")));
  for (const connection of connections) await connection.received(/"id":0/);
  expect(await service.act("sse.send", { event: "order", data: "one\ntwo\r\nthrée", id: "o-1" })).toEqual({ subscribers: 4 });
  const frame = Buffer.from("event: order\nid: o-1\ndata: one\ndata: two\ndata: thrée\n\n").toString("latin1");
  for (const [index, connection] of connections.entries()) {
    const text = await connection.received(/data: thr.*\n\n/);
    expect(text).toContain(index < 3 ? `\r\n${frame.length.toString(16)}\r\n${frame}\r\n` : `\n\n${frame}`);
  }
  expect(await service.act("sse.send", { data: "plain" })).toEqual({ subscribers: 4 });
  await connections[0]?.received(/event: message\ndata: plain\n\n/);
  await expect(service.act("sse.send", { event: "a\nb", data: "" })).rejects.toThrow("one line");
  await expect(service.act("sse.send", { data: "x".repeat(65_537) })).rejects.toThrow();
});

it("[HTTP-145] an event is sent to many subscribers in slices, to each in the same order", async () => {
  const service = await startHttp();
  const request = "GET /api/stream?count=0&duration=60m HTTP/1.1\r\nHost: a\r\n\r\n";
  const subscribe = () => rawConnection(service.port, request);
  const connections = await Promise.all(Array.from({ length: 300 }, subscribe));
  for (const connection of connections) await connection.received(/"id":0/);
  const send = (data: string) => service.act("sse.send", { data });
  const sending = [send("first"), send("x".repeat(20_000)), send("third")];
  connections.push(await subscribe());
  await connections.at(-1)?.received(/"id":0/);
  sending.push(send("last"));
  const counts = await Promise.all(sending);
  // Each begins in a turn of its own ([BL-590]): the new subscriber may be there before the third.
  expect([counts[0], counts[3]]).toEqual([{ subscribers: 300 }, { subscribers: 301 }]);
  const order = (text: string) => [...text.matchAll(/^data: (first|x|third|last)/gm)].map(([, word]) => word);
  for (const [index, connection] of connections.entries()) {
    const text = await connection.received(/data: last\n\n/);
    const sent = ["first", "x", "third", "last"];
    expect(order(text)).toEqual(index < 300 ? sent : sent.slice(-order(text).length));
  }
});

it("[HTTP-50] events for a subscriber that does not read are dropped and counted, and use little memory", async () => {
  const service = await startHttp();
  const stalled = connect({ port: service.port, host: "127.0.0.1" });
  onEnd(() => stalled.destroy());
  stalled.pause();
  stalled.write("GET /api/stream?count=0&duration=60s HTTP/1.1\r\nHost: a\r\n\r\n");
  const reading = await rawConnection(service.port, "GET /api/stream?count=0&duration=60s HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => sseOf(service)?.subscribers.length === 2);
  const data = "x".repeat(60_000);
  let reached = 2;
  for (let round = 0; round < 400 && reached === 2; round++) {
    reached = (await service.act("sse.send", { data })).subscribers;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(reached).toBe(1);
  await until(() => sseOf(service)?.subscribers.some((one) => one.skipped > 0));
  await service.act("sse.send", { data: "last" });
  await reading.received(/data: last\n\n/);
});

it("[HTTP-51] sse.disconnect ends one subscriber's stream properly", async () => {
  const service = await startHttp();
  const [one, other] = await Promise.all(
    [1, 2].map(() => rawConnection(service.port, "GET /api/stream?count=0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")),
  );
  const subscribers = await until(() => {
    const view = sseOf(service);
    return view?.subscribers.length === 2 ? view.subscribers : undefined;
  });
  const first = subscribers.find(({ peer }) => peer.endsWith(`:${one?.socket.localPort}`));
  expect(await service.act("sse.disconnect", { subscriber: first?.id ?? 0 })).toEqual({ disconnected: true });
  expect(await one?.closed()).toMatch(/\r\n0\r\n\r\n$/);
  expect(other?.socket.destroyed).toBe(false);
  expect(await service.act("sse.disconnect", { subscriber: 999 })).toEqual({ disconnected: false });
  await until(() => sseOf(service)?.subscribers.find(({ id }) => id === first?.id)?.closedBy === "server");
});

it("[HTTP-52] the view lists subscribers, open ones first, with their counts", async () => {
  const service = await startHttp();
  const open = await rawConnection(
    service.port,
    "GET /api/stream?count=0&duration=30s HTTP/1.1\r\nHost: a\r\nUser-Agent: okhttp/4.12.0\r\nLast-Event-ID: 7\r\n\r\n",
  );
  await open.received(/"id":8/);
  await curl("-N", `${service.url}/api/stream?count=2&duration=0`);
  const view = await until(() => {
    const shown = sseOf(service);
    return shown?.eventsSent === 3 && shown.subscribers.some(({ closedAt }) => closedAt) ? shown : undefined;
  });
  expect(view.subscribers).toEqual([
    {
      id: 1,
      peer: `127.0.0.1:${open.socket.localPort}`,
      client: "okhttp",
      openedAt: expect.any(Number),
      sent: 1,
      skipped: 0,
      lastEvent: expect.stringMatching(/^ping {"id":8/),
      resumedFrom: "7",
    },
    {
      id: 2,
      peer: expect.stringMatching(/^127/),
      client: "curl",
      openedAt: expect.any(Number),
      closedAt: expect.any(Number),
      closedBy: "done",
      sent: 2,
      skipped: 0,
      lastEvent: expect.stringMatching(/^ping {"id":1/),
    },
  ]);
});

it("[HTTP-52] the view lists the newest subscribers and the number of all, and what they send in a few characters", async () => {
  const service = await startHttp();
  const head = `GET /api/stream?count=0&duration=30s HTTP/1.1\r\nHost: a\r\nLast-Event-ID: ${"x".repeat(10_000)}\r\n\r\n`;
  for (let opened = 0; opened < 230; opened++) (await rawConnection(service.port, head)).socket.resume();
  const view = await until(() => (sseOf(service)?.open === 230 ? sseOf(service) : undefined));
  expect([view.subscribers[0]?.id, view.subscribers.at(-1)?.id]).toEqual([31, 230]);
  expect(JSON.stringify(view).length).toBeLessThan(100_000);
});

it("[HTTP-111] a new subscriber is a notable line", async () => {
  const service = await startHttp();
  await curl(`${service.url}/api/stream?count=1&duration=0`);
  const line = await until(() => service.logs.find(({ notable }) => notable));
  expect(line?.text).toMatch(/^New SSE subscriber 127\.0\.0\.1:\d+ \(curl\)$/);
});

it("[HTTP-53] a subscriber above the configured number gets 503", async () => {
  const service = await startHttp({ sseSubscribers: 1 });
  const first = await rawConnection(service.port, "GET /api/stream?count=0 HTTP/1.1\r\nHost: a\r\n\r\n");
  await first.received(/"id":0/);
  const refused = await fetch(`${service.url}/api/stream`);
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    503,
    "5",
    { status: "error", message: expect.any(String) },
  ]);
});

it("[HTTP-54] a thousand subscribers share one timer and get every event", async () => {
  const service = await startHttp();
  const sockets = Array.from({ length: 1_000 }, () => {
    const socket = connect({ port: service.port, host: "127.0.0.1" });
    onEnd(() => socket.destroy());
    socket.write("GET /api/stream?count=0&duration=200ms HTTP/1.1\r\nHost: a\r\n\r\n");
    const state = { events: 0, gotOwn: false };
    socket.on("data", (chunk: Buffer) => {
      const text = chunk.toString("latin1");
      state.events += text.split("event: ping").length - 1;
      state.gotOwn ||= text.includes("data: all of you");
    });
    return state;
  });
  await until(() => sockets.every(({ events }) => events >= 3), 50_000);
  expect(await service.act("sse.send", { data: "all of you" })).toEqual({ subscribers: 1_000 });
  await until(() => sockets.every(({ gotOwn }) => gotOwn), 50_000);
});

it("[HTTP-117] the row of an open stream is updated with its sent events about once a second", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, "GET /api/stream?count=0&duration=50ms HTTP/1.1\r\nHost: a\r\n\r\n");
  await connection.received(/"id":30/);
  const row = await until(() => service.rows().find(({ bytesOut }) => bytesOut > 500));
  expect(row).toMatchObject({ tone: "pending", target: "/api/stream?count=0&duration=50ms" });
  await until(() => service.rows().find(({ bytesOut }) => bytesOut > row.bytesOut));
  connection.socket.destroy();
  expect((await service.ended(() => true)).bytesOut).toBeGreaterThan(row.bytesOut);
});

it("[HTTP-121] each event is a part of the stream's row", async () => {
  const service = await startHttp();
  await (await fetch(`${service.url}/api/stream?count=3&duration=30ms`)).text();
  const row = await service.ended(({ target }) => target.startsWith("/api/stream"));
  expect(row).toMatchObject({ kind: "http", parts: 3 });
  const parts = service.parts(row.id);
  expect(parts.map(({ kind, index }) => [kind, index])).toEqual([0, 1, 2].map((index) => ["sse-event", index]));
  for (const part of parts) {
    if (part.kind !== "sse-event") return expect.fail();
    expect(part.text).toMatch(/^event: ping\nid: \d\ndata: \{.*\}\n\n$/);
    expect(part.bytes).toBe(part.text.length);
  }
  expect(service.detail(row.id).parts).toEqual({ total: 3, bytes: row.bytesOut, leftOut: 0, leftOutBytes: 0 });
});

it("an event is encoded once, in memory of its own: the recorder keeps the frame for each subscriber without a copy", () => {
  const { plain, chunked } = sseFrame({ event: "order", data: "thrée", id: "1" });
  expect(plain.toString()).toBe("event: order\nid: 1\ndata: thrée\n\n");
  expect(chunked.toString()).toBe(`${plain.length.toString(16)}\r\n${plain.toString()}\r\n`);
  expect(plain.buffer).toBe(chunked.buffer);
  expect(plain.buffer.byteLength).toBe(chunked.length);
});
