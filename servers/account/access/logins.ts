import type { Attempt, FailureDecision } from "../../core/credentials/failure-limits.ts";
import type { LoginClient } from "../../core/credentials/login-queue.ts";
import type { Log } from "../../core/service/log.ts";
import type { AccountStore } from "../store/account-store.ts";
import type { User } from "../store/users-table.ts";
import { AccessRefused } from "./access-refused.ts";
import type { CredentialCheck } from "./credential-check.ts";
import type { Tokens } from "./tokens.ts";
import { fromBase32, matchingStep, newestTotpStep } from "./totp.ts";

export interface Client extends LoginClient {
  readonly software: string;
}

export interface TokenPair {
  readonly token: string;
  readonly refresh: string;
}

export type LoginAnswer =
  | TokenPair
  | { readonly token: null; readonly mfa: { readonly token: string; readonly methods: readonly string[]; readonly expires_at: number } };

export interface Logins {
  login(username: string, password: string, client: Client): Promise<{ answer: LoginAnswer; decision: FailureDecision; user: User }>;
  /** `authorization` is that of the mfa token's caller. */
  verifyCode(
    caller: { readonly user: User; readonly token: { readonly id: string; readonly session_id: string } },
    code: string,
    client: Client,
  ): Promise<{ answer: TokenPair; decision: FailureDecision }>;
  /** Issues a new pair; the old refresh token is used up. Using it a second time ends its session. */
  refresh(text: string): Promise<{ answer: TokenPair; user: User }>;
  /** Ends the session of a refresh token. */
  revoke(text: string): Promise<User>;
  endSession(id: string, why: string): Promise<void>;
}

export const totpMethod = "google_authenticator";
/** `tokensOfSession` is for clients that refresh in an endless loop. */
const kept = { sessions: 20_000, tokens: 100_000, tokensOfSession: 500 };
/** Logins and refreshes. */
const pruneEvery = 250;

export interface LoginsOptions {
  readonly store: Pick<AccountStore, "users" | "sessions" | "write">;
  readonly tokens: Tokens;
  readonly check: CredentialCheck;
  readonly log: Log;
  readonly now: () => number;
  /** Called when sessions or tokens changed. */
  readonly onChange: () => void;
}

