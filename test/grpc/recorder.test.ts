import { connect } from "node:http2";
import { expect, it } from "vitest";
import { hasTone } from "../../contract/traffic/row-filter.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { createCallMetrics } from "../../servers/grpc/observe/call-metrics.ts";
import { listenMetrics } from "../../servers/grpc/observe/metrics-server.ts";
import {
  clientMessage,
  dataRequest,
  dataResponse,
  helloReply,
  helloRequest,
  serverResponse,
} from "../../servers/grpc/services/example-messages.ts";
import { httpRequest } from "../support/http-request.ts";
import { until } from "../support/until.ts";
import { body, callMethod, openStream } from "./calls.ts";
import { onEnd, startGrpc } from "./harness.ts";

it("[GRPC-60] a call is one row; its messages are its parts in both directions, as their bytes, with times and sizes", async () => {
  const service = await startGrpc({ serverId: "here" });
  const sent = [1, 2].map((sequence) => ({ clientId: "c", message: `m${sequence}`, sequence }));
  await callMethod(service.client(), "/example.Greeter/BidirectionalStream", clientMessage, serverResponse, sent, {
    metadata: { "x-mine": "yes", "x-raw-bin": Buffer.from([1, 2]) },
    deadlineMs: 5_000,
  });
  const row = await service.ended(() => true);
  expect(service.rows().length).toBe(1);
  expect(row).toMatchObject({
    kind: "grpc-call",
    verb: "bidi stream",
    target: "/example.Greeter/BidirectionalStream",
    tone: "ok",
    outcome: "OK",
    client: "grpc-node-js",
    parts: 4,
    bytesIn: 18,
  });
  const detail = service.detail(row.id);
  expect(detail).toMatchObject({
    protocol: "grpc",
    method: { pattern: "bidi stream", requestType: "example.ClientMessage", responseType: "example.ServerResponse" },
    authority: service.address,
    status: { code: 0, name: "OK", message: "" },
    requestEncoding: "identity",
    responseEncoding: "identity",
    received: 2,
    sent: 2,
    connection: { calls: 1, remote: row.peer, local: service.address },
  });
  expect(detail.requestHeaders).toEqual(
    expect.arrayContaining([
      ["x-mine", "yes"],
      ["x-raw-bin", "AQI="],
      [":path", "/example.Greeter/BidirectionalStream"],
    ]),
  );
  expect(detail.responseHeaders).toEqual(expect.arrayContaining([["content-type", "application/grpc+proto"]]));
  expect(detail.trailers).toEqual(expect.arrayContaining([["grpc-status", "0"]]));
  expect(detail.deadlineMs).toBeGreaterThan(4_000);
  const { headersMs = -1, halfCloseMs = -1, totalMs = -1 } = detail.timing;
  expect(headersMs >= 0 && halfCloseMs >= 0 && totalMs >= halfCloseMs).toBe(true);
  const parts = service.parts(row.id);
  expect(parts.filter(({ direction }) => direction === "received").map(({ base64 }) => base64)).toEqual(
    sent.map((message) => body(clientMessage.frame(message)).toString("base64")),
  );
  expect(
    parts
      .filter(({ direction }) => direction === "sent")
      .map(({ base64 }) => serverResponse.decode(Buffer.from(base64, "base64")).response),
  ).toEqual(["Echo: m1", "Echo: m2"]);
  expect(parts.every(({ at, bytes, wireBytes, compressed }) => at >= row.at && bytes === wireBytes && !compressed)).toBe(true);
});

it("[GRPC-61] messages of an open call are there while it goes on, and long ones are cut at the recorder's limit", async () => {
  const service = await startGrpc({ recordedMessageBytes: 10, recordedMessageRate: 0 });
  const session = connect(`http://${service.address}`);
  onEnd(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/example.Greeter/BidirectionalStream",
    "content-type": "application/grpc",
  });
  stream.on("error", () => {}).resume();
  stream.write(clientMessage.frame({ clientId: "", message: "x".repeat(100), sequence: 0 }));
  const row = await until(() => service.rows().find(({ parts }) => parts === 2));
  expect(row.tone).toBe("pending");
  expect(service.detail(row.id).status).toBeUndefined();
  expect(service.parts(row.id)[0]).toMatchObject({ bytes: 102, base64: expect.stringMatching(/^.{16}$/) });
  session.destroy();
  expect(await service.ended(() => true)).toMatchObject({ tone: "aborted", outcome: "client left" });
  expect(service.detail(row.id)).toMatchObject({ aborted: "client left" });
});

