import type { HttpRoute } from "../../core/http/http-route.ts";

/** One route: the dispatcher, the 405 answers and the list at /api use it. */
export interface Route extends HttpRoute {
  readonly group: string;
  readonly summary: string;
  /** Query fields and what they do. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Sets the group of several routes. */
export const routeGroup = (group: string, routes: readonly Omit<Route, "group">[]): readonly Route[] =>
  routes.map((route) => ({ ...route, group }));
