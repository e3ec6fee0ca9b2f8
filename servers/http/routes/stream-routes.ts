import { hasTurnToAnswer } from "../../core/http/connections/client-wait.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { sendEmpty } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import type { HttpConfig } from "../http-config.ts";
import type { SseHub, SsePlan } from "../sse/sse-hub.ts";
import { durationQuery, integerQuery, queryOf } from "./query.ts";
import { type Route, routeGroup } from "./route.ts";

export const streamRoutes = (config: HttpConfig, hub: SseHub): readonly Route[] =>
  routeGroup("Reference", [
    {
      path: "/api/stream",
      methods: ["GET"],
      summary: "Server-sent events; a reconnect with Last-Event-ID goes on from there",
      query: {
        count: "how many, 10 without; 0 streams until the client leaves",
        duration: "for all of them, 5s without; with count=0 from one to the next, 1s without",
        delay: `before the first, at most ${config.delaySeconds} s`,
        lastEventId: "like the Last-Event-ID field",
      },
      handle: (request, response) => stream(request, response, config, hub),
    },
  ]);

const mostEvents = 100_000;
const longestMs = 3_600_000;
const shortestIntervalMs = 10;

async function stream(request: HttpRequest, response: HttpResponse, config: HttpConfig, hub: SseHub): Promise<void> {
  const plan = planOf(request, config);
  // It begins to stream when it can: its events would wait, each with the memory of a write.
  await hasTurnToAnswer(response);
  // WHATWG HTML §9.2.3: 204 makes a client that has received everything stop reconnecting.
  if (plan.firstId >= plan.endId) {
    sendEmpty(response, 204);
    return;
  }
  if (hub.open >= config.sseSubscribers) throw new HttpRefusal(503, "Too many subscribers", { headers: { "Retry-After": "5" } });
  response.setHeader("Content-Type", "text/event-stream");
  response.setHeader("Cache-Control", "no-cache, no-transform");
  response.setHeader("X-Accel-Buffering", "no");
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  hub.subscribe(response, plan);
}

function planOf(request: HttpRequest, { delaySeconds }: HttpConfig): SsePlan {
  const query = queryOf(request);
  const count = integerQuery(query, "count", { fallback: 10, maximum: mostEvents });
  const durationMs = durationQuery(query, "duration", { fallbackMs: count === 0 ? 1_000 : 5_000, maximumMs: longestMs });
  const delayMs = durationQuery(query, "delay", { fallbackMs: 0, maximumMs: delaySeconds * 1_000 });
  const field = request.headers["last-event-id"];
  const resumedFrom = typeof field === "string" && field !== "" ? field : (query.get("lastEventId") ?? undefined);
  // The id of an event that was sent from the page is no position in this stream.
  const firstId = resumedFrom !== undefined && /^\d{1,15}$/.test(resumedFrom) ? Number(resumedFrom) + 1 : 0;
  if (count === 0)
    return {
      firstId,
      endId: Number.POSITIVE_INFINITY,
      intervalMs: Math.max(shortestIntervalMs, Math.round(durationMs)),
      delayMs,
      resumedFrom,
    };
  return { firstId, endId: count, intervalMs: count === 1 ? 0 : durationMs / (count - 1), delayMs, resumedFrom };
}
