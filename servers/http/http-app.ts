import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { ClientLeft } from "../core/http/client-left.ts";
import type { RecordedRequest, RecordedResponse } from "../core/http/recorded-messages.ts";
import type { Log } from "../core/service/log.ts";
import { createCors } from "./cors.ts";
import { HttpProblem } from "./http-problem.ts";
import { sendEmpty, sendError } from "./reply.ts";
import { allowedMethods, type Route, takesMethod } from "./route.ts";

export interface HttpApp {
  readonly express: Express;
  /** What every answer carries, whoever asked. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sets what the answer to this origin carries beyond them. */
  prepare(request: RecordedRequest, response: RecordedResponse): void;
  handle(request: RecordedRequest, response: RecordedResponse): void;
}

/** The Express application made of the route table, and what stands before it. */
export function createHttpApp(options: { routes: readonly Route[]; corsOrigins: readonly string[]; log: Log }): HttpApp {
  const { routes, log } = options;
  const cors = createCors(options.corsOrigins);
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  for (const route of routes) app.route(route.path).all((request, response) => dispatch(route, request, response));
  const answer = app as unknown as (request: RecordedRequest, response: RecordedResponse, final: NextFunction) => void;

  return {
    express: app,
    headers: { "X-Content-Type-Options": "nosniff", ...cors.headers },
    prepare: cors.apply,
    handle(request, response) {
      if (cors.isPreflight(request)) cors.answerPreflight(request, response);
      // RFC 9110 §9.3.7: "*" asks about the server as a whole.
      else if (request.url === "*" && request.method === "OPTIONS")
        sendEmpty(response, 204, { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" });
      else answer(request, response, (error?: unknown) => answerFailure(error, request, response, log));
    },
  };
}

function dispatch(route: Route, request: Request, response: Response): void | Promise<void> {
  const { method } = request;
  if (takesMethod(route, method)) return route.handle(request, response);
  const Allow = allowedMethods(route);
  if (method === "OPTIONS") sendEmpty(response, 204, { Allow });
  else sendError(response, 405, `${method} is not allowed here; ${Allow} are`, { Allow });
}

function answerFailure(error: unknown, request: RecordedRequest, response: RecordedResponse, log: Log): void {
  if (error instanceof ClientLeft) {
    // A response that was never begun would stay open with its connection.
    if (!response.destroyed) response.destroy();
    return;
  }
  if (response.headersSent) {
    log.error(`${request.method} failed after its answer was begun: ${messageOf(error)}`);
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) if (name.startsWith("content-")) response.removeHeader(name);
  if (error === undefined || error === null) sendError(response, 404, "Not found; GET /api lists every route");
  else if (error instanceof HttpProblem) sendError(response, error.status, error.message, error.headers);
  else if (isBadPath(error)) sendError(response, 400, "Invalid percent-encoding in the path");
  else {
    log.error(`${request.method} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    sendError(response, 500, "Internal error");
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Express decodes the parts of a path and fails with a URIError. */
const isBadPath = (error: unknown) => error instanceof URIError;
