import type { IncomingMessage, ServerResponse } from "node:http";
import { normalizedOrigin } from "../../config/origin-list.ts";
import { sendEmpty } from "./http-answer.ts";

export interface CorsOptions {
  /** Origins whose pages may read the answers, as a list or a rule: "*" is any, without credentials; any other may send credentials. */
  readonly origins: readonly string[] | ((origin: string | undefined) => boolean);
  /** Response fields that a page may read in addition to the safelisted ones. */
  readonly exposed: string;
  readonly methods: string;
  /** Request fields that a page may send; undefined: those that it asks for. */
  readonly requestHeaders?: string;
  /** The same for a preflight whose list of fields is absent or invalid. */
  readonly usualRequestHeaders?: string;
  /** Which OPTIONS requests are answered as a preflight; the others go to the routes. `allow` is undefined for an unknown path. */
  readonly isPreflight: (request: IncomingMessage, allow: string | undefined) => boolean;
  /** An answer to OPTIONS also says which methods the path takes. */
  readonly listsAllow?: boolean;
  /** More fields of the answer to a preflight. */
  readonly preflightFields?: (request: IncomingMessage) => Readonly<Record<string, string>>;
  /** Allows pages of the internet to reach the service on this computer, if their browser asks (Private Network Access). */
  readonly privateNetwork?: boolean;
}

export interface Cors {
  /** Fields of every answer, whatever the origin: name, value, name, value. */
  readonly fields: readonly string[];
  /** Sets the fields that let a page of a named origin read the answer. */
  prepare(request: IncomingMessage, response: ServerResponse): void;
  /** True if the answer lists the path's methods, so that the route has to be found first. */
  readonly listsAllow: boolean;
  isPreflight(request: IncomingMessage, allow: string | undefined): boolean;
  answerPreflight(request: IncomingMessage, response: ServerResponse, allow: string | undefined): void;
}

const preflightSeconds = "600";
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/** Whether the request is a preflight (Fetch standard, "CORS-preflight request"). */
export const asksForMethod = ({ headers }: IncomingMessage): boolean => headers["access-control-request-method"] !== undefined;

/** Whether a page of this origin may read the answers; requests of programs have none. */
export function createOriginRule(origins: readonly string[]): (origin: string | undefined) => boolean {
  if (origins.includes("*")) return () => true;
  const known = (origin: string) => normalizedOrigin(origin) ?? origin.toLowerCase();
  const named = new Set(origins.map(known));
  return (origin) => origin === undefined || named.has(known(origin));
}

/** Fetch standard, "CORS protocol". */
export function createCors(options: CorsOptions): Cors {
  const { origins } = options;
  const any = typeof origins !== "function" && origins.includes("*");
  const allows = typeof origins === "function" ? origins : createOriginRule(origins);
  return {
    fields: any ? ["Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", options.exposed] : [],
    listsAllow: options.listsAllow ?? false,
    prepare(request, response) {
      if (any) return;
      response.setHeader("Vary", "Origin");
      const { origin } = request.headers;
      if (origin === undefined || !allows(origin)) return;
      response.setHeader("Access-Control-Allow-Origin", origin);
      response.setHeader("Access-Control-Allow-Credentials", "true");
    },
    isPreflight: (request, allow) => request.method === "OPTIONS" && options.isPreflight(request, allow),
    answerPreflight(request, response, allow) {
      const asked = request.headers["access-control-request-headers"];
      const taken = options.requestHeaders ?? (asked !== undefined && headerNames.test(asked) ? asked : options.usualRequestHeaders);
      sendEmpty(response, 204, {
        ...(options.listsAllow && { Allow: allow ?? options.methods }),
        // Also methods that the path does not take, so that the page can read the 405.
        "Access-Control-Allow-Methods": options.methods,
        ...(taken !== undefined && { "Access-Control-Allow-Headers": taken }),
        "Access-Control-Max-Age": preflightSeconds,
        ...(options.privateNetwork &&
          request.headers["access-control-request-private-network"] === "true" && { "Access-Control-Allow-Private-Network": "true" }),
        ...options.preflightFields?.(request),
      });
    },
  };
}
