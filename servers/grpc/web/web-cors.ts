import { createOriginRule } from "../../core/http/messages/cors.ts";
import type { AnswerFields, WebExchange } from "./web-exchange.ts";

/** Lets pages of the allowed origins call and read everything of the answer (Fetch standard, "CORS protocol"). */
export interface WebCors {
  isPreflight(exchange: WebExchange): boolean;
  answerPreflight(exchange: WebExchange): void;
  /** Adds the fields that let pages read all of `fields`. */
  readable(exchange: WebExchange, fields: AnswerFields): AnswerFields;
}

const preflightSeconds = "7200";
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;
/** Fields that every page may read, or none. */
const notNamed = /^(?:content-type|content-length|cache-control|vary|set-cookie|access-control-.*)$/;

export function createWebCors(origins: readonly string[]): WebCors {
  const any = origins.includes("*");
  const allows = createOriginRule(origins);

  function allowed(exchange: WebExchange): Record<string, string> {
    const origin = exchange.field("origin");
    if (any) return { "access-control-allow-origin": "*" };
    const vary = { vary: "Origin" };
    if (origin === undefined || !allows(origin)) return vary;
    return { ...vary, "access-control-allow-origin": origin, "access-control-allow-credentials": "true" };
  }

  return {
    isPreflight: (exchange) =>
      exchange.httpMethod === "OPTIONS" &&
      exchange.field("origin") !== undefined &&
      exchange.field("access-control-request-method") !== undefined,
    answerPreflight(exchange) {
      const asked = exchange.field("access-control-request-headers");
      exchange.respond(204, {
        ...allowed(exchange),
        "access-control-allow-methods": "POST, GET",
        ...(asked !== undefined && headerNames.test(asked) && { "access-control-allow-headers": asked }),
        "access-control-max-age": preflightSeconds,
      });
      exchange.finish();
    },
    readable(exchange, fields) {
      const own = allowed(exchange);
      const names = Object.keys(fields).filter((name) => !notNamed.test(name));
      return { ...fields, ...own, ...(names.length > 0 && { "access-control-expose-headers": names.join(", ") }) };
    },
  };
}
