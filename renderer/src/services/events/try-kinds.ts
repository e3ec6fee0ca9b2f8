import type { TryRequest } from "../try/try-request.ts";
import { exampleText } from "./example-events.ts";

export const tryKinds = ["post", "read", "stats"] as const;
export type TryKind = (typeof tryKinds)[number];

export const tryTitles: Readonly<Record<TryKind, string>> = { post: "POST /events", read: "GET /events", stats: "GET /stats" };

export const firstTries: Readonly<Record<TryKind, TryRequest>> = {
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
