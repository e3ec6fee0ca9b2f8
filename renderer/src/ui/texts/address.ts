import type { Endpoint, ServiceView } from "../../../../contract/service.ts";
import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";

/** Port 0: the system picks one when the service starts, so there is no address to copy or to check yet. */
export const isPickedAtStart = (url: string): boolean => /:0(?=[/?]|$)/.test(url);

/** The whole URL; port 0 is any free port. */
export const urlText = (url: string): string => url.replace(/:0(?=[/?]|$)/, ":any free port");

/** The text of an address in three parts: up to the host, the port with its colon, the path. Those that it does not have are empty. */
export function addressParts(text: string): readonly [host: string, port: string, path: string] {
  const [, host = text, port = "", path = ""] = /^(.*?)(:(?:\d+|any free port))((?:[/?].*)?)$/.exec(text) ?? [];
  return [host, port, path];
}

/** Host, port and path without the scheme, as cards show it. */
export const addressOf = (url: string): string =>
  urlText(url)
    .replace(/^(?:[a-z][a-z0-9+.-]*:\/\/|(?:stun|turn)s?:)/i, "")
    .replace(/\/$/, "");

export const portText = (port: number): string => (port === 0 ? "any free port" : String(port));

/** Where a service listens, or would once started. */
export function endpointsOf(service: ServiceView | undefined): readonly Endpoint[] {
  if (!service) return [];
  return service.status.state === "running" ? service.status.endpoints : service.plannedEndpoints;
}

/** Scheme, host and port of its first endpoint; with port 0 until an address is known. */
export function originOf(service: ServiceView | undefined): string {
  const url = endpointsOf(service)[0]?.url;
  return url === undefined ? "http://127.0.0.1:0" : originOfUrl(url);
}

/** The service's current endpoint with the scheme of a recorded connection, or else the recorded address. */
export function originOfConnection(service: ServiceView | undefined, { tls, local }: HttpExchangeFacts["connection"]): string {
  const scheme = tls === undefined ? "http" : "https";
  const url = endpointsOf(service).find((endpoint) => endpoint.url.startsWith(`${scheme}://`))?.url;
  return url === undefined ? `${scheme}://${local}` : originOfUrl(url);
}

/**
 * The path and query of a request target in origin or absolute form (RFC 9112 §3.2), as clients put them behind an origin. Undefined for "*", for the host
 * and port of a CONNECT, and for what is cut or read as something else there.
 */
export function pathOfTarget(target: string): string | undefined {
  if (target.includes("#")) return undefined;
  const [server = ""] = /^https?:\/\/[^/?]*/i.exec(target) ?? [];
  const path = target.slice(server.length);
  if (path.startsWith("/")) return path;
  return server === "" ? undefined : `/${path}`;
}

const originOfUrl = (url: string): string => {
  const { protocol, host, pathname } = new URL(url);
  // RFC 7065: the address of a TURN server has no slashes.
  return host === "" ? `${protocol}${pathname}` : `${protocol}//${host}`;
};
