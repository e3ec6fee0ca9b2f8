import { Refusal, unauthorized } from "../routes/refusal.ts";
import type { User, UsersTable } from "../store/users-table.ts";
import type { Attempt, FailureDecision, FailureLimits } from "./failure-limits.ts";
import type { Passwords } from "./passwords.ts";
import { shownAccount } from "./shown-account.ts";

export interface CredentialCheck {
  /** The user whose password it is; the attempt is left open for whoever knows if that was enough. Throws 401 and 429. */
  password(username: string, password: string, address: string): Promise<{ readonly user: User; readonly attempt: Attempt }>;
  /** An attempt at an account, begun when it may be. Throws 429, and 503 when too many wait. */
  begin(address: string, account: string): Promise<Attempt>;
}

/** A refusal that says how many more there may be. */
export class LimitedRefusal extends Refusal {
  readonly decision: FailureDecision;

  constructor(refusal: Refusal, decision: FailureDecision) {
    super(refusal.status, refusal.errors, refusal);
    this.decision = decision;
  }
}

export interface CredentialCheckOptions {
  readonly users: Pick<UsersTable, "byEmail" | "get" | "set">;
  readonly passwords: Passwords;
  readonly limits: FailureLimits;
}

export function createCredentialCheck({ users, passwords, limits }: CredentialCheckOptions): CredentialCheck {
  async function begin(address: string, account: string): Promise<Attempt> {
    const started = await limits.begin(address, account === "" ? undefined : account);
    if (!("refused" in started)) return started;
    const headers = { "Retry-After": String(started.resetSeconds) };
    throw new LimitedRefusal(new Refusal(429, "toomanyattempts", { headers, user: shownAccount(account) }), started);
  }

  return {
    begin,
    async password(username, password, address) {
      const attempt = await begin(address, username);
      try {
        const before = users.byEmail(username);
        const isRight = await passwords.verify(password, before?.password);
        // It may have been changed, disabled or removed while the hash was made.
        const user = before && users.get(before.id);
        if (!isRight || !user || user.enabled === 0 || user.credentials !== before.credentials) {
          const refusal = unauthorized("wronglogin", { user: shownAccount(username) });
          throw new LimitedRefusal(refusal, attempt.failed());
        }
        if (passwords.isOutdated(user.password)) users.set(user.id, { password: await passwords.hash(password) });
        return { user, attempt };
      } catch (error) {
        if (error instanceof Refusal) throw error;
        attempt.dropped();
        throw error;
      }
    },
  };
}