it("[GRPC-61] the rest of a message is kept as far as the rate allows, up to 256 KiB", async () => {
  const largest = 256 << 10;
  for (const [recordedMessageRate, sent, kept, overBudget] of [
    [2 << 20, 40_000, 40_000, undefined],
    [2 << 20, 300_000, largest, undefined],
    [0, 40_000, 10, undefined],
  ] as const) {
    const service = await startGrpc({ recordedMessageBytes: 10, recordedMessageRate });
    await callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x".repeat(sent - 4) }]);
    const row = await service.ended(() => true);
    const [message] = service.parts(row.id);
    expect([message?.bytes, Buffer.byteLength(message?.base64 ?? "", "base64"), message?.overBudget]).toEqual([sent, kept, overBudget]);
  }
});

it("[GRPC-61] a message for which nothing of the rate is left has its start only, and says so", async () => {
  const service = await startGrpc({ recordedMessageBytes: 10, recordedMessageRate: 1 });
  const client = service.client();
  for (const name of ["a", "b"])
    await callMethod(client, "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: name.repeat(200_000) }]);
  const rows = await until(() => (service.rows().filter(({ tone }) => tone === "ok").length === 2 ? service.rows() : undefined));
  expect(rows.map(({ id }) => service.parts(id)[0]?.overBudget)).toEqual([undefined, true]);
});

it("[GRPC-61] the response headers of an open call are there, once, and after its end too", async () => {
  const service = await startGrpc();
  const stream = openStream(service.client(), "/example.Greeter/BidirectionalStream", { metadata: { "x-backlot-headers": "x-mine=yes" } });
  stream.write(body(clientMessage.frame({ clientId: "c", message: "m", sequence: 1 })));
  const open = await until(() => service.rows().find(({ parts }) => parts === 2));
  expect(service.detail(open.id).responseHeaders).toContainEqual(["x-mine", "yes"]);
  stream.end();
  const { id } = await service.ended(() => true);
  expect(service.detail(id).responseHeaders?.filter(([name]) => name === "x-mine").length).toBe(1);
  expect(service.detail(id).trailers).toContainEqual(["grpc-status", "0"]);
});

it("[GRPC-62] the log names each call with status, time, messages and client; the counters count calls", async () => {
  const service = await startGrpc();
  await callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }]);
  const line = await until(() => service.logs.find(({ text }) => text.startsWith("/example.Greeter/SayHello")));
  expect(line).toMatchObject({
    level: "info",
    text: expect.stringMatching(/^\/example\.Greeter\/SayHello OK \S+ ms 1 in 1 out grpc-node-js 127\.0\.0\.1:\d+$/),
  });
  await until(() => service.counters()?.items === 1);
  // Streams last as long as they are read: their times say nothing of the service.
  expect(service.counters()).toMatchObject({ items: 1, clients: 1, note: expect.stringMatching(/^unary p95 /) });
});

it("[GRPC-371] the sum counts as failed what the filter finds as failed: also calls that the client cancelled, or left, at its deadline or before", async () => {
  const service = await startGrpc();
  const client = service.client();
  const hello = (headers: Readonly<Record<string, string>>, deadlineMs?: number) =>
    callMethod(client, "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }], {
      metadata: headers,
      ...(deadlineMs !== undefined && { deadlineMs }),
    });
  await hello({});
  await hello({ "x-backlot-status": "INVALID_ARGUMENT" });
  await hello({ "x-backlot-status": "UNAVAILABLE" });
  await hello({ "x-backlot-delay": "10s" }, 100);
  const session = connect(`http://${service.address}`);
  onEnd(() => session.destroy());
  const fields = { ":method": "POST", ":path": "/example.Greeter/BidirectionalStream", "content-type": "application/grpc" };
  session.request(fields).on("error", () => {});
  await until(() => service.rows().find(({ tone, target }) => tone === "pending" && target === fields[":path"]));
  session.destroy();
  const rows = await until(() => (service.rows().filter(({ tone }) => tone !== "pending").length === 5 ? service.rows() : undefined));
  expect(rows.map(({ tone }) => tone)).toEqual(["ok", "refused", "failed", expect.stringMatching(/^(?:failed|aborted)$/), "aborted"]);
  expect(rows.filter(({ tone }) => hasTone(tone, "failed")).length).toBe(3);
  await until(() => service.counters()?.note?.endsWith("3 of 5 failed"));
});

