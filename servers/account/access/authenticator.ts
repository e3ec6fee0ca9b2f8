import type { LoginClient } from "../../core/credentials/login-queue.ts";
import type { StoredToken } from "../store/sessions-table.ts";
import type { User, UsersTable } from "../store/users-table.ts";
import { AccessRefused } from "./access-refused.ts";
import type { BasicCache } from "./basic-cache.ts";
import type { CredentialCheck } from "./credential-check.ts";
import { authorizationFault } from "./credential-fault.ts";
import type { Tokens } from "./tokens.ts";

export interface Caller {
  readonly user: User;
  readonly scheme: "bearer" | "basic";
  /** With a bearer token. */
  readonly token?: StoredToken;
}

export interface Authenticator {
  /** The caller of this Authorization field. Throws AccessRefused. */
  authenticate(authorization: string | undefined, client: () => LoginClient): Caller | Promise<Caller>;
  /** The caller by bearer token alone; `kind` says which of the tokens. */
  bearer(authorization: string | undefined, kind?: "access" | "mfa"): Caller & { readonly token: StoredToken };
}

export interface AuthenticatorOptions {
  readonly tokens: Tokens;
  readonly users: Pick<UsersTable, "get">;
  readonly check: CredentialCheck;
  readonly cache: BasicCache;
  /** A session's token was used. */
  readonly onUse: (sessionId: string) => void;
}

export function createAuthenticator({ tokens, users, check, cache, onUse }: AuthenticatorOptions): Authenticator {
  /** Clients open several connections at once with the same credentials: one hash serves them all. */
  const underWay = new Map<string, SharedCheck>();

  function bearer(authorization: string | undefined, kind: "access" | "mfa" = "access"): Caller & { readonly token: StoredToken } {
    const text = credentialsOf(authorization, "bearer");
    if (text === undefined) throw new AccessRefused("loginrequired", { why: authorizationFault(authorization) });
    const reading = tokens.read(kind, text);
    if (!reading.ok) throw new AccessRefused(`token${reading.problem}`, { user: reading.user?.email, why: reading.why });
    const { user, token } = reading;
    if (user.enabled === 0) throw new AccessRefused("tokenrevoked", { user: user.email });
    onUse(token.session_id);
    return { user, scheme: "bearer", token };
  }

  async function checkBasic(digest: string, username: string, password: string, client: LoginClient): Promise<User> {
    const { user, attempt } = await check.password(username, password, client);
    // A second factor that clients could omit would be useless.
    if (user.totp_secret !== null) {
      attempt.succeeded(false);
      throw new AccessRefused("mfarequired", { user: user.email });
    }
    attempt.succeeded(true);
    cache.add(digest, { userId: user.id, credentials: user.credentials });
    return user;
  }

  function basic(encoded: string, client: LoginClient): Caller | Promise<Caller> {
    const digest = cache.digest(encoded);
    const remembered = cache.get(digest);
    const known = remembered && users.get(remembered.userId);
    if (known && known.enabled === 1 && known.credentials === remembered.credentials) return { user: known, scheme: "basic" };
    const pair = decodePair(encoded);
    if (pair === undefined) throw new AccessRefused("wronglogin", { why: "not the Base64 of a name, a colon and a password" });
    // The key contains the address: one address must not wait for the check of another, nor share its failures.
    const key = `${client.address} ${digest}`;
    const shared = underWay.get(key) ?? new SharedCheck();
    shared.clients.push(client);
    if (!shared.user) {
      underWay.set(key, shared);
      shared.user = checkBasic(digest, pair.username, pair.password, shared.clientOf(client)).finally(() => underWay.delete(key));
    }
    return shared.user.then((user) => ({ user, scheme: "basic" }));
  }

  return {
    bearer,
    authenticate(authorization, client) {
      const encoded = credentialsOf(authorization, "basic");
      return encoded === undefined ? bearer(authorization) : basic(encoded, client());
    },
  };
}

/** A check for whoever waits for it. */
class SharedCheck {
  readonly clients: LoginClient[] = [];
  user: Promise<User> | undefined;

  /** That of the first one, which has left when all have. */
  clientOf({ address, connection }: LoginClient): LoginClient {
    const { clients } = this;
    return {
      address,
      connection,
      hasLeft() {
        while (clients[0]?.hasLeft()) clients.shift();
        return clients.length === 0;
      },
    };
  }
}

/** RFC 9110 §11.4: the scheme in any letter case, then one space or more. */
function credentialsOf(authorization: string | undefined, scheme: "basic" | "bearer"): string | undefined {
  const match = /^([A-Za-z]+) +(\S+) *$/.exec(authorization ?? "");
  return match?.[1]?.toLowerCase() === scheme ? match[2] : undefined;
}

/** RFC 7617 §2: the user's name ends at the first colon. */
function decodePair(encoded: string): { username: string; password: string } | undefined {
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(encoded)) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon === -1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
