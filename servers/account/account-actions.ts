import { setImmediate as nextTurn } from "node:timers/promises";
import type { Handlers } from "../../contract/operation.ts";
import type { AccountActions, AccountUserDetails, TokenKind } from "../../contract/services/account.ts";
import type { FailureLimits } from "../core/credentials/failure-limits.ts";
import type { Passwords } from "../core/credentials/passwords.ts";
import { qrCode } from "../core/files/qr-code.ts";
import { retryWhileLocked } from "../core/files/sqlite-file.ts";
import type { Log } from "../core/service/log.ts";
import { ServiceError } from "../core/service/service-error.ts";
import type { BasicCache } from "./access/basic-cache.ts";
import { fromBase32, newTotpSecret, secondsLeftOfStep, toBase32, totp, totpUri } from "./access/totp.ts";
import type { AccountViewPublisher } from "./page/account-views.ts";
import { shownUserDetails } from "./page/shown.ts";
import type { AccountStore } from "./store/account-store.ts";
import { addSampleRecords } from "./store/sample-data.ts";
import type { SessionRange } from "./store/sessions-table.ts";
import type { Contact, ListedUser, User } from "./store/users-table.ts";

export type DataHandlers = Omit<Handlers<AccountActions>, "try" | "resend" | "sample.start" | "sample.stop">;

export interface AccountActionsOptions {
  readonly store: AccountStore;
  readonly show: AccountViewPublisher;
  readonly passwords: Passwords;
  readonly cache: BasicCache;
  readonly limits: FailureLimits;
  readonly issuer: string;
  readonly log: Log;
  readonly now: () => number;
  readonly resetData: () => Promise<void>;
}

