import { Client, credentials } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { describedMessage } from "../../servers/grpc/engine/message-type.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { startBacklot } from "../support/start-backlot.ts";
import { until } from "../support/until.ts";
import { body, callMethod, collect, openStream } from "./calls.ts";
import { onEnd } from "./harness.ts";

const pool = await loadOwnProtos();
const healthRequest = describedMessage<{ readonly service: string }>(pool.message("grpc.health.v1.HealthCheckRequest"));
const healthReply = describedMessage<{ readonly status: number }>(pool.message("grpc.health.v1.HealthCheckResponse"));

it("[GRPC-168] --only grpc serves without a window; when it is told to end, watchers know first and calls in flight finish", async () => {
  const ports = ["--grpc-port", "0", "--grpc-web-port", "0", "--grpc-metrics-port", "0"];
  const run = startBacklot(["--headless", "--json", "--dashboard-port", "0", "--only", "grpc", ...ports]);
  await run.ready();
  const { endpoints = [] } = await run.state("grpc", "running");
  const urlOf = (label: string) => endpoints.find((endpoint) => endpoint.label === label)?.url ?? "";
  const client = new Client(endpoints[0]?.url.replace("grpc://", "") ?? "", credentials.createInsecure());
  onEnd(() => client.close());
  const hello = (metadata = {}) =>
    callMethod(client, "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "CI" }], { metadata, deadlineMs: 20_000 });
  expect((await hello()).replies).toEqual([{ message: "Hello, CI from backlot!", status: 200 }]);
  const web = await fetch(`${urlOf("gRPC-Web")}/example.Greeter/SayHello`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"name":"curl"}',
  });
  expect(await web.json()).toMatchObject({ message: "Hello, curl from backlot!" });
  expect(await (await fetch(urlOf("Metrics"))).text()).toContain('grpc_server_requests_total{method="/example.Greeter/SayHello"} 2');

  const seen: number[] = [];
  const watch = openStream(client, "/grpc.health.v1.Health/Watch");
  watch.on("data", (bytes: Buffer) => seen.push(healthReply.decode(bytes).status));
  const watched = collect(watch, healthReply);
  watch.end(body(healthRequest.frame({ service: "example.Greeter" })));
  await until(() => seen.length === 1);
  const short = hello({ "x-backlot-delay": "500ms" });
  // It has begun when one that was sent after it is answered.
  await hello();
  run.kill("SIGTERM");
  expect((await short).status.code).toBe(0);
  expect((await watched).status).toMatchObject({ code: 14, details: "the service is stopping" });
  expect(seen).toEqual([1, 2]);
  expect(await run.ended).toMatchObject({ code: 0 });
});
