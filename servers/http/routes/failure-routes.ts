import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { seededRandom } from "../../core/traffic/seeded-random.ts";
import { decimalOf, integerQuery, queryOf } from "./query.ts";
import { sendError, sendJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const failureRoutes = (): readonly Route[] =>
  routeGroup("Failures", [
    {
      path: "/unstable",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
      summary: "Fails now and then; with a seed the answer depends on the query alone",
      query: {
        seed: "any text",
        attempt: "which draw of that seed, 0 without",
        rate: "share of failures, 0.5 without",
        status: "of a failure, 500 without",
      },
      handle: answerUnstably,
    },
  ]);

function answerUnstably(request: HttpRequest, response: HttpResponse): void {
  const query = queryOf(request);
  const rate = rateOf(query.get("rate") ?? query.get("failure_rate"));
  const status = integerQuery(query, "status", { fallback: 500, minimum: 400, maximum: 599 });
  const attempt = integerQuery(query, "attempt", { fallback: 0 });
  const seed = query.get("seed");
  const drawn = seed === null ? Math.random() : seededRandom(`${seed}\n${attempt}`)();
  if (drawn < rate) sendError(response, status, "This attempt was chosen to fail");
  else sendJson(response, 200, { status: "success" });
}

function rateOf(text: string | null): number {
  if (text === null || text === "") return 0.5;
  const rate = decimalOf(text);
  if (rate === undefined || rate > 1) throw new HttpRefusal(400, "Invalid rate: 0 to 1");
  return rate;
}
