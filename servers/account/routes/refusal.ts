import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import type { AccessProblem, AccessRefused } from "../access/access-refused.ts";

interface RefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly user?: string | undefined;
  /** For the row only. */
  readonly why?: string | undefined;
}

/** A refusal in the API's shape: `{"error":[…]}`. */
export class Refusal extends HttpRefusal {
  readonly errors: readonly string[];

  constructor(status: number, errors: string | readonly string[], { headers = {}, user, why }: RefusalOptions = {}) {
    const list = typeof errors === "string" ? [errors] : errors;
    const codes = list.join(", ");
    const reason = why === undefined ? codes : `${codes}: ${why}`;
    super(status, codes, { headers, user, reason, body: JSON.stringify({ error: list }) });
    this.errors = list;
  }
}

const realm = "client portal";
const basicChallenge = `Basic realm="${realm}", charset="UTF-8"`;

const tokenProblems: Readonly<Partial<Record<AccessProblem, string>>> = {
  tokeninvalid: "The token is not one of ours",
  tokenexpired: "The token has expired",
  tokenused: "The token was used before",
  tokenrevoked: "The token was revoked",
};

/** RFC 9110 §11.6.1, RFC 6750 §3: both schemes, and the error of the token that was sent. */
export function refusalOfAccess({ problem, user, decision, why }: AccessRefused): Refusal {
  if (problem === "toomanyattempts")
    return new Refusal(429, problem, { headers: { "Retry-After": String(decision?.resetSeconds ?? 1) }, user });
  const description = tokenProblems[problem];
  const bearer = `Bearer realm="${realm}"${description === undefined ? "" : `, error="invalid_token", error_description="${description}"`}`;
  // Clients expect this name for an unknown token.
  const error = problem === "tokeninvalid" ? "invalidtoken" : problem;
  return new Refusal(401, error, { headers: { "WWW-Authenticate": `${bearer}, ${basicChallenge}` }, user, why });
}

export const notFound = (): Refusal => new Refusal(404, "notfound");

/** Refusals before a route is reached, by status. */
const codes: Readonly<Record<number, string>> = {
  400: "badrequest",
  405: "methodnotallowed",
  408: "requesttimeout",
  413: "bodytoolarge",
  414: "pathtoolong",
  417: "expectationfailed",
  431: "headertoolarge",
  501: "notimplemented",
  505: "versionnotsupported",
};

export const errorBody = (status: number, message: string): string => JSON.stringify({ error: [codes[status] ?? message] });