/** The page's actions, except those that send requests. */
export function createAccountActions(options: AccountActionsOptions): DataHandlers {
  const { store, show, passwords, cache, limits, issuer, log, now } = options;
  const { users, sessions } = store;

  function user(id: number): User {
    const found = users.get(id);
    if (!found) throw new ServiceError("CALL_INVALID", `There is no user ${id}`, "Reload the list: the user may have been removed.");
    return found;
  }

  const details = (id: number): AccountUserDetails => shownUserDetails(listed(user(id)));

  function listed(found: User): ListedUser {
    return { ...found, live_sessions: sessions.liveSessions(now(), found.id), zones: store.zones.ofUser(found.id).length };
  }

  function changed(id: number): AccountUserDetails {
    show.changed("users");
    return details(id);
  }

  /** A client may have begun thousands. */
  async function endRest(id: number, why: string, rest: SessionRange | undefined): Promise<void> {
    for (let left = rest; left; left = await store.write(() => left && sessions.endSome(id, why, left))) await nextTurn();
  }

  /** Whether the user was removed; undefined while there are sessions to be removed before. */
  const removeSome = (id: number): boolean | undefined => (sessions.removeSome(id) ? users.remove(id) : undefined);

  /** Invalidates cached credentials of the user. */
  function dropCredentials(id: number): void {
    users.dropCredentials(id);
    cache.forgetUser(id);
  }

  function requireFree(email: string, id?: number): void {
    const other = users.byEmail(email);
    if (other && other.id !== id) {
      throw new ServiceError("CALL_INVALID", `${email} is another user's address`, "Choose another e-mail address.");
    }
  }

  const clockOf = ({ clock_shift_s }: User) => now() + clock_shift_s * 1_000;

  function sessionsChanged(done: boolean): boolean {
    show.changed("sessions");
    return done;
  }

  function tokenAndOwner(id: string) {
    const token = sessions.token(id);
    return { token, owner: token && users.get(token.user_id) };
  }

  return {
    "user.list": show.lists.users,
    "user.read": ({ id }) => (users.get(id) ? details(id) : null),
    async "user.add"({ email, password, contact, withSampleRecords }) {
      requireFree(email);
      const hash = await passwords.hash(password);
      // Another call may have taken the address meanwhile.
      requireFree(email);
      const id = store.together(() => {
        const added = users.add({ email, password: hash, contact: given(contact) });
        if (withSampleRecords) addSampleRecords(store, added.id);
        return added.id;
      });
      log.info(`Added user ${email}`);
      return changed(id);
    },
    "user.edit"({ id, email, contact }) {
      const before = user(id);
      store.together(() => {
        users.setContact(id, given(contact));
        if (email === undefined || email === before.email) return;
        requireFree(email, id);
        users.set(id, { email });
        dropCredentials(id);
      });
      const edited = user(id).email;
      log.info(`Edited user ${before.email}${edited === before.email ? "" : `, ${edited} from now on`}`);
      return changed(id);
    },
    async "user.enable"({ id, enabled }) {
      const { email } = user(id);
      const why = "user disabled";
      const rest = store.together(() => {
        users.set(id, { enabled: enabled ? 1 : 0 });
        dropCredentials(id);
        return enabled ? undefined : sessions.endSome(id, why);
      });
      await endRest(id, why, rest);
      log.info(`${enabled ? "Enabled" : "Disabled"} user ${email}`);
      return changed(id);
    },
    async "user.remove"({ id }) {
      const before = users.get(id);
      let removed = store.together(() => {
        // Until the last session is removed.
        users.set(id, { enabled: 0 });
        dropCredentials(id);
        return removeSome(id);
      });
      for (; removed === undefined; removed = await store.write(() => removeSome(id))) await nextTurn();
      if (before && removed) log.info(`Removed user ${before.email}`);
      show.changed("users");
      return { removed };
    },
    async "user.setPassword"({ id, password, endSessions }) {
      user(id);
      const hash = await passwords.hash(password);
      const { email } = user(id);
      const why = "password changed";
      const rest = store.together(() => {
        users.set(id, { password: hash });
        dropCredentials(id);
        return endSessions ? sessions.endSome(id, why) : undefined;
      });
      await endRest(id, why, rest);
      log.info(`Set a new password of ${email}`);
      return changed(id);
    },
    "user.shiftClock"({ id, seconds }) {
      const { email } = user(id);
      store.together(() => users.set(id, { clock_shift_s: seconds }));
      log.info(seconds === 0 ? `Set the clock of ${email} back to now` : `Shifted the clock of ${email}: ${seconds} s from now`);
      return changed(id);
    },

    "totp.setUp"({ id, secret }) {
      const { email } = user(id);
      const bytes = secret === undefined ? undefined : fromBase32(secret);
      const kept = bytes ? toBase32(bytes) : newTotpSecret();
      store.together(() => {
        users.set(id, { totp_secret: kept, totp_step: 0 });
        dropCredentials(id);
      });
      log.info(`Set up the second factor of ${email}`);
      changed(id);
      const uri = totpUri(issuer, email, kept);
      return { secret: kept, uri, qr: qrCode(uri) };
    },
    "totp.remove"({ id }) {
      const { email } = user(id);
      store.together(() => {
        users.set(id, { totp_secret: null });
        dropCredentials(id);
      });
      log.info(`Removed the second factor of ${email}`);
      return changed(id);
    },
    "totp.code"({ id }) {
      const found = user(id);
      const secret = found.totp_secret === null ? undefined : fromBase32(found.totp_secret);
      return secret ? { code: totp(secret, clockOf(found)), secondsLeft: secondsLeftOfStep(clockOf(found)) } : null;
    },

    "session.list": show.lists.sessions,
    "session.read": ({ id }) => show.lists.session(id),
    "session.end"({ id }) {
      const ended = store.together(() => sessions.end(id, "ended from the dashboard"));
      if (ended) log.info(`Ended a session of ${sessions.get(id, now())?.email}`);
      return { ended: sessionsChanged(ended) };
    },
    "token.list": show.lists.tokens,
    "token.expire"({ id }) {
      const { token, owner } = tokenAndOwner(id);
      const expired = token !== undefined && owner !== undefined && store.together(() => sessions.expireToken(id, clockOf(owner)));
      if (expired) log.info(`Expired ${tokenNames[token.kind]} of ${owner.email}`);
      return { expired: sessionsChanged(expired) };
    },
    "token.revoke"({ id }) {
      const { token, owner } = tokenAndOwner(id);
      const revoked = store.together(() => sessions.revokeToken(id));
      if (token && revoked) log.info(`Revoked ${tokenNames[token.kind]} of ${owner?.email}`);
      return { revoked: sessionsChanged(revoked) };
    },

    "limits.reset"() {
      limits.reset();
      log.info("Cleared the count of failed logins");
      show.changed("sessions");
      return null;
    },
    async "data.reset"() {
      await options.resetData();
      show.changed("users");
      return null;
    },
  };
}

/** The same actions, begun again while another program holds the file. Their errors become what `faultOf` makes of them. */
export const withFaults = (handlers: DataHandlers, faultOf: (error: unknown) => unknown): DataHandlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      (params: unknown) =>
        retryWhileLocked(async () => {
          try {
            return await handle(params as never);
          } catch (error) {
            throw faultOf(error);
          }
        }),
    ]),
  ) as unknown as DataHandlers;

const tokenNames: Readonly<Record<TokenKind, string>> = { access: "an access token", refresh: "a refresh token", mfa: "an mfa token" };

/** Drops undefined fields. */
const given = (contact: { readonly [Name in keyof Contact]?: string | undefined }): Partial<Contact> =>
  Object.fromEntries(Object.entries(contact).filter(([, value]) => value !== undefined));
