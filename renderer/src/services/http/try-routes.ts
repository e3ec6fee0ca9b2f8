/** The service's routes, grouped for the list of suggestions. */
import { methodOf, type TryRequest, takesBody } from "../try/try-request.ts";

export interface TryRoute {
  readonly method: string;
  readonly target: string;
  /** A sample body. */
  readonly body?: string;
}

const get = (...targets: readonly string[]): readonly TryRoute[] => targets.map((target) => ({ method: "GET", target }));
const sampleJson = '{\n  "hello": "world"\n}';

export const tryRoutes: readonly { readonly group: string; readonly routes: readonly TryRoute[] }[] = [
  {
    group: "Basics",
    routes: [
      ...get("/api/data", "/", "/api/status", "/health", "/api"),
      { method: "POST", target: "/api/echo", body: sampleJson },
      { method: "POST", target: "/anything", body: sampleJson },
      ...get("/headers", "/ip", "/user-agent"),
    ],
  },
  {
    group: "Status and time",
    routes: get("/api/status/201", "/api/status/301", "/api/status/404", "/api/status/503", "/api/delay/1", "/api/delay/0.25"),
  },
  { group: "Streams", routes: get("/api/stream?count=3&delay=200ms", "/stream/5", "/stream-bytes/1024", "/drip?duration=1&numbytes=5") },
  {
    group: "Redirects and cookies",
    routes: get(
      "/redirect/2",
      "/relative-redirect/1",
      "/absolute-redirect/1",
      "/redirect-to?url=/health",
      "/cookies",
      "/cookies/set?flavour=oat",
    ),
  },
  { group: "Authentication", routes: get("/basic-auth/user/secret", "/digest-auth/auth/user/secret", "/bearer") },
  {
    group: "Encodings and caching",
    routes: get("/gzip", "/deflate", "/brotli", "/etag/abc", "/cache", "/cache/60", "/range/256", "/response-headers?x-colour=blue"),
  },
  {
    group: "Data",
    routes: get("/json", "/xml", "/html", "/encoding/utf8", "/uuid", "/bytes/64", "/image/png", "/image/jpeg", "/image/webp", "/image/svg"),
  },
];

/** Suggested while the history is short. */
export const suggestedTargets: readonly string[] = [
  "/api/echo",
  "/api/status/503",
  "/api/delay/1",
  "/api/stream?count=3&delay=200ms",
  "/gzip",
  "/image/png",
];

export const routeOf = (target: string): TryRoute | undefined =>
  tryRoutes.flatMap(({ routes }) => routes).find((route) => route.target === target);

/** The request for a suggested route: its header fields stay, and a JSON body, but no content that the route does not take. */
export function withRoute(request: TryRequest, route: TryRoute): TryRequest {
  const method = methodOf(route.method);
  const type = request.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const isOther = type !== undefined && !/[/+]json/i.test(type);
  const known = isOther ? "" : request.body;
  const kept = isOther || !takesBody(method) ? request.headers.filter(([name]) => !/^content-/i.test(name)) : request.headers;
  const isTyped = kept.some(([name]) => name.toLowerCase() === "content-type");
  return {
    method,
    target: route.target,
    body: route.body !== undefined && known === "" ? route.body : known,
    headers: route.body !== undefined && !isTyped ? [["Content-Type", "application/json"], ...kept] : kept,
  };
}
