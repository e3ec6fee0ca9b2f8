/** An answer that is not what the client hoped for: `{"error":[…]}`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly errors: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Whom it concerns, for the page. */
  readonly user: string | undefined;

  constructor(
    status: number,
    errors: string | readonly string[],
    options: { readonly headers?: Readonly<Record<string, string>>; readonly user?: string | undefined } = {},
  ) {
    const list = typeof errors === "string" ? [errors] : errors;
    super(list.join(", "));
    this.status = status;
    this.errors = list;
    this.headers = options.headers ?? {};
    this.user = options.user;
  }
}

export const realm = "client portal";
const basicChallenge = `Basic realm="${realm}", charset="UTF-8"`;

/** RFC 9110 §11.6.1, RFC 6750 §3: both schemes, and what is wrong with a token that came. */
export function unauthorized(error: string, options: { readonly user?: string | undefined; readonly tokenProblem?: string } = {}): Refusal {
  const { user, tokenProblem } = options;
  const bearer = `Bearer realm="${realm}"${tokenProblem === undefined ? "" : `, error="invalid_token", error_description="${tokenProblem}"`}`;
  return new Refusal(401, error, { headers: { "WWW-Authenticate": `${bearer}, ${basicChallenge}` }, user });
}

export const notFound = (): Refusal => new Refusal(404, "notfound");

/** What is refused before it comes to a route, by its status. */
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