it("[GRPC-334] log lines show no secret of a path, also where a reason quotes it", async () => {
  const service = await startGrpc();
  const paths = ["/example.Greeter/SayHello?access_token=SECR3T", "/x?token=SECR3T", "/x?token=abc&a=$&"];
  for (const path of paths) await callMethod(service.client(), path, helloRequest, helloReply, [{ name: "x" }]);
  await httpRequest(service.webUrl, { path: "http://user:SECR3T@127.0.0.1/get" });
  const lines = await until(() => {
    const texts = service.logs.map(({ text }) => text).filter((text) => / (?:UNIMPLEMENTED|HTTP 404) /.test(text));
    return texts.length === 4 && texts;
  });
  expect(lines.join("\n")).not.toContain("SECR3T");
  expect(lines.join("\n")).not.toContain("abc");
  expect(lines.join("\n")).toMatch(
    /^\/example\.Greeter\/SayHello\?access_token=… UNIMPLEMENTED .* There is no method \/example\.Greeter\/SayHello\?access_token=…$/m,
  );
});

it("[GRPC-63] metrics at /metrics and at /: calls by method and code, their times, and the open ones", async () => {
  const service = await startGrpc();
  const client = service.client();
  await callMethod(client, "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }]);
  await callMethod(client, "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "x" }], {
    metadata: { "x-backlot-status": "ABORTED" },
  });
  await callMethod(client, "/no.Such/Method", helloRequest, helloReply, [{ name: "x" }]);
  const open = callMethod(client, "/example.Greeter/StreamData", dataRequest, dataResponse, [{ count: 5, prefix: "" }]);
  await until(() => service.rows().length === 4);
  const text = await (await fetch(service.metricsUrl)).text();
  expect(text).toContain('grpc_server_requests_total{method="/example.Greeter/SayHello"} 2\n');
  expect(text).toContain('grpc_server_handled_total{method="/example.Greeter/SayHello",code="OK"} 1\n');
  expect(text).toContain('grpc_server_handled_total{method="/example.Greeter/SayHello",code="ABORTED"} 1\n');
  expect(text).toContain('grpc_server_handled_total{method="unknown",code="UNIMPLEMENTED"} 1\n');
  expect(text).toContain('grpc_server_active_requests{method="/example.Greeter/StreamData"} 1');
  expect(text).toContain('grpc_server_request_latency_seconds_bucket{le="0.005",method="/example.Greeter/SayHello"}');
  expect(text).toContain('grpc_server_request_latency_seconds_count{method="/example.Greeter/SayHello"} 2\n');
  await open;
  const root = await fetch(new URL("/", service.metricsUrl));
  expect([root.status, root.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect((await fetch(new URL("/other", service.metricsUrl))).status).toBe(404);
  expect((await fetch(service.metricsUrl, { method: "POST" })).status).toBe(405);
  for (const agent of ["Mozilla/5.0 (X11; Linux x86_64)", "x"]) {
    const refused = await httpRequest(String(service.metricsUrl), { headers: { Host: "evil.example:8000", "User-Agent": agent } });
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining("(GRPC_ALLOWED_ORIGINS)")]);
  }
  const { metricsUrl } = await startGrpc({ allowedOrigins: ["http://backlot.example:8000"] });
  expect((await httpRequest(String(metricsUrl), { headers: { Host: "backlot.example:8000" } })).status).toBe(200);
});

it("[GRPC-64] the page gets the services with their methods, the types as a descriptor set, and sample traffic of each pattern", async () => {
  const service = await startGrpc();
  const views = await until(() => service.views.get("services"));
  expect(views.services.find(({ name }) => name === "example.Greeter")?.methods).toContainEqual({
    path: "/example.Greeter/SayHello",
    name: "SayHello",
    pattern: "unary",
    requestType: "example.HelloRequest",
    responseType: "example.HelloReply",
  });
  const { base64 } = await service.act("schema");
  expect(Buffer.from(base64, "base64").includes("example.proto")).toBe(true);
  await service.act("sample.start");
  await until(() => new Set(service.rows().map(({ verb }) => verb)).size === 4);
  await service.act("sample.stop");
  await until(() => service.views.get("sample")?.running === false);
});

it("[GRPC-63] the text of metrics is made in steps, and once for all who ask meanwhile", async () => {
  const metrics = createCallMetrics();
  for (let method = 0; method < 1_000; method++) {
    const counts = metrics.begin({ path: `/a.B/C${method}` } as never);
    metrics.end(counts, { status: { code: 0, message: "" } } as never, 1);
  }
  const steps = [...metrics.text()];
  expect(steps.length).toBeGreaterThanOrEqual(2_000);
  let made = 0;
  const text = function* () {
    made++;
    yield;
    return yield* metrics.text();
  };
  const port = await listenMetrics(
    { text },
    { port: 0, openToLan: false, onStop: onEnd, allowsOrigin: () => true, turns: new WorkTurns() },
  );
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const texts = await Promise.all(Array.from({ length: 20 }, ask));
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toContain('grpc_server_requests_total{method="/a.B/C999"} 1\n');
  expect(made).toBeLessThan(20);
});