export function createLogins({ store, tokens, check, log, now, onChange }: LoginsOptions): Logins {
  const { users, sessions, write } = store;
  let begun = 0;

  const clockOf = (user: User) => now() + user.clock_shift_s * 1_000;

  function begin(user: User, state: "live" | "waiting for code", { address, software }: Client): string {
    count();
    return sessions.begin({ user_id: user.id, state, started_at: now(), address, client: software });
  }

  function pair(user: User, session: string): TokenPair {
    return { token: tokens.issue("access", user, session), refresh: tokens.issue("refresh", user, session) };
  }

  /** A session or a pair of tokens was added. */
  function count(): void {
    begun += 1;
    if (begun % pruneEvery === 0) setImmediate(prune);
  }

  /** Many may have expired at once: they are deleted in several turns. */
  function prune(): void {
    void write(() => sessions.prune(now(), kept))
      .then((isDone) => {
        if (!isDone) setImmediate(prune);
      })
      // The next one deletes them.
      .catch(() => {});
  }

  function signedIn(user: User, { address }: Client): void {
    const lastlogin = new Date(clockOf(user)).toISOString().slice(0, 19).replace("T", " ");
    users.set(user.id, { lastlogin, ip: address, host: isLoopback(address) ? "localhost" : address });
  }

  /** All or nothing is stored. A fault of the storage is no failure of the client, and ends the attempt all the same. */
  async function writeFor<Result>(attempt: Attempt, change: () => Result): Promise<Result> {
    try {
      return await write(change);
    } catch (error) {
      if (!(error instanceof AccessRefused)) attempt.dropped();
      throw error;
    }
  }

  /** It may have been changed, disabled or removed while the write waited. */
  function requireUnchanged({ id, credentials, email }: User, attempt: Attempt): void {
    if (users.get(id)?.credentials !== credentials) throw new AccessRefused("wronglogin", { user: email, decision: attempt.failed() });
  }

  async function endSession(id: string, why: string): Promise<void> {
    await write(() => sessions.end(id, why));
    onChange();
  }

  /** A refusal is returned, so that the end of a session is kept. */
  function refreshed(text: string): { answer: TokenPair; user: User } | AccessRefused {
    const reading = tokens.read("refresh", text);
    if (!reading.ok) {
      const { problem, sessionId, user, why } = reading;
      if (problem === "used" && sessionId !== undefined && user) {
        // RFC 9700 §4.14.2: one of the two holders stole it, and it is unknown which one.
        sessions.end(sessionId, "refresh token used twice");
        log.notable(`A used refresh token of ${user.email} was used again: its session was ended`);
      }
      return new AccessRefused(`token${problem}`, { user: user?.email, why });
    }
    const { user, token } = reading;
    if (user.enabled === 0 || !sessions.useToken(token.id)) return new AccessRefused("tokenrevoked", { user: user?.email });
    count();
    const answer = pair(user, token.session_id);
    sessions.trim(token.session_id, kept.tokensOfSession);
    return { answer, user };
  }

  return {
    endSession,
    async login(username, password, client) {
      const { user, attempt } = await check.password(username, password, client);
      if (user.totp_secret !== null) {
        const expires_at = tokens.endsAt("mfa", user);
        const token = await writeFor(attempt, () => {
          requireUnchanged(user, attempt);
          return tokens.issue("mfa", user, begin(user, "waiting for code", client));
        });
        onChange();
        // A client with the right password may still be guessing codes: its failures stay counted.
        return { answer: { token: null, mfa: { token, methods: [totpMethod], expires_at } }, decision: attempt.succeeded(false), user };
      }
      const answer = await writeFor(attempt, () => {
        requireUnchanged(user, attempt);
        signedIn(user, client);
        return pair(user, begin(user, "live", client));
      });
      onChange();
      return { answer, decision: attempt.succeeded(true), user };
    },
    async verifyCode({ user: { id, email }, token }, code, client) {
      const attempt = await check.begin(client, email);
      const answer = await writeFor(attempt, () => {
        // It may have been changed, disabled or removed while the attempt waited.
        const user = users.get(id);
        if (!user || user.enabled === 0 || user.totp_secret === null) {
          attempt.dropped();
          throw new AccessRefused("tokenrevoked", { user: user?.email });
        }
        const secret = fromBase32(user.totp_secret);
        const step = secret && matchingStep(secret, code, clockOf(user));
        if (step === undefined) throw new AccessRefused("wrongcode", { user: email, decision: attempt.failed() });
        // RFC 6238 §5.2: a code is valid for one login. Sending it twice is not guessing.
        if (!users.useTotpStep(id, step, newestTotpStep(clockOf(user))))
          throw new AccessRefused("codeused", { user: email, decision: attempt.dropped() });
        if (!sessions.useToken(token.id)) {
          attempt.dropped();
          throw new AccessRefused("tokenused", { user: user.email });
        }
        sessions.setState(token.session_id, "live");
        signedIn(user, client);
        return pair(user, token.session_id);
      });
      onChange();
      return { answer, decision: attempt.succeeded(true) };
    },
    async refresh(text) {
      const outcome = await write(() => refreshed(text));
      onChange();
      if (outcome instanceof AccessRefused) throw outcome;
      return outcome;
    },
    async revoke(text) {
      const reading = tokens.read("refresh", text);
      const { user } = reading;
      const sessionId = reading.ok ? reading.token.session_id : reading.sessionId;
      // An expired token ends its session all the same; one that cannot be assigned is refused.
      if (!user || sessionId === undefined)
        throw new AccessRefused(`token${reading.ok ? "invalid" : reading.problem}`, {
          user: user?.email,
          why: reading.ok ? undefined : reading.why,
        });
      await endSession(sessionId, "revoked");
      return user;
    },
  };
}

const isLoopback = (address: string) => address === "::1" || address.startsWith("127.");
