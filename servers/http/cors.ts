import type { IncomingMessage, ServerResponse } from "node:http";

const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const preflightSeconds = "600";
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

export interface Cors {
  /** For every answer, also one to nobody in particular. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sets the fields that let a page of a named origin read the answer. */
  apply(request: IncomingMessage, response: ServerResponse): void;
  isPreflight(request: IncomingMessage): boolean;
  answerPreflight(request: IncomingMessage, response: ServerResponse): void;
}

/** Fetch standard, "CORS protocol". Named origins may send credentials; any origin at all may not. */
export function createCors(origins: readonly string[]): Cors {
  const any = origins.includes("*");
  const named = new Set(origins.map((origin) => origin.replace(/\/$/, "").toLowerCase()));
  const headers: Record<string, string> = any
    ? { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" }
    : { Vary: "Origin" };
  return {
    headers,
    apply(request, response) {
      const { origin } = request.headers;
      if (any || origin === undefined || !named.has(origin.toLowerCase())) return;
      response.setHeader("Access-Control-Allow-Origin", origin);
      response.setHeader("Access-Control-Allow-Credentials", "true");
    },
    isPreflight: (request) =>
      request.method === "OPTIONS" &&
      request.headers.origin !== undefined &&
      request.headers["access-control-request-method"] !== undefined,
    answerPreflight(request, response) {
      const asked = request.headers["access-control-request-headers"];
      response.setHeader("Access-Control-Allow-Methods", allowedMethods);
      if (asked !== undefined && headerNames.test(asked)) response.setHeader("Access-Control-Allow-Headers", asked);
      response.setHeader("Access-Control-Max-Age", preflightSeconds);
      if (request.headers["access-control-request-private-network"] === "true") {
        response.setHeader("Access-Control-Allow-Private-Network", "true");
      }
      response.statusCode = 204;
      response.end();
    },
  };
}
