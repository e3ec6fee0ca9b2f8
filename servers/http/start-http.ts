import type { Endpoint } from "../../contract/service.ts";
import type { HttpActions, HttpViews } from "../../contract/services/http.ts";
import type { HttpAddress } from "../core/http/http-definition.ts";
import type { HttpErrors } from "../core/http/http-dispatch.ts";
import { asksForMethod, createOriginRule } from "../core/http/messages/cors.ts";
import { HttpRefusal } from "../core/http/messages/http-refusal.ts";
import { serveHttp } from "../core/http/serve-http.ts";
import type { Log } from "../core/service/log.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { WorkTurns } from "../core/turns/work-turns.ts";
import { bodyTooLarge } from "./formats/content-coding.ts";
import { createHttpActions } from "./http-actions.ts";
import type { HttpConfig } from "./http-config.ts";
import { errorBody } from "./routes/reply.ts";
import { maskSecretPath, routeTable } from "./routes/route-table.ts";
import { httpSample } from "./sample-traffic.ts";
import { createSseHub } from "./sse/sse-hub.ts";
import { createWebSocketEcho } from "./websocket/websocket-echo.ts";
import { createWebSocketTry } from "./websocket/websocket-try.ts";

export async function startHttp(
  context: ServiceContext<HttpConfig, HttpActions, HttpViews>,
  endpoints: (address: HttpAddress) => readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const turns = new WorkTurns();
  onStop(() => turns.close());
  const hub = createSseHub({ show: (view) => context.view("sse", view), touch: context.traffic.touch, log, turns });
  onStop(() => hub.close());
  const serving = await serveHttp(context, {
    routes: routeTable(config, hub),
    caseSensitivePaths: true,
    cors: {
      origins: config.corsOrigins,
      exposed: "*",
      methods: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      isPreflight: (request) => request.headers.origin !== undefined && asksForMethod(request),
      privateNetwork: true,
    },
    errors: errorsOf(config, log),
    maskPath: maskSecretPath,
    upgrade: (recorder, held) =>
      createWebSocketEcho({
        recorder,
        held,
        log,
        frameBytes: config.webSocketFrameBytes,
        allowsOrigin: createOriginRule(config.corsOrigins),
      }),
    sample: httpSample,
    turns,
  });
  const { port } = serving.ports;
  const socket = createWebSocketTry({ port, recorder: serving.recorder, show: (tried) => context.view("socket", tried) });
  onStop(socket.close);
  context.onPagesLeft((why) => {
    if (socket.leave(why)) log.info(`The WebSocket of Try was closed: ${why}`);
  });
  context.handle(createHttpActions(serving, hub, socket));
  return endpoints({ ...config, ...serving.ports });
}

const errorsOf = ({ bodyBytes }: HttpConfig, log: Log): HttpErrors => ({
  body: errorBody,
  notFound: () => new HttpRefusal(404, "Not found; GET /api lists every route"),
  notAllowed: (method, allow) => new HttpRefusal(405, `${method} is not allowed here; ${allow} are`, { headers: { Allow: allow } }),
  badPath: () => new HttpRefusal(400, "Invalid percent-encoding in the path"),
  tooLarge: () => bodyTooLarge(bodyBytes),
  refusalOf(error, request) {
    log.error(`${request.method} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return new HttpRefusal(500, "Internal error");
  },
});
