import type { HttpRoute } from "../../core/http/http-route.ts";

/** One line of the route table: what is answered, the 405 answers and the list at /api are made from it. */
export interface Route extends HttpRoute {
  readonly group: string;
  readonly summary: string;
  /** Query fields and what they do. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Routes of one group, without saying it in each. */
export const routeGroup = (group: string, routes: readonly Omit<Route, "group">[]): readonly Route[] =>
  routes.map((route) => ({ ...route, group }));
