import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createNodeTlsServer } from "node:tls";
import { createHttpDispatch, type HttpErrors } from "../../core/http/http-dispatch.ts";
import { type HttpRequest, type HttpRoute, pathOf } from "../../core/http/http-route.ts";
import { createHttpServers, type HttpServerLimits, hasValidHost } from "../../core/http/http-server.ts";
import { createCors } from "../../core/http/messages/cors.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { loggedTarget } from "../../core/http/record/http-log-line.ts";
import type { HttpRecorder } from "../../core/http/record/http-recorder.ts";
import { asksForWebSocket, handshakeProblem, type OriginRule } from "../../core/http/websocket/websocket-handshake.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import { isByPublicName, isOfOwnPage } from "../../core/net/allowed-origins.ts";
import { handshakeRecord } from "../../core/net/client-hello.ts";
import { ConnectionCount, type ConnectionLimits } from "../../core/net/connection-count.ts";
import type { FaultLog } from "../../core/net/fault-log.ts";
import { readFirstBytes } from "../../core/net/first-bytes.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { TlsAdmission } from "../../core/net/tls-admission.ts";
import { createTlsServer, type TlsSource } from "../../core/net/tls-listener.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { withoutKeyPassword } from "../observe/signalling-redaction.ts";
import { createUpgradeTable, type WebRoutes } from "./web-routes.ts";

