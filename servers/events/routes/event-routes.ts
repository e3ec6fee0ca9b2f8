import { createHash } from "node:crypto";
import { hasTurnToAnswer } from "../../core/http/connections/client-wait.ts";
import { holdForClient, runOnceForClient, sendTexts } from "../../core/http/connections/client-work.ts";
import type { HttpErrors } from "../../core/http/http-dispatch.ts";
import type { HttpHandler, HttpRequest, HttpResponse, HttpRoute } from "../../core/http/http-route.ts";
import type { CorsOptions } from "../../core/http/messages/cors.ts";
import { jsonType, send } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { isCoded, readBody } from "../../core/http/messages/request-body.ts";
import { BoundedCache } from "../../core/limits/bounded-cache.ts";
import { type RateDecision, type RateLimiter, rateLimitHeaderNames, rateLimitHeaders } from "../../core/limits/rate-limit.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { eventTime, newEvent } from "../completion-event.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { EventStore } from "../store/event-store.ts";
import { publicStoreError } from "../store/store-error.ts";
import { nextPageLink, parseEvent, parseEventsQuery, refusal } from "./event-requests.ts";
import { eventsJson } from "./events-json.ts";

export interface EventRoutesOptions {
  readonly store: EventStore;
  /** Opens and migrates the store; quick once that is done. */
  readonly ready: () => Promise<void> | undefined;
  readonly commits: GroupCommit;
  /** Absent: no limits. */
  readonly limiters: EventsLimiters | undefined;
  readonly clientAddress: (remote: string | undefined, forwardedFor: string | undefined) => string;
  readonly bodyBytes: number;
}

export interface EventsLimiters {
  readonly post: RateLimiter;
  readonly read: RateLimiter;
  readonly stats: RateLimiter;
}

/** Memory of an event beside its text, which counts when it is made. */
const rowBytes = 1 << 10;

const accepted = '{"ok":true}';
const errorBody = (_status: number, message: string): string => JSON.stringify({ error: message });
const rateLimitReason = "Rate limit exceeded";
const rateLimited = errorBody(429, rateLimitReason);

type AnswerFrom = (request: HttpRequest, response: HttpResponse, address: string) => void | Promise<void>;

/** Migration, rate limit, size, validation: in this order, for every request. */
export function eventRoutes(options: EventRoutesOptions): readonly HttpRoute[] {
  const { store, ready, commits, limiters, clientAddress, bodyBytes } = options;
  const hashOf = createAddressHash();
  const now = createClock();

  function guarded(limiter: RateLimiter | undefined, answer: AnswerFrom): HttpHandler {
    const setHeaders = limiter && rateLimitHeaders(limiter.limit);

    function limited(request: HttpRequest, response: HttpResponse): void | Promise<void> {
      const address = clientAddress(request.socket.remoteAddress, request.headers["x-forwarded-for"] as string | undefined);
      if (!limiter || !setHeaders) return answer(request, response, address);
      const decide = (decision: RateDecision): void | Promise<void> => {
        setHeaders(response, decision);
        if (decision.allowed) return answer(request, response, address);
        // Not thrown: refusals in a flood must be cheap.
        if (response.entry) response.entry.reason = rateLimitReason;
        send(response, 429, jsonType, rateLimited);
      };
      const taken = limiter.take(rateLimitKey(address));
      return taken instanceof Promise ? taken.then(decide) : decide(taken);
    }

    return (request, response) => {
      const opening = ready();
      return opening ? opening.then(() => limited(request, response)) : limited(request, response);
    };
  }

  async function postEvent(request: HttpRequest, response: HttpResponse, address: string): Promise<void> {
    const body = await readBody(request, response, bodyBytes);
    if (isCoded(request))
      throw refusal(415, "Content-Encoding is not supported: send the JSON as it is", { "Accept-Encoding": "identity" });
    const event = newEvent(parseEvent(body), {
      created_at: now(),
      ip_hash: hashOf(address),
      plugin_version: pluginVersion(request.headers["x-plugin-version"] as string | undefined),
    });
    await new Promise<void>((resolve, reject) => {
      commits.add(event, (error) => {
        if (error !== undefined) {
          reject(error);
          return;
        }
        send(response, 201, jsonType, accepted);
        resolve();
      });
    });
  }

  async function getEvents(request: HttpRequest, response: HttpResponse): Promise<void> {
    const query = parseEventsQuery(request.url ?? "");
    const { limit, offset, after } = query;
    await hasTurnToAnswer(response);
    const turn = () => runOnceForClient(request, () => {});
    const [data, total] = await Promise.all([store.page(query.filter, { limit, offset, after }, turn), store.count(query.filter)]);
    holdForClient(request, data.length * rowBytes);
    const last = data.at(-1);
    const more: Readonly<Record<string, string>> = last && data.length === limit ? { Link: nextPageLink(query, last.id) } : {};
    await sendTexts(request, response, jsonType, eventsJson({ data, total, limit, offset }), more);
  }

  async function getStats(_request: HttpRequest, response: HttpResponse): Promise<void> {
    send(response, 200, jsonType, JSON.stringify(await store.stats()));
  }

  return [
    { path: "/events", methods: ["GET"], handle: guarded(limiters?.read, getEvents) },
    { path: "/events", methods: ["POST"], handle: guarded(limiters?.post, postEvent) },
    { path: "/stats", methods: ["GET"], handle: guarded(limiters?.stats, getStats) },
  ];
}

/** Fetch standard, "CORS protocol": any origin may read every answer, without credentials. */
export const eventsCors: CorsOptions = {
  origins: ["*"],
  exposed: `Link, ${rateLimitHeaderNames}`,
  methods: "GET, HEAD, POST, OPTIONS",
  usualRequestHeaders: "Content-Type, X-Plugin-Version",
  isPreflight: ({ method }) => method === "OPTIONS",
};

/** `onFault`: an answer could not be given; `ServiceError`s are faults of the store. */
export const eventsErrors = (store: EventStore, bodyBytes: number, onFault: (error: unknown) => void): HttpErrors => ({
  body: errorBody,
  notFound: () => refusal(404, "Not found"),
  notAllowed: (_method, allow) => refusal(405, "Method not allowed", { Allow: allow }),
  badPath: () => refusal(400, "Malformed request path"),
  tooLarge: () =>
    new HttpRefusal(413, "Request body too large", {
      reason: `The body is larger than ${bodyBytes} bytes (Largest body, EVENTS_BODY_BYTES)`,
    }),
  refusalOf(error) {
    onFault(error);
    const shown = error instanceof ServiceError ? publicStoreError(error, store.place) : undefined;
    return shown === undefined ? refusal(500, "Internal server error") : refusal(503, shown, { "Retry-After": "1" });
  },
});

const versionCharacters = 100;

/** Node reads fields as Latin-1; clients write UTF-8, if anything beyond ASCII. */
function pluginVersion(field: string | undefined): string {
  if (!field) return "unknown";
  const text = /^[\0-\x7f]*$/.test(field) ? field : Buffer.from(field, "latin1").toString("utf8");
  return text.length <= versionCharacters ? text : [...text].slice(0, versionCharacters).join("");
}

/** SHA-256 of an address in hex; the latest addresses are remembered, since one sends many events. */
function createAddressHash(): (address: string) => string {
  const hashes = new BoundedCache<string, string>(1_000);
  const hashOf = (address: string) => createHash("sha256").update(address).digest("hex");
  return (address) => hashes.get(address, hashOf);
}

/** The current time in the events' format, formatted once a second. */
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
