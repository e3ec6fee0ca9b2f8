import type { HttpActions } from "../../contract/http.ts";
import type { Endpoint } from "../../contract/service.ts";
import { createHttpRecorder } from "../core/http-recorder.ts";
import { createHttpServerFactory } from "../core/http-server.ts";
import type { ServiceContext } from "../core/service.ts";
import { listenTcp } from "../core/tcp-listener.ts";
import { createTryRequest } from "../core/try-request.ts";
import { createHttpApp } from "./http-app.ts";
import type { HttpConfig } from "./http-config.ts";
import { errorBody } from "./http-problem.ts";
import { sendError } from "./reply.ts";
import { bodyTooLarge } from "./request-body.ts";
import { routeTable } from "./route-table.ts";
import { createSampleTraffic } from "./sample-traffic.ts";
import { createSseHub } from "./sse/sse-hub.ts";
import { createWebSocketEcho } from "./websocket-echo.ts";

export async function startHttp(
  context: ServiceContext<HttpConfig, HttpActions>,
  endpointsAt: (port: number) => readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const recorder = createHttpRecorder({ traffic: context.traffic, log, bodyLimit: config.recordedBodyBytes });
  const hub = createSseHub({ show: (view) => context.view("sse", view), log });
  onStop(() => hub.close());
  const webSockets = createWebSocketEcho({ recorder, log, frameBytes: config.webSocketFrameBytes });
  const app = createHttpApp({ routes: routeTable(config, hub), corsOrigins: config.corsOrigins, log });

  const createServer = createHttpServerFactory({
    app: app.express,
    recorder,
    log,
    limits: config,
    errorBody,
    handle: app.handle,
    onExpectContinue(request, response) {
      if (Number(request.headers["content-length"] ?? 0) <= config.bodyBytes) return true;
      // RFC 9110 §10.1.1: the refusal comes instead of the 100, so that the body is never sent.
      const { status, message } = bodyTooLarge(config.bodyBytes);
      sendError(response, status, message, { Connection: "close" });
      return false;
    },
    upgrade: { accepts: webSockets.accepts, handle: webSockets.upgrade },
  });
  const port = await listenTcp({ port: config.port, openToLan: config.openToLan, createServer, onStop });
  onStop(() => recorder.connections.destroyAll());
  onStop(() => webSockets.close());

  const tries = createTryRequest({ port, recorder });
  onStop(tries.close);
  const sample = createSampleTraffic({ port, show: (view) => context.view("sample", view) });
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
