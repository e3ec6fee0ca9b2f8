/** Actions and views of the account service. */
import { z } from "zod";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import type { QrCode } from "../service.ts";
import type { HeaderList, HttpBody } from "../traffic/http.ts";
import { httpActions } from "./http.ts";

/** Fields of a user's contact that PUT /details may change; the page may change all of `contactFields`. */
export const changeableDetails = [
  "type",
  "companyname",
  "companyregistrationnumber",
  "vateu",
  "email",
  "firstname",
  "lastname",
  "country",
  "address1",
  "city",
  "state",
  "postcode",
  "phonenumber",
  "emarketing",
] as const;

export const contactFields = [
  "type",
  "companyname",
  "companyregistrationnumber",
  "vateu",
  "firstname",
  "lastname",
  "address1",
  "address2",
  "city",
  "state",
  "postcode",
  "country",
  "phonenumber",
  "emarketing",
] as const;
export type ContactField = (typeof contactFields)[number];

export interface AccountUser {
  readonly id: number;
  readonly email: string;
  /** The contact's name, for lists. */
  readonly name: string;
  readonly enabled: boolean;
  readonly secondFactor: boolean;
  /** Offset of this user's clock, which tokens, codes and sign-in times use. */
  readonly clockShiftSeconds: number;
  /** "2016-12-30 12:24:28", or empty. */
  readonly lastLogin: string;
  readonly lastAddress: string;
  readonly liveSessions: number;
  readonly zones: number;
}

export interface AccountUserDetails extends AccountUser {
  readonly contact: Readonly<Record<ContactField, string>>;
}

export interface AccountUserPage {
  readonly users: readonly AccountUser[];
  readonly matching: number;
}

/** "expired": none of its tokens is valid by the user's clock; setting that clock back makes it live again. */
export type SessionState = "waiting for code" | "live" | "expired" | "ended";

/** One login and its tokens. */
export interface AccountSession {
  readonly id: string;
  readonly userId: number;
  readonly email: string;
  readonly state: SessionState;
  /** Why it ended: "logged out", "refresh token used twice". */
  readonly ended?: string;
  readonly startedAt: number;
  /** Absent if none of its tokens was used. */
  readonly usedAt?: number;
  readonly address: string;
  readonly client: string;
  readonly liveTokens: number;
}

export interface AccountSessionPage {
  readonly sessions: readonly AccountSession[];
  readonly matching: number;
}

const tokenKinds = ["access", "refresh", "mfa"] as const;
export type TokenKind = (typeof tokenKinds)[number];

export type TokenState = "live" | "expired" | "used" | "revoked";

/** A decoded token; the signed text is not stored. */
export interface AccountToken {
  /** Its `jti`. */
  readonly id: string;
  readonly kind: TokenKind;
  readonly state: TokenState;
  readonly sessionId: string;
  readonly userId: number;
  readonly email: string;
  readonly header: { readonly alg: string; readonly typ: string };
  readonly payload: Readonly<Record<string, string | number>>;
  /** By the user's own clock. */
  readonly issuedAt: number;
  /** By the user's own clock; earlier than `payload.exp` says where it was expired by hand. */
  readonly expiresAt: number;
  /** The same moment by this computer's clock, for counting down. */
  readonly endsAt: number;
}

export interface AccountTokenPage {
  readonly tokens: readonly AccountToken[];
  readonly matching: number;
}

/** One request of a try and its answer. It contains secrets: it is sent to the page that entered them and not stored. */
export interface AccountTryStep {
  readonly title: "login" | "second factor" | "call";
  readonly request: { readonly method: string; readonly target: string; readonly headers: HeaderList; readonly body: string };
  readonly status: number;
  readonly reason: string;
  readonly headers: HeaderList;
  readonly body: HttpBody;
  readonly tookMs: number;
  /** `TrafficRow.id` of the same exchange seen from the server's side. */
  readonly row?: number;
}

export interface AccountTry {
  readonly steps: readonly AccountTryStep[];
  /** The user has a second factor and no code was given. */
  readonly codeNeeded: boolean;
}

/** `view/account`, by name. Lists hold the newest; the rest comes by the actions. */
export interface AccountViews extends SampleViews {
  readonly totals: {
    readonly users: number;
    readonly liveSessions: number;
    readonly liveTokens: number;
    /** Since the start. */
    readonly logins: number;
    readonly failedLogins: number;
    /** Counts up with every change of users, so that a page knows when to ask again. */
    readonly usersRevision: number;
  };
  /** At most 100. */
  readonly users: AccountUserPage;
  /** At most 100, newest first. */
  readonly sessions: AccountSessionPage;
  /** At most 100, newest first. */
  readonly tokens: AccountTokenPage;
  readonly limits: {
    readonly failures: number;
    readonly windowSeconds: number;
    /** Those with a failure in the window. */
    readonly addresses: number;
    readonly accounts: number;
    /** Those with the most failures, at most 20. */
    readonly busiest: readonly { readonly kind: "address" | "account"; readonly name: string; readonly failures: number }[];
  };
}

const none = z.strictObject({});
const page = { offset: z.int().min(0).default(0), limit: z.int().min(1).max(500).default(100) };
const userId = z.int().min(1);
export const emailAddress = z
  .string()
  .max(200)
  .regex(/^[^\s@:]+@[^\s@:]+$/, "An e-mail address has one @, and neither spaces nor colons.");
