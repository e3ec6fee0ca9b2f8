import type { Request, Response } from "express";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "TRACE" | "HEAD";

/** One line of the route table: the application, the 405 answers and the list at /api are made from it. */
export interface Route {
  /** As Express writes paths. */
  readonly path: string;
  /** GET answers HEAD too; OPTIONS is answered everywhere. */
  readonly methods: readonly HttpMethod[] | "any";
  readonly group: string;
  readonly summary: string;
  /** Query fields and what they do. */
  readonly query?: Readonly<Record<string, string>>;
  readonly handle: (request: Request, response: Response) => void | Promise<void>;
}

/** Routes of one group, without saying it in each. */
export const routeGroup = (group: string, routes: readonly Omit<Route, "group">[]): readonly Route[] =>
  routes.map((route) => ({ ...route, group }));

const anyMethod = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";

/** What the Allow field says (RFC 9110 §10.2.1). */
export function allowedMethods(route: Route): string {
  if (route.methods === "any") return anyMethod;
  return [...new Set(route.methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))), "OPTIONS"].join(", ");
}

export function takesMethod(route: Route, method: string): boolean {
  if (route.methods === "any") return method !== "OPTIONS";
  return route.methods.includes(method as HttpMethod) || (method === "HEAD" && route.methods.includes("GET"));
}
