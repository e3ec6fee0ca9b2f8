import type { Attempt, FailureLimits } from "../../core/credentials/failure-limits.ts";
import type { LoginClient } from "../../core/credentials/login-queue.ts";
import type { Passwords } from "../../core/credentials/passwords.ts";
import type { AccountStore } from "../store/account-store.ts";
import type { User, UsersTable } from "../store/users-table.ts";
import { AccessRefused, shownAccount } from "./access-refused.ts";

export interface CredentialCheck {
  /** The user whose password it is. The caller settles the attempt, since a second factor may follow. Throws AccessRefused. */
  password(username: string, password: string, client: LoginClient): Promise<{ readonly user: User; readonly attempt: Attempt }>;
  /** Begins an attempt at an account when the limits allow it. Throws AccessRefused, TooBusy when too many wait, and ClientLeft. */
  begin(client: LoginClient, account: string): Promise<Attempt>;
}

export interface CredentialCheckOptions {
  readonly users: Pick<UsersTable, "byEmail" | "get" | "set">;
  readonly passwords: Passwords;
  readonly limits: FailureLimits;
  readonly write: AccountStore["write"];
}

export function createCredentialCheck({ users, passwords, limits, write }: CredentialCheckOptions): CredentialCheck {
  async function begin(client: LoginClient, account: string): Promise<Attempt> {
    const started = await limits.begin(client, account === "" ? undefined : account);
    if (!("refused" in started)) return started;
    throw new AccessRefused("toomanyattempts", { user: shownAccount(account), decision: started });
  }

  return {
    begin,
    async password(username, password, client) {
      const attempt = await begin(client, username);
      try {
        const before = users.byEmail(username);
        const isRight = await passwords.verify(password, before?.password, { client, account: username });
        // The user may have been changed, disabled or removed while the hash was computed.
        const user = before && users.get(before.id);
        if (!isRight || !user || user.enabled === 0 || user.credentials !== before.credentials) {
          throw new AccessRefused("wronglogin", { user: shownAccount(username), decision: attempt.failed() });
        }
        if (passwords.isOutdated(user.password)) {
          const rehashed = await passwords.hash(password, { client, account: username });
          await write(() => users.set(user.id, { password: rehashed }));
        }
        return { user, attempt };
      } catch (error) {
        if (error instanceof AccessRefused) throw error;
        attempt.dropped();
        throw error;
      }
    },
  };
}
