import { createHmac } from "node:crypto";

/** What a client needs in `RTCIceServer`. */
export interface TurnCredentials {
  readonly username: string;
  readonly credential: string;
}

/** The scheme of draft-uberti-behave-turn-rest: the name holds the end of its validity, the password is the name's HMAC. */
export function issueCredentials(secret: string, user: string, lifetimeSeconds: number, now = Date.now()): TurnCredentials {
  const username = `${Math.floor(now / 1_000) + lifetimeSeconds}:${user}`;
  return { username, credential: timeLimitedPassword(secret, username) };
}

export const timeLimitedPassword = (secret: string, username: string): string =>
  createHmac("sha1", secret).update(username).digest("base64");

/** Undefined for a name of another form; a name may have no user behind the time. */
export function parseTimeLimitedName(username: string): { readonly validUntilMs: number; readonly user: string } | undefined {
  const [, seconds, user = ""] = /^(\d{1,12})(?::(.*))?$/s.exec(username) ?? [];
  return seconds === undefined ? undefined : { validUntilMs: Number(seconds) * 1_000, user };
}
