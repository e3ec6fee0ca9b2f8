import { z } from "zod";
import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { notForTry } from "../../inspectors/kind-commands.ts";
import { createHandover } from "../../pages/service/handover.ts";
import { type TryRequest, tryOfExchange, tryRequestSchema, withoutCredentials } from "../try/try-request.ts";
import { exampleText } from "./example-events.ts";

export const tryKinds = ["post", "read", "stats"] as const;
export type TryKind = (typeof tryKinds)[number];

type Tries = Readonly<Record<TryKind, TryRequest>>;

export const tryTitles: Readonly<Record<TryKind, string>> = { post: "POST /events", read: "GET /events", stats: "GET /stats" };

export const triesSchema: z.ZodType<Tries> = z.object({ post: tryRequestSchema, read: tryRequestSchema, stats: tryRequestSchema });

export const triesWithoutCredentials = (tries: Tries): Tries => ({
  post: withoutCredentials(tries.post),
  read: withoutCredentials(tries.read),
  stats: withoutCredentials(tries.stats),
});

export const firstTries: Tries = {
  post: {
    method: "POST",
    target: "/events",
    headers: [
      ["Content-Type", "application/json"],
      ["X-Plugin-Version", "0.5.0"],
    ],
    body: exampleText("accepted"),
  },
  read: { method: "GET", target: "/events?limit=10&outcome=accepted", headers: [], body: "" },
  stats: { method: "GET", target: "/stats", headers: [], body: "" },
};

/** Recorded requests that were opened in Try. */
export const recordedTries = createHandover<{ readonly kind: TryKind; readonly request: TryRequest }>();

/** The kind of request in the form. Throws for any other request. */
export function kindOfExchange(exchange: HttpExchangeFacts): { readonly kind: TryKind; readonly request: TryRequest } {
  const request = tryOfExchange(exchange);
  const kind = tryKinds.find((one) => tryTitles[one] === `${request.method} ${request.target.split("?", 1)[0]}`);
  if (!kind) throw notForTry("Try has POST /events, GET /events and GET /stats only.");
  return { kind, request };
}
