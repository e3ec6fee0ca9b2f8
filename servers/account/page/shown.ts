import {
  type AccountSession,
  type AccountToken,
  type AccountUser,
  type AccountUserDetails,
  contactFields,
  type TokenState,
} from "../../../contract/services/account.ts";
import { algorithm } from "../access/tokens.ts";
import type { ListedToken, Session } from "../store/sessions-table.ts";
import type { ListedUser } from "../store/users-table.ts";

/** Converts the store's rows for the page: without hashes and secrets. */
export const shownUser = (user: ListedUser): AccountUser => ({
  id: user.id,
  email: user.email,
  name: [user.firstname, user.lastname].filter((part) => part !== "").join(" ") || user.companyname,
  enabled: user.enabled === 1,
  secondFactor: user.totp_secret !== null,
  clockShiftSeconds: user.clock_shift_s,
  lastLogin: user.lastlogin,
  lastAddress: user.ip,
  liveSessions: user.live_sessions,
  zones: user.zones,
});

export const shownUserDetails = (user: ListedUser): AccountUserDetails => ({
  ...shownUser(user),
  contact: Object.fromEntries(contactFields.map((name) => [name, user[name]])) as AccountUserDetails["contact"],
});

/** `usedAt` is what is not stored yet. */
export const shownSession = (session: Session, usedAt = session.used_at ?? undefined): AccountSession => ({
  id: session.id,
  userId: session.user_id,
  email: session.email,
  state: session.state,
  ...(session.ended !== null && { ended: session.ended }),
  startedAt: session.started_at,
  ...(usedAt !== undefined && { usedAt }),
  address: session.address,
  client: session.client,
  liveTokens: session.live_tokens,
});

export function shownToken(token: ListedToken, now: number): AccountToken {
  const endsAt = token.expires_at - token.clock_shift_s * 1_000;
  const state: TokenState = token.state === "live" && endsAt <= now ? "expired" : token.state;
  return {
    id: token.id,
    kind: token.kind,
    state,
    sessionId: token.session_id,
    userId: token.user_id,
    email: token.email,
    header: { alg: algorithm, typ: "JWT" },
    payload: JSON.parse(token.claims) as AccountToken["payload"],
    issuedAt: token.issued_at,
    expiresAt: token.expires_at,
    endsAt,
  };
}
