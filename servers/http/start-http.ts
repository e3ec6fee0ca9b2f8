import type { Endpoint } from "../../contract/service.ts";
import type { HttpActions } from "../../contract/services/http.ts";
import { createHttpRecorder } from "../core/http/http-recorder.ts";
import { createHttpServerFactory } from "../core/http/http-server.ts";
import { createTryRequest } from "../core/http/try-request.ts";
import { listenTcp } from "../core/net/tcp-listener.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { createSampleTraffic } from "../core/traffic/sample-traffic.ts";
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
