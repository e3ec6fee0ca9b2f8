import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from "express";
import { ClientLeft } from "../../core/http/client-left.ts";
import { createClientNames } from "../../core/http/client-name.ts";
import type { RecordedResponse } from "../../core/http/recorded-messages.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import type { Authenticator } from "../access/authenticator.ts";
import { TooBusy } from "../access/passwords.ts";
import type { ApiMethod, ApiRoute, Call } from "./api-route.ts";
import { Refusal } from "./refusal.ts";
import { readFields } from "./request-fields.ts";

export interface AccountAppOptions {
  readonly routes: readonly ApiRoute[];
  readonly authenticator: Authenticator;
  readonly clientAddress: (remote: string | undefined, forwardedFor: string | undefined) => string;
  readonly bodyBytes: number;
  /** Says what a fault means; a ServiceError is one of the store's. */
  readonly faultOf: (error: unknown) => unknown;
  readonly onFault: (error: unknown) => void;
}

/** Clients begin their paths at either. */
const bases = ["/", "/api"];

export function createAccountApp(options: AccountAppOptions): express.Express {
  const softwareOf = createClientNames();
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", false);
  app.use(tidyPath);
  const router = Router();
  for (const route of options.routes) router.all(route.path, (request, response) => dispatch(route, request, response));
  for (const base of bases) app.use(base, router);
  app.use((request, response) => {
    // A page that asks for what is not there shall read that: its browser asks before it asks. "*" is the service as a whole.
    if (isPreflight(request) || (request.method === "OPTIONS" && request.url === "*")) return answerOptions(response, everyMethod);
    throw new Refusal(404, "notfound");
  });
  app.use(answerError(options));
  return app;

  async function dispatch(route: ApiRoute, request: Request, response: Response): Promise<void> {
    // RFC 9110 §9.3.2: HEAD is GET without the content.
    const method = (request.method === "HEAD" ? "GET" : request.method) as ApiMethod;
    const handle = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
    if (!handle) {
      const allow = [...Object.keys(route.methods).flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name])), "OPTIONS"].join(", ");
      if (request.method === "OPTIONS") return answerOptions(response, allow);
      throw new Refusal(405, "methodnotallowed", { headers: { Allow: allow } });
    }
    sendJson(response, 200, await handle(callOf(request, response)));
  }

  function callOf(request: Request, response: Response): Call {
    const { headers, socket } = request;
    const client = {
      address: options.clientAddress(socket.remoteAddress, headers["x-forwarded-for"] as string | undefined),
      software: softwareOf(headers["user-agent"]),
    };
    const attributeTo = (email: string): void => {
      const { entry } = response as unknown as RecordedResponse;
      if (entry) entry.user = email;
    };
    return {
      request,
      response,
      client,
      attributeTo,
      authorization: () => headers.authorization,
      number(name) {
        const text = request.params[name];
        return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
      },
      fields: () => readFields(request, response, options.bodyBytes),
      async caller() {
        const caller = await options.authenticator.authenticate(headers.authorization, client.address);
        attributeTo(caller.user.email);
        return caller;
      },
    };
  }
}

function sendJson(response: Response, status: number, value: unknown): void {
  // A client may have left while its answer was made.
  if (response.destroyed) return;
  const body = JSON.stringify(value);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

/** RFC 6749 §5.1: tokens are not to be cached. Any origin may read, without credentials of the browser's own (Fetch standard). */
export const everyAnswer = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After",
};

const everyMethod = "GET, HEAD, POST, PUT, DELETE, OPTIONS";

const isPreflight = ({ method, headers }: Request) => method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

function answerOptions(response: Response, allow: string): void {
  response.writeHead(204, {
    Allow: allow,
    // Also what the path does not take: a page shall read the 405 that says so.
    "Access-Control-Allow-Methods": everyMethod,
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
  });
  response.end();
}

/** RFC 3986 §6.2.2.2: "%64" is "d"; and clients put a slash between a base that ends with one and a path that begins with one. */
const tidyPath: RequestHandler = (request, _response, next) => {
  const [, path = "", query = ""] = /^([^?]*)(.*)$/s.exec(request.url) ?? [];
  if (!path.includes("%") && !path.includes("//")) {
    next();
    return;
  }
  decodeURIComponent(path);
  const plain = path.replace(/%([2-7][\da-f])/gi, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : escaped;
  });
  request.url = `${plain.startsWith("/") ? plain.replace(/\/{2,}/g, "/") : plain}${query}`;
  next();
};

function answerError({ faultOf, onFault }: AccountAppOptions): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    if (thrown instanceof ClientLeft) {
      // A response that was never begun would stay open with its connection.
      response.destroy();
      return;
    }
    if (response.destroyed) return;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const refusal = thrown instanceof Refusal ? thrown : refusalOf(faultOf(thrown), onFault);
    const { entry } = response as unknown as RecordedResponse;
    if (entry) {
      entry.user ??= refusal.user;
      entry.reason = refusal.errors.join(", ");
    }
    for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
    sendJson(response, refusal.status, { error: refusal.errors });
  };
}

function refusalOf(error: unknown, onFault: (error: unknown) => void): Refusal {
  if (error instanceof TooBusy) return new Refusal(503, "busy", { headers: { "Retry-After": "1" } });
  // Express itself refuses a path that cannot be decoded.
  if (error instanceof URIError || (error as { status?: unknown })?.status === 400) return new Refusal(400, "invalidpath");
  onFault(error);
  return error instanceof ServiceError ? new Refusal(503, "storage", { headers: { "Retry-After": "1" } }) : new Refusal(500, "internal");
}
