import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { onEnd, rawConnection, startHttp, until } from "./harness.ts";

const delayed = (fields = "") => `GET /delay/10 HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;

it("[HTTP-150] a connection that is cut with many unanswered requests ends all of their rows, with one log line", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, delayed().repeat(20));
  await until(() => service.rows().length === 20);
  const { localPort } = connection.socket;
  connection.socket.resetAndDestroy();
  await until(() => service.rows().every(({ tone }) => tone === "aborted"));
  expect(new Set(service.rows().map(({ outcome, peer }) => `${outcome} ${peer}`))).toEqual(new Set([`client left 127.0.0.1:${localPort}`]));
  expect(
    service.logs.filter(({ text }) => text.includes("/delay/10")).map(({ text }) => text.replace(/\d+(\.\d+)? ms|\d\.\d+ s/, "T")),
  ).toEqual([`GET /delay/10 client left T 0 B - 127.0.0.1:${localPort} with 19 more requests of the connection`]);
});

it("[HTTP-148] heads of unanswered requests count too: the connection that has most gives way", async () => {
  const service = await startHttp({ allRequestBytes: 1_600_000 });
  const bystander = await rawConnection(service.port, delayed());
  const heads = delayed(`X-A: ${"a".repeat(12_000)}\r\n`);
  const small = await rawConnection(service.port, heads.repeat(10));
  await until(() => service.rows().length === 11);
  const most = await rawConnection(service.port, heads.repeat(28));
  await until(() => service.rows().length === 39);
  for (let client = 0; client < 32; client++) await rawConnection(service.port, heads);
  await most.closed();
  await until(() => service.rows().filter(({ tone }) => tone === "aborted").length === 28);
  expect(service.rows().find(({ tone }) => tone === "aborted")).toMatchObject({ outcome: "too many bytes of requests" });
  expect([bystander, small].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
});

it("[HTTP-151] more connections than the limits are closed at once, and a log line says why", async () => {
  const service = await startHttp({ connections: 4, connectionsPerAddress: 3 });
  const kept = await Promise.all(Array.from({ length: 3 }, () => rawConnection(service.port, delayed())));
  await until(() => service.rows().length === 3);
  const refused = connect(service.port, "127.0.0.1").on("error", () => {});
  onEnd(() => refused.destroy());
  await new Promise((resolve) => refused.once("close", resolve));
  await until(() => service.logs.some(({ text }) => /connection of 127\.0\.0\.1 was refused/.test(text)));
  kept[0]?.socket.destroy();
  await service.ended(({ tone }) => tone === "aborted");
  const next = await rawConnection(service.port, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  await next.received(/"status":"ok"/);
});

it("[HTTP-264] one that is too large is recorded from its beginning, also where it comes in several packets", async () => {
  const service = await startHttp();
  for (const [target, rest, status] of [
    ["/many", "a:\r\n".repeat(1_000), 431],
    [`/${"long".repeat(20)}`, "x".repeat(40_000), 414],
  ] as const) {
    const connection = await rawConnection(service.port);
    for (const piece of [`GET ${target}`, ...(status === 414 ? [] : [" HTTP/1.1\r\nHost: a\r\n"]), rest]) {
      connection.send(piece);
      // Until it is read.
      for (let turn = 0; turn < 20; turn++) await nextTurn();
    }
    expect(await connection.closed()).toContain(`HTTP/1.1 ${status} `);
    const row = await service.ended(({ outcome }) => outcome.startsWith(`${status}, `));
    expect([row.verb, row.target.startsWith(target)]).toEqual(["GET", true]);
  }
});
