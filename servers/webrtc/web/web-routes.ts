import type { Socket } from "node:net";
import type { HttpRequest, HttpRoute } from "../../core/http/http-route.ts";

/** A path on which clients open a WebSocket, or something else that HTTP is upgraded to. */
export interface UpgradeRoute {
  /** "/ws"; with a "/" at its end also all paths below. */
  readonly path: string;
  /** The handshake is valid and the page's origin may connect. It has to be answered, and everything after it. */
  handle(request: HttpRequest, socket: Socket, head: Buffer): void;
}

/** What one part of the service has on the port: a dialect of signalling, WHEP and WHIP, the test page. */
export interface WebRoutes {
  readonly http?: readonly HttpRoute[];
  readonly upgrades?: readonly UpgradeRoute[];
  /** What the answer to a preflight for this path has beside the fields of CORS. */
  preflightFields?(path: string): Readonly<Record<string, string>> | undefined;
}

/** The first one that has the path; an exact path wins. */
export function createUpgradeTable(upgrades: readonly UpgradeRoute[]): (path: string) => UpgradeRoute | undefined {
  const exact = new Map(upgrades.map((route) => [route.path, route]));
  const prefixes = upgrades.filter(({ path }) => path.length > 1 && path.endsWith("/"));
  return (path) => exact.get(path) ?? exact.get(path.replace(/\/$/, "")) ?? prefixes.find((route) => path.startsWith(route.path));
}