export interface WebListenerOptions {
  readonly port: number;
  readonly openToLan: boolean;
  readonly certificates: TlsSource;
  readonly routes: readonly WebRoutes[];
  readonly recorder: HttpRecorder;
  /** Pages that may use the service. */
  readonly allowsOrigin: OriginRule;
  readonly limits: HttpServerLimits & ConnectionLimits & { readonly bodyBytes: number; readonly tlsHandshakes: number };
  /** Of all clients. */
  readonly turns: WorkTurns;
  /** Of bodies and WebSocket messages. */
  readonly held: SharedBudget;
  readonly faults: FaultLog;
  readonly log: Log;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

/** Variable of the setting with the pages that may use the service. */
const originSetting = "WEBRTC_ALLOWED_ORIGINS";
const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Serves http, https, ws and wss on one port: the first byte of a connection tells whether it is TLS. What is inside goes to Node's parser,
 * and from there to the route of its path. Resolves with the port when it listens.
 */
export async function listenWeb(options: WebListenerOptions): Promise<number> {
  const { routes, recorder, allowsOrigin, limits, turns, held, faults, log, certificates, onStop } = options;
  const upgradeOf = createUpgradeTable(routes.flatMap(({ upgrades = [] }) => upgrades));
  const sockets = new Set<Socket>();
  const admission = new TlsAdmission({ turns, tlsHandshakes: limits.tlsHandshakes });
  const connections = new ConnectionCount(limits, faults);

  const cors = createCors({
    origins: allowsOrigin,
    exposed: "Location, Link, ETag",
    methods: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    isPreflight: ({ headers }) => headers.origin !== undefined && headers["access-control-request-method"] !== undefined,
    preflightFields: ({ url = "" }) => Object.assign({}, ...routes.map((part) => part.preflightFields?.(pathOf(url)))),
    privateNetwork: true,
  });
  const errors = errorsOf(limits.bodyBytes, log);
  const fields = ["X-Content-Type-Options", "nosniff"];

  /** RFC 9112 §9.3.2: earlier answers would follow the 101 among the frames. */
  function isAnswerPending(request: HttpRequest): boolean {
    const { latest } = recorder.connections.of(request.socket);
    return latest !== undefined && latest.req !== request && !latest.writableFinished;
  }

  const createHttp = createHttpServers({
    recorder,
    log,
    limits,
    held,
    errors,
    cors,
    fields,
    dispatch: createHttpDispatch({ routes: guarded(routes), caseSensitivePaths: true, cors, errors, log }),
    upgrade: {
      accepts: (request) =>
        asksForWebSocket(request) &&
        upgradeOf(pathOf(request.url ?? "")) !== undefined &&
        hasValidHost(request) &&
        handshakeProblem(request, allowsOrigin, originSetting) === undefined &&
        !isAnswerPending(request),
      handle(request, duplex: Duplex, head) {
        const socket = duplex as Socket;
        try {
          upgradeOf(pathOf(request.url ?? ""))?.handle(request, socket, head);
        } catch (error) {
          log.error(`A WebSocket of ${socket.remoteAddress} could not be opened: ${errorText(error)}`);
          socket.destroy();
        }
      },
    },
  });

  /** Every route, with what no route may see; and an answer for those that open no WebSocket where one is expected. */
  function guarded(all: readonly WebRoutes[]): readonly HttpRoute[] {
    const http = all.flatMap((part) => part.http ?? []);
    const withGet = new Set(http.flatMap(({ path, methods }) => (methods === "any" || methods.includes("GET") ? [path] : [])));
    const others = all.flatMap(({ upgrades = [] }) =>
      upgrades.flatMap(({ path }): HttpRoute[] =>
        withGet.has(path)
          ? []
          : [{ path: path.length > 1 && path.endsWith("/") ? `${path}*rest` : path, methods: ["GET"], handle: refuseRequest }],
      ),
    );
    return [...http, ...others].map(
      (route): HttpRoute => ({
        ...route,
        handle(request, response) {
          refuseForeign(request);
          return route.handle(request, response);
        },
      }),
    );
  }

  function refuseForeign(request: HttpRequest): void {
    if (asksForWebSocket(request) && upgradeOf(pathOf(request.url ?? ""))) {
      const problem = handshakeProblem(request, allowsOrigin, originSetting);
      if (problem) throw problem;
    }
    const { method = "", headers } = request;
    // RFC 6454 §8.3: a page of another origin can send a POST without being asked back.
    if (!safeMethods.has(method) && !allowsOrigin(headers.origin) && !isOfOwnPage(request))
      throw new HttpRefusal(403, `Pages of this origin may not do this; it can be allowed in the configuration (${originSetting})`);
    // The answer may have credentials of TURN.
    if (isByPublicName(request, allowsOrigin))
      throw new HttpRefusal(
        403,
        `This server may not be used by a public name; use its address, or allow the origin of the name in the configuration (${originSetting})`,
      );
  }

  function admit(socket: Socket): boolean {
    if (!connections.admit(socket)) return false;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return true;
  }

  function createServer(): HttpServer {
    const server = createHttp() as unknown as HttpServer;
    const takers = server.listeners("connection") as ((socket: Socket) => void)[];
    const takeHttp = (socket: Socket) => {
      for (const take of takers) take.call(server, socket);
      socket.resume();
    };
    const tlsServer = createTlsServer(
      {
        certificates,
        handshakeMs: limits.headersTimeoutMs,
        faults,
        createServer: (tls) => createNodeTlsServer({ ...tls, ALPNProtocols: ["http/1.1"] }, takeHttp),
      },
      admission,
    );
    // It listens to no port of its own.
    server.once("close", () => tlsServer.emit("close"));
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (!admit(socket)) return;
      readFirstBytes(
        socket,
        limits.headersTimeoutMs,
        (first) => first[0] === handshakeRecord,
        (isTls) => {
          if (isTls) tlsServer.emit("connection", socket);
          else takeHttp(socket);
        },
      );
    });
    return server;
  }

  const port = await listenTcp({ ...options, createServer, places: connections });
  onStop(async () => {
    admission.close();
    const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  });
  // From here on an aborted exchange counts as aborted by the service.
  onStop(recorder.stop);
  return port;
}

function refuseRequest(): never {
  throw new HttpRefusal(426, "This path speaks WebSocket", { headers: { Upgrade: "websocket", Connection: "Upgrade, close" } });
}

const errorBody = (status: number, message: string): string => `${JSON.stringify({ error: { status, message } })}\n`;

const errorsOf = (bodyBytes: number, log: Log): HttpErrors => ({
  body: errorBody,
  notFound: () => new HttpRefusal(404, "There is nothing here"),
  notAllowed: (method, allow) => new HttpRefusal(405, `${method} is not allowed here; ${allow} are`, { headers: { Allow: allow } }),
  badPath: () => new HttpRefusal(400, "Invalid percent-encoding in the path"),
  tooLarge: () =>
    new HttpRefusal(413, `The body is larger than ${bodyBytes} bytes`, {
      reason: `The body is larger than ${bodyBytes} bytes (Largest body, WEBRTC_BODY_BYTES)`,
    }),
  refusalOf(error, request) {
    log.error(`${request.method} ${loggedTarget(withoutKeyPassword(request.url ?? ""))} failed: ${errorText(error)}`);
    return new HttpRefusal(500, "Internal error");
  },
});