const totpSecret = z
  .string()
  .max(200)
  .regex(/^[A-Za-z2-7 ]{16,}=*$/, "A secret is 16 or more letters and digits of Base32.");
export const isTotpSecret = (text: string): boolean => totpSecret.safeParse(text).success;
const password = z.string().min(1).max(1_000);
const contactText = z
  .string()
  .trim()
  .max(200)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
  .regex(/^[^\0-\x1f\x7f]*$/, "Neither line breaks nor other control characters.");
// ISO 3166-1 alpha-2
const country = z
  .string()
  .trim()
  .regex(/^(?:[A-Za-z]{2})?$/, "Two letters, such as US, or nothing.")
  .toUpperCase();
/** Allowed values of a contact's fields, set here or by PUT /details. */
export const contactValue = (name: ContactField): z.ZodString => (name === "country" ? country : contactText);
const contact = z.strictObject(
  Object.fromEntries(contactFields.map((name) => [name, contactValue(name).optional()])) as Record<
    ContactField,
    z.ZodOptional<z.ZodString>
  >,
);

export const accountActions = {
  /** By e-mail address or name. */
  "user.list": operation<AccountUserPage>()(z.strictObject({ text: z.string().max(200).default(""), ...page })),
  /** Null where there is no such user. */
  "user.read": operation<AccountUserDetails | null>()(z.strictObject({ id: userId })),
  /** With `withSampleRecords` the user gets a hosting service, a DNS zone and invoices, so that every call of the API returns data. */
  "user.add": operation<AccountUserDetails>()(
    z.strictObject({ email: emailAddress, password, contact: contact.default({}), withSampleRecords: z.boolean().default(false) }),
  ),
  "user.edit": operation<AccountUserDetails>()(
    z.strictObject({ id: userId, email: emailAddress.optional(), contact: contact.default({}) }),
  ),
  /** Disabling ends every session of the user. */
  "user.enable": operation<AccountUserDetails>()(z.strictObject({ id: userId, enabled: z.boolean() })),
  "user.remove": operation<{ readonly removed: boolean }>()(z.strictObject({ id: userId })),
  /** Cached checks of the old password are dropped at once. */
  "user.setPassword": operation<AccountUserDetails>()(z.strictObject({ id: userId, password, endSessions: z.boolean().default(true) })),
  /** For every token, code and time of this user. */
  "user.shiftClock": operation<AccountUserDetails>()(z.strictObject({ id: userId, seconds: z.int().min(-315_360_000).max(315_360_000) })),

  /** Sets a new secret, or the one given (Base32). Only this answer contains it; `qr` is the code of its URI. */
  "totp.setUp": operation<{ readonly secret: string; readonly uri: string; readonly qr: QrCode }>()(
    z.strictObject({
      id: userId,
      secret: totpSecret.optional(),
    }),
  ),
  "totp.remove": operation<AccountUserDetails>()(z.strictObject({ id: userId })),
  /** The code that holds now by the user's clock, so that the second factor can be tried without a phone; null without one. */
  "totp.code": operation<{ readonly code: string; readonly secondsLeft: number } | null>()(z.strictObject({ id: userId })),

  /** `text` is looked for in the e-mail address, the client and the address. */
  "session.list": operation<AccountSessionPage>()(
    z.strictObject({ user: userId.optional(), text: z.string().max(200).default(""), live: z.boolean().default(false), ...page }),
  ),
  /** Null where there is no such session. */
  "session.read": operation<AccountSession | null>()(z.strictObject({ id: z.string().max(100) })),
  /** Revokes its tokens too. */
  "session.end": operation<{ readonly ended: boolean }>()(z.strictObject({ id: z.string().max(100) })),
  "token.list": operation<AccountTokenPage>()(
    z.strictObject({
      user: userId.optional(),
      session: z.string().max(100).optional(),
      kind: z.enum(tokenKinds).optional(),
      live: z.boolean().default(false),
      ...page,
    }),
  ),
  /** Makes it expired from now on. */
  "token.expire": operation<{ readonly expired: boolean }>()(z.strictObject({ id: z.string().max(100) })),
  /** Its session ends with the last valid token. */
  "token.revoke": operation<{ readonly revoked: boolean }>()(z.strictObject({ id: z.string().max(100) })),

  /** Forgets every counted failure. */
  "limits.reset": operation<null>()(none),
  /** Deletes all users, tokens and records and writes the sample data again. */
  "data.reset": operation<null>()(none),

  /** Real requests to the service's own port: login, the second factor if required, then a call with the token. */
  try: operation<AccountTry>()(
    z.strictObject({
      username: z.string().max(1_000),
      password: z.string().max(1_000),
      scheme: z.enum(["bearer", "basic"]).default("bearer"),
      /** Code of the second factor. */
      code: z.string().max(20).optional(),
      method: z.enum(["GET", "POST", "PUT", "DELETE"]).default("GET"),
      target: z.string().startsWith("/").max(2_048).default("/details"),
      /** JSON. */
      body: z.string().max(65_536).default(""),
    }),
  ),
  resend: httpActions.resend,
  ...sampleActions,
};
export type AccountActions = typeof accountActions;
