import type { HttpActions } from "../../contract/http.ts";
import type { Endpoint } from "../../contract/service.ts";
import { createHttpRecorder } from "../core/http-recorder.ts";
import { createHttpServerFactory } from "../core/http-server.ts";
import { createSampleTraffic } from "../core/sample-traffic.ts";
import type { ServiceContext } from "../core/service.ts";
import { listenTcp } from "../core/tcp-listener.ts";
import { createTryRequest } from "../core/try-request.ts";
import { createHttpApp } from "./http-app.ts";
import type { HttpConfig } from "./http-config.ts";
import { errorBody } from "./http-problem.ts";
import { routeTable } from "./route-table.ts";
import { beginSample, sampleTiming } from "./sample-traffic.ts";
import { maskSecretPath } from "./secret-paths.ts";
import { createSseHub } from "./sse/sse-hub.ts";
import { createWebSocketEcho } from "./websocket-echo.ts";

export async function startHttp(
  context: ServiceContext<HttpConfig, HttpActions>,
  endpointsAt: (port: number) => readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const recorder = createHttpRecorder({ traffic: context.traffic, log, bodyLimit: config.recordedBodyBytes, maskPath: maskSecretPath });
  const hub = createSseHub({ show: (view) => context.view("sse", view), touch: context.traffic.touch, log });
  onStop(() => hub.close());
  const webSockets = createWebSocketEcho({ recorder, log, frameBytes: config.webSocketFrameBytes });
  const app = createHttpApp({ routes: routeTable(config, hub), corsOrigins: config.corsOrigins, log });

  const createServer = createHttpServerFactory({
    app: app.express,
    recorder,
    log,
    limits: config,
    errorBody,
    headers: app.headers,
    prepare: app.prepare,
    handle: app.handle,
    upgrade: { accepts: webSockets.accepts, handle: webSockets.upgrade },
  });
  const port = await listenTcp({ port: config.port, openToLan: config.openToLan, createServer, onStop });
  onStop(() => recorder.connections.destroyAll());
  onStop(() => webSockets.close());

  const tries = createTryRequest({ port, recorder });
  onStop(tries.close);
  const sample = createSampleTraffic({ ...sampleTiming, port, begin: beginSample, show: (view) => context.view("sample", view) });
  onStop(sample.stop);
  onStop(() => recorder.stop());

  context.counters(recorder.counters);
  context.handle({
    "sse.send": (event) => ({ subscribers: hub.broadcast(event) }),
    "sse.disconnect": ({ subscriber }) => ({ disconnected: hub.disconnect(subscriber) }),
    try: tries.run,
    "sample.start": () => {
      sample.start();
      return null;
    },
    "sample.stop": () => {
      sample.stop();
      return null;
    },
  });
  return endpointsAt(port);
}
