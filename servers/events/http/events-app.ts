import { createHash } from "node:crypto";
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from "express";
import { ClientLeft } from "../../core/http/client-left.ts";
import { BodyTooLarge, readBody } from "../../core/http/request-body.ts";
import type { RateLimiter } from "../../core/limits/rate-limit.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { rateLimitHeaderNames, rateLimitHeaders } from "../../core/limits/rate-limit-headers.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { eventTime, newEvent } from "../completion-event.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { EventStore } from "../store/event-store.ts";
import { publicStoreError } from "../store/store-error.ts";
import { parseEvent } from "./event-body.ts";
import { nextPageLink, parseEventsQuery } from "./events-query.ts";
import { errorBody, Refusal } from "./refusal.ts";

export interface EventsAppOptions {
  readonly store: EventStore;
  /** Opens and migrates the store; quick once that is done. */
  readonly ready: () => Promise<void> | undefined;
  readonly commits: GroupCommit;
  /** Absent: no limits. */
  readonly limiters: EventsLimiters | undefined;
  readonly clientAddress: (remote: string | undefined, forwardedFor: string | undefined) => string;
  readonly bodyBytes: number;
  /** An answer could not be given; `ServiceError`s are faults of the store. */
  readonly onFault: (error: unknown) => void;
}

export interface EventsLimiters {
  readonly post: RateLimiter;
  readonly read: RateLimiter;
  readonly stats: RateLimiter;
}

const accepted = '{"ok":true}';
const rateLimited = errorBody(429, "Rate limit exceeded");

/** CORS, migration, rate limit, size, validation: in this order, for every request. */
export function createEventsApp(options: EventsAppOptions): express.Express {
  const { store, ready, commits, limiters, clientAddress, bodyBytes } = options;
  const hashOf = createAddressHash();
  const now = createClock();

  const addressOf = (request: Request) =>
    clientAddress(request.socket.remoteAddress, request.headers["x-forwarded-for"] as string | undefined);

  function guarded(
    limiter: RateLimiter | undefined,
    answer: (request: Request, response: Response, address: string) => Promise<void>,
  ): RequestHandler {
    const tell = limiter && rateLimitHeaders(limiter.limit);
    return async (request, response) => {
      const opening = ready();
      if (opening) await opening;
      const address = addressOf(request);
      if (limiter && tell) {
        const taken = limiter.take(rateLimitKey(address));
        const decision = taken instanceof Promise ? await taken : taken;
        tell(response, decision);
        if (!decision.allowed) {
          // Not thrown: what is refused in floods must cost little.
          sendJson(response, 429, rateLimited);
          return;
        }
      }
      await answer(request, response, address);
    };
  }

  async function postEvent(request: Request, response: Response, address: string): Promise<void> {
    const event = newEvent(parseEvent(await readBody(request, response, bodyBytes)), {
      created_at: now(),
      ip_hash: hashOf(address),
      plugin_version: pluginVersion(request.headers["x-plugin-version"] as string | undefined),
    });
    await new Promise<void>((resolve, reject) => {
      commits.add(event, (error) => {
        if (error === undefined) {
          sendJson(response, 201, accepted);
          resolve();
        } else reject(error);
      });
    });
  }

  async function getEvents(request: Request, response: Response): Promise<void> {
    const query = parseEventsQuery(request.url);
    const { limit, offset, after } = query;
    const [data, total] = await Promise.all([store.page(query.filter, { limit, offset, after }), store.count(query.filter)]);
    const last = data.at(-1);
    if (last && data.length === limit) response.setHeader("Link", nextPageLink(query, last.id));
    sendJson(response, 200, JSON.stringify({ data, total, limit, offset }));
  }

  async function getStats(_request: Request, response: Response): Promise<void> {
    sendJson(response, 200, JSON.stringify(await store.stats()));
  }

  const app = express();
  app.disable("x-powered-by");
  app.set("etag", false);
  app.use(cors);
  app.post("/events", guarded(limiters?.post, postEvent));
  app.get("/events", guarded(limiters?.read, getEvents));
  app.get("/stats", guarded(limiters?.stats, getStats));
  app.all("/events", notAllowed("GET, HEAD, POST, OPTIONS"));
  app.all("/stats", notAllowed("GET, HEAD, OPTIONS"));
  app.use(() => {
    throw new Refusal(404, "Not found");
  });
  app.use(answerError(options));
  return app;
}

function notAllowed(allow: string): RequestHandler {
  return () => {
    throw new Refusal(405, "Method not allowed", { headers: { Allow: allow } });
  };
}

function sendJson(response: Response, status: number, body: string | Buffer): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

/** Fetch standard, "CORS protocol": any origin may read every answer, without credentials. */
export const everyAnswer = { "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*" };

const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

const cors: RequestHandler = (request, response, next) => {
  if (request.method !== "OPTIONS") {
    response.setHeader("Access-Control-Expose-Headers", `Link, ${rateLimitHeaderNames}`);
    next();
    return;
  }
  const asked = request.headers["access-control-request-headers"];
  response.setHeader("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
  response.setHeader(
    "Access-Control-Allow-Headers",
    asked !== undefined && headerNames.test(asked) ? asked : "Content-Type, X-Plugin-Version",
  );
  response.setHeader("Access-Control-Max-Age", "600");
  response.writeHead(204);
  response.end();
};

function answerError({ store, onFault }: EventsAppOptions): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    if (error instanceof ClientLeft || response.destroyed) return;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error instanceof BodyTooLarge) {
      sendJson(response, 413, errorBody(413, "Request body too large"));
      return;
    }
    if (error instanceof Refusal) {
      for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
      sendJson(response, error.status, JSON.stringify({ error: error.message, ...(error.issues && { issues: error.issues }) }));
      return;
    }
    const status = (error as { status?: unknown }).status;
    // Express itself refuses a path that cannot be decoded.
    if (status === 400) {
      sendJson(response, 400, errorBody(400, "Malformed request path"));
      return;
    }
    onFault(error);
    const told = error instanceof ServiceError ? publicStoreError(error, store.place) : undefined;
    if (told !== undefined) response.setHeader("Retry-After", "1");
    sendJson(response, told === undefined ? 500 : 503, errorBody(500, told ?? "Internal server error"));
  };
}

const versionCharacters = 100;

/** Node reads fields as Latin-1; clients write UTF-8, if anything beyond ASCII. */
function pluginVersion(field: string | undefined): string {
  if (!field) return "unknown";
  const text = /^[\0-\x7f]*$/.test(field) ? field : Buffer.from(field, "latin1").toString("utf8");
  return text.length <= versionCharacters ? text : [...text].slice(0, versionCharacters).join("");
}

const rememberedAddresses = 1_000;

/** SHA-256 of an address in hex; the latest addresses are remembered, since one sends many events. */
function createAddressHash(): (address: string) => string {
  const known = new Map<string, string>();
  return (address) => {
    let hash = known.get(address);
    if (hash === undefined) {
      hash = createHash("sha256").update(address).digest("hex");
      if (known.size >= rememberedAddresses) known.clear();
      known.set(address, hash);
    }
    return hash;
  };
}

/** The time of now as events have it, made once a second. */
function createClock(): () => string {
  let second = 0;
  let text = "";
  return () => {
    const current = Math.floor(Date.now() / 1_000);
    if (current !== second) {
      second = current;
      text = eventTime(current * 1_000);
    }
    return text;
  };
}
