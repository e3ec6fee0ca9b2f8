import { type MatchFunction, match } from "path-to-regexp";
import type { WorkConnection } from "../turns/work-connection.ts";
import type { RecordedRequest, RecordedResponse } from "./record/recorded-messages.ts";

export interface HttpRequest extends RecordedRequest {
  /** The named parameters of the route's path, decoded; a wildcard's value is the list of its segments. */
  params: PathParams;
  /** Of its connection: in these turns it is worked on. */
  readonly work: WorkConnection;
  /** The same for an answer that goes on by itself, as time passes: it comes behind what clients ask for. */
  readonly pacedWork: WorkConnection;
}
export interface HttpResponse extends RecordedResponse {
  readonly req: HttpRequest;
  /**
   * Writes content that is framed as a chunk already (RFC 9112 §7.1), for half of what `write` costs; as content where the answer has no chunks, or others
   * of its connection come before it.
   */
  writeChunk(chunk: Buffer, content: Buffer): boolean;
}

export type PathParams = Readonly<Partial<Record<string, string | readonly string[]>>>;
export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "TRACE" | "HEAD" | "OPTIONS";
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void | Promise<void>;

/** Several routes may share a path, each with its own methods. */
export interface HttpRoute {
  /** As path-to-regexp reads it: "/invoice/:id", "/anything{/*rest}". */
  readonly path: string;
  /** GET answers HEAD too; OPTIONS is answered by the server where no route has it. */
  readonly methods: readonly HttpMethod[] | "any";
  readonly handle: HttpHandler;
}

export interface FoundRoute {
  readonly handlerOf: (method: string) => HttpHandler | undefined;
  /** What the Allow field says (RFC 9110 §10.2.1). */
  readonly allow: string;
  readonly params: PathParams;
}

export interface RouteTable {
  /** Throws a URIError for a named part that cannot be decoded. */
  find(path: string): FoundRoute | undefined;
}

const anyMethod = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";

export function allowedMethods(methods: HttpRoute["methods"]): string {
  if (methods === "any") return anyMethod;
  return [...new Set([...methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])), "OPTIONS"])].join(", ");
}

/** Paths without parameters are looked up in a map; the others are tried in order. A trailing slash is ignored. */
export function createRouteTable(routes: readonly HttpRoute[], { caseSensitive }: { readonly caseSensitive: boolean }): RouteTable {
  const fixed = new Map<string, FoundRoute>();
  const patterns: { readonly matches: MatchFunction<Record<string, string | string[]>>; readonly found: FoundRoute }[] = [];
  const keyOf = (path: string) => (caseSensitive ? path : path.toLowerCase());
  for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
    const found = foundOf(group);
    if (/[:*{]/.test(path)) patterns.push({ matches: match(path, { sensitive: caseSensitive }), found });
    else fixed.set(keyOf(path), found);
  }
  return {
    find(path) {
      const key = keyOf(path);
      const known = fixed.get(key) ?? (key.length > 1 && key.endsWith("/") ? fixed.get(key.slice(0, -1)) : undefined);
      if (known) return known;
      for (const { matches, found } of patterns) {
        const matched = matches(path);
        if (matched) return { ...found, params: matched.params };
      }
      return undefined;
    },
  };
}

function foundOf(group: readonly HttpRoute[]): FoundRoute {
  const any = group.find(({ methods }) => methods === "any");
  if (any) return { handlerOf: (method) => (method === "OPTIONS" ? undefined : any.handle), allow: anyMethod, params: {} };
  const handlers = new Map<string, HttpHandler>();
  const methods = group.flatMap((route) => route.methods as readonly HttpMethod[]);
  for (const route of group) for (const method of route.methods as readonly HttpMethod[]) handlers.set(method, route.handle);
  // RFC 9110 §9.3.2: HEAD is GET without the content.
  const get = handlers.get("GET");
  if (get && !handlers.has("HEAD")) handlers.set("HEAD", get);
  return { handlerOf: (method) => handlers.get(method), allow: allowedMethods(methods), params: {} };
}

/** RFC 9110 §4.2.1: a URI of http without a host is invalid, and who gets one has to refuse it. */
export const hasEmptyHost = (target: string): boolean => /^https?:\/\/(?:[^/?#@]*@)?(?:[/?#:]|$)/i.test(target);

/** The undecoded path of a request target. RFC 9112 §3.2.2: a target may be in absolute form. */
export function pathOf(target: string): string {
  const start = target.startsWith("/") ? 0 : (/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(target)?.[0].length ?? 0);
  const query = target.indexOf("?", start);
  const fragment = target.indexOf("#", start);
  const end = Math.min(query === -1 ? target.length : query, fragment === -1 ? target.length : fragment);
  return target.slice(start, end) || "/";
}
