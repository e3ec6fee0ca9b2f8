import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import os from "node:os";
import { field } from "../config/common-fields.ts";
import { normalizedOrigin, originList } from "../config/origin-list.ts";

/** Pages of this computer, on any port. */
const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The setting that `createOriginCheck` takes; `what` is what the page would use: "the WebSocket ports". */
export const allowedOriginsField = (env: string, what: string) =>
  field(originList.default([]), {
    title: "Allowed origins",
    help: `Web pages that may use ${what}, beside pages of this computer: https://app.example.com, with commas between several; * allows any page. Programs send no origin and are always allowed.`,
    env,
    group: "Listening",
  });

/**
 * Browsers let every page open a WebSocket to any address and leave the decision to the server (RFC 6455 §10.2). Whether a request
 * with this Origin header is allowed: always without one, for pages of this computer, and for the pages of the list.
 */
export function createOriginCheck(allowed: readonly string[]): (origin: string | undefined) => boolean {
  if (allowed.includes("*")) return () => true;
  const listed = new Set(allowed.map((text) => normalizedOrigin(text) ?? text));
  return (origin) => {
    if (origin === undefined) return true;
    const normalized = normalizedOrigin(origin);
    // "null" is a sandboxed page or a file: it may come from anywhere.
    if (normalized === undefined) return listed.has(origin);
    const { protocol, hostname } = new URL(normalized);
    const isLoopback = (protocol === "http:" || protocol === "https:") && loopbackHosts.has(hostname);
    return isLoopback || listed.has(normalized);
  };
}

/** Top-level names that no public name server answers for: RFC 6761 §6, RFC 6762 §3, RFC 8375, and ICANN's reservation of internal. */
const privateSuffix = /\.(?:localhost|local|internal|home\.arpa|lan|test)$/;

/**
 * Whether a Host header has an address, a name of one label, a private name or the name of this computer. Another name may be one that its
 * owner has changed to an address of this computer, so that a page of it counts as the service's own (DNS rebinding).
 */
export function hasPrivateHost(host: string | undefined): boolean {
  const name = host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "");
  if (name === undefined || name === "") return false;
  return (
    isIP(name.replace(/^\[|\]$/g, "")) !== 0 || !name.includes(".") || privateSuffix.test(name) || name === os.hostname().toLowerCase()
  );
}

interface PageRequest {
  readonly headers: {
    readonly origin?: string | undefined;
    readonly host?: string | undefined;
  };
  readonly socket: object;
}

/** Of the pages that this server serves under the name of the request. */
const originOf = ({ headers: { host }, socket }: PageRequest): string =>
  `${"encrypted" in socket && socket.encrypted ? "https" : "http"}://${host}`;

const originOfUrl = (url: string | undefined): string | undefined => (url === undefined ? undefined : URL.parse(url)?.origin);

/**
 * Whether a page of another site that is not allowed would show or play the answer as a part of itself, which needs no CORS. Browsers tell it of
 * addresses that they trust, such as those of loopback (Fetch Metadata). A page may hide its address, and counts as "null" then.
 */
export const isPartOfForeignPage = (
  { headers }: { readonly headers: IncomingHttpHeaders },
  allowsOrigin: (origin: string | undefined) => boolean,
): boolean =>
  headers["sec-fetch-site"] === "cross-site" &&
  headers["sec-fetch-mode"] !== "navigate" &&
  !allowsOrigin(headers.origin ?? originOfUrl(headers.referer) ?? "null");

/** Whether the request was sent by a page that this server has served itself. */
export const isOfOwnPage = (request: PageRequest): boolean =>
  request.headers.origin === originOf(request) && hasPrivateHost(request.headers.host);

/** Whether the request was sent by a page of the same computer, on any port: a developer's own page that another device shows. */
export const isOfSameHost = ({ headers: { origin, host } }: PageRequest): boolean =>
  origin !== undefined && hasPrivateHost(host) && URL.parse(origin)?.hostname === URL.parse(`http://${host}`)?.hostname;

/**
 * Whether a request is for a public name that is not allowed. To a browser a page of that name and this server are one origin: it sends no Origin with a
 * GET, and the page reads the answer (DNS rebinding). No field tells programs from browsers: Fetch lets a page set User-Agent.
 */
export const isByPublicName = (request: PageRequest, allowsOrigin: (origin: string | undefined) => boolean): boolean =>
  request.headers.host !== undefined && !hasPrivateHost(request.headers.host) && !allowsOrigin(originOf(request));
