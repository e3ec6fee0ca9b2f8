import jsonwebtoken from "jsonwebtoken";

export interface ExpectedClaims {
  readonly algorithm: string;
  readonly issuer: string;
  readonly audience: string;
  /** Of the other kinds of tokens, by what these are called. */
  readonly otherAudiences: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const shownIssuer = 60;

/** What is wrong with a token that `jsonwebtoken.verify` refused with this error: for the row, so without the token itself. The claims are the client's. */
export function tokenFault(error: unknown, text: string, expected: ExpectedClaims): string {
  if (/^["'<]/.test(text)) return "it is in quotes or brackets";
  const claims = claimsIn(text);
  if (!claims) return "it is not a JWT";
  const { iss, aud, exp } = claims;
  const faults = [
    signatureFault(error, expected.algorithm),
    iss === expected.issuer ? undefined : `issuer ${typeof iss === "string" ? JSON.stringify(iss.slice(0, shownIssuer)) : "not named"}`,
    audienceFault(aud, expected),
    typeof exp !== "number" ? "without expiry" : exp * 1_000 <= expected.now ? "expired" : undefined,
    typeof claims.jti === "string" ? undefined : "without jti",
  ].filter((fault) => fault !== undefined);
  return faults.length > 0 ? faults.join(", ") : "its claims are not as they are issued here";
}

function claimsIn(text: string): jsonwebtoken.JwtPayload | undefined {
  try {
    const claims = jsonwebtoken.decode(text);
    return claims === null || typeof claims === "string" ? undefined : claims;
  } catch {
    return undefined;
  }
}

function signatureFault(error: unknown, algorithm: string): string | undefined {
  switch (error instanceof Error && error.message) {
    case "invalid signature":
      return "wrong signature";
    case "jwt signature is required":
      return "no signature";
    case "jwt not active":
      return "not valid yet";
    case "invalid algorithm":
      return `not signed with ${algorithm}`;
    default:
      return undefined;
  }
}

function audienceFault(aud: unknown, { audience, otherAudiences }: ExpectedClaims): string | undefined {
  const list = Array.isArray(aud) ? aud : [aud];
  if (list.includes(audience)) return undefined;
  const other = Object.keys(otherAudiences).find((kind) => list.includes(otherAudiences[kind]));
  return other === undefined ? "other audience" : `of kind ${other}`;
}

/** Names of schemes in lower case: anything else before the space may be a credential. */
const schemes: readonly string[] = "apikey api-key aws4-hmac-sha256 digest dpop gnap jwt key mutual negotiate ntlm oauth token vapid".split(
  " ",
);

/** Why an Authorization field has no credentials that are understood here; undefined without a field. */
export function authorizationFault(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const scheme = /^[\w-]+(?= |$)/.exec(authorization)?.[0].toLowerCase();
  if (scheme === "bearer" || scheme === "basic") {
    const isAlone = authorization.trim().length === scheme.length;
    return isAlone ? `nothing behind ${scheme === "bearer" ? "Bearer" : "Basic"}` : "spaces in the credentials";
  }
  if (scheme !== undefined && schemes.includes(scheme)) return `the scheme ${authorization.slice(0, scheme.length)} is unknown here`;
  return "without a known scheme: Bearer or Basic";
}
