import type { IncomingMessage, ServerResponse } from "node:http";
import { sendEmpty } from "./http-answer.ts";

export interface CorsOptions {
  /** Whose pages may read the answers: "*" is any, without credentials; named ones may send credentials. */
  readonly origins: readonly string[];
  /** Fields of an answer that a page may read beside the simple ones. */
  readonly exposed: string;
  readonly methods: string;
  /** Fields of a request that a page may send; undefined: whichever it asks for. */
  readonly requestHeaders?: string;
  /** The same, where a page names none that can be read. */
  readonly usualRequestHeaders?: string;
  /** Which OPTIONS requests are answered so; the others go to the routes. `allow` is undefined for an unknown path. */
  readonly isPreflight: (request: IncomingMessage, allow: string | undefined) => boolean;
  /** An answer to OPTIONS also says which methods the path takes. */
  readonly tellsAllow?: boolean;
  /** Pages of the internet may reach the service on this computer, where their browser asks for that. */
  readonly privateNetwork?: boolean;
}

export interface Cors {
  /** For every answer, also one to nobody in particular: name, value, name, value. */
  readonly fields: readonly string[];
  /** Sets the fields that let a page of a named origin read the answer. */
  prepare(request: IncomingMessage, response: ServerResponse): void;
  /** Such answers say which methods the path takes: it has to be looked for first. */
  readonly tellsAllow: boolean;
  isPreflight(request: IncomingMessage, allow: string | undefined): boolean;
  answerPreflight(request: IncomingMessage, response: ServerResponse, allow: string | undefined): void;
}

const preflightSeconds = "600";
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/** Whether it is what a browser asks before a request of a page (Fetch standard, "CORS-preflight request"). */
export const asksForMethod = ({ headers }: IncomingMessage): boolean => headers["access-control-request-method"] !== undefined;

/** Whether a page of this origin may read the answers; requests of programs have none. */
export function createOriginRule(origins: readonly string[]): (origin: string | undefined) => boolean {
  if (origins.includes("*")) return () => true;
  const named = new Set(origins.map((origin) => origin.replace(/\/$/, "").toLowerCase()));
  return (origin) => origin === undefined || named.has(origin.toLowerCase());
}

/** Fetch standard, "CORS protocol". */
export function createCors(options: CorsOptions): Cors {
  const any = options.origins.includes("*");
  const allows = createOriginRule(options.origins);
  return {
    fields: any ? ["Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", options.exposed] : [],
    tellsAllow: options.tellsAllow ?? false,
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
        ...(options.tellsAllow && { Allow: allow ?? options.methods }),
        // Also methods that the path does not take, so that the page can read the 405.
        "Access-Control-Allow-Methods": options.methods,
        ...(taken !== undefined && { "Access-Control-Allow-Headers": taken }),
        "Access-Control-Max-Age": preflightSeconds,
        ...(options.privateNetwork &&
          request.headers["access-control-request-private-network"] === "true" && { "Access-Control-Allow-Private-Network": "true" }),
      });
    },
  };
}
