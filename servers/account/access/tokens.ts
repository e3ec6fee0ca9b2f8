import { hash, type KeyObject, randomBytes } from "node:crypto";
import jsonwebtoken from "jsonwebtoken";
import type { TokenKind } from "../../../contract/services/account.ts";
import type { SessionsTable, StoredToken } from "../store/sessions-table.ts";
import type { User, UsersTable } from "../store/users-table.ts";
import { tokenFault } from "./credential-fault.ts";

/** Pinned: the algorithm in the token's header is ignored. */
export const algorithm = "HS256";

export interface TokenOptions {
  readonly key: KeyObject;
  readonly issuer: string;
  readonly audience: string;
  readonly lastsSeconds: Readonly<Record<TokenKind, number>>;
  readonly users: Pick<UsersTable, "get">;
  readonly sessions: Pick<SessionsTable, "addToken" | "token" | "get">;
  readonly now: () => number;
}

export type TokenProblem = "invalid" | "expired" | "used" | "revoked";

export type TokenReading =
  | { readonly ok: true; readonly user: User; readonly token: StoredToken }
  | { readonly ok: false; readonly problem: TokenProblem; readonly user?: User; readonly sessionId?: string; readonly why?: string };

export interface Tokens {
  /** Stores the claims and returns the signed text. */
  issue(kind: TokenKind, user: User, sessionId: string): string;
  read(kind: TokenKind, text: string): TokenReading;
  /** Expiry of a token issued now, by the user's own clock, in seconds. */
  endsAt(kind: TokenKind, user: User): number;
}

/** The stored token, if signature, issuer and audience are valid. */
type Claims = jsonwebtoken.JwtPayload & { readonly jti: string; readonly exp: number };

const mostVerified = 10_000;

export function createTokens({ key, issuer, audience, lastsSeconds, users, sessions, now }: TokenOptions): Tokens {
  // A refresh token is not an access token: each kind has an audience of its own.
  const audienceOf: Readonly<Record<TokenKind, string>> = {
    access: audience,
    refresh: `${audience}/refresh`,
    mfa: `${audience}/mfa`,
  };
  /**
   * Access tokens that were verified, by their digest: neither text nor key ever changes, and the signature takes longer than
   * everything else. Whether the token is expired or revoked is checked each time.
   */
  const verified = new Map<string, Claims>();
  const clockOf = (user: User) => now() + user.clock_shift_s * 1_000;
  const endsAt = (kind: TokenKind, user: User) => Math.floor(clockOf(user) / 1_000) + lastsSeconds[kind];

  /** The claims, or why there are none that are valid. */
  function claimsOf(kind: TokenKind, text: string): Claims | string {
    const faultOf = (error?: unknown) =>
      tokenFault(error, text, { algorithm, issuer, audience: audienceOf[kind], otherAudiences: audienceOf, now: now() });
    try {
      // The user's own clock decides whether it has expired.
      const claims = jsonwebtoken.verify(text, key, {
        algorithms: [algorithm],
        issuer,
        audience: audienceOf[kind],
        ignoreExpiration: true,
      });
      return typeof claims !== "string" && typeof claims.jti === "string" && typeof claims.exp === "number"
        ? (claims as Claims)
        : faultOf();
    } catch (error) {
      return faultOf(error);
    }
  }

  function verifiedClaims(text: string): Claims | string {
    const digest = hash("sha256", text, "base64");
    const known = verified.get(digest);
    if (known) return known;
    const claims = claimsOf("access", text);
    if (typeof claims === "string") return claims;
    if (verified.size >= mostVerified) verified.delete(verified.keys().next().value as string);
    verified.set(digest, claims);
    return claims;
  }

  /** In a live session only tokens that were used long ago are evicted. */
  function forgotten(sessionId: unknown): TokenReading {
    const session = typeof sessionId === "string" ? sessions.get(sessionId, now()) : undefined;
    const user = session && users.get(session.user_id);
    if (!session || !user || user.enabled === 0 || session.state === "ended") return { ok: false, problem: "revoked" };
    return { ok: false, problem: "used", user, sessionId: session.id };
  }

  return {
    endsAt,
    issue(kind, user, sessionId) {
      const id = randomBytes(12).toString("base64url");
      const exp = endsAt(kind, user);
      const iat = exp - lastsSeconds[kind];
      const claims = { iss: issuer, aud: audienceOf[kind], sub: String(user.id), sid: sessionId, jti: id, iat, exp };
      sessions.addToken({
        id,
        session_id: sessionId,
        user_id: user.id,
        kind,
        state: "live",
        issued_at: iat * 1_000,
        expires_at: exp * 1_000,
        claims: JSON.stringify(claims),
      });
      return jsonwebtoken.sign(claims, key, { algorithm });
    },
    read(kind, text) {
      const claims = kind === "access" ? verifiedClaims(text) : claimsOf(kind, text);
      if (typeof claims === "string") return { ok: false, problem: "invalid", why: claims };
      const token = sessions.token(claims.jti);
      const user = token && users.get(token.user_id);
      if (!token && kind === "refresh") return forgotten(claims.sid);
      // Evicts those of removed users, and the oldest ones.
      if (!token || !user || token.kind !== kind) return { ok: false, problem: "revoked" };
      const problem = problemOf(token, Math.min(token.expires_at, claims.exp * 1_000) <= clockOf(user));
      return problem === undefined ? { ok: true, user, token } : { ok: false, problem, user, sessionId: token.session_id };
    },
  };
}

function problemOf({ state }: StoredToken, isOver: boolean): TokenProblem | undefined {
  switch (state) {
    case "live":
      return isOver ? "expired" : undefined;
    case "used":
    case "revoked":
      return state;
    default:
      return state satisfies never;
  }
}
