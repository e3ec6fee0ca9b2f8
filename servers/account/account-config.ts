import { z } from "zod";
import { commonFields, failedLoginFields, field, portField, recordCredentialsField, wholeNumber } from "../core/config/common-fields.ts";
import { httpLimitFields, httpsFields, proxyFields } from "../core/http/messages/http-fields.ts";

const name = (standard: string) => z.string().min(1).max(200).default(standard);

const lifetime = (maximum: number, standard: number, meta: { readonly title: string; readonly help?: string; readonly env: string }) =>
  field(wholeNumber(1, maximum, standard), { ...meta, unit: "s", group: "Tokens" });

export const accountConfig = z.strictObject({
  port: portField(8081, { title: "Port", env: "ACCOUNT_PORT" }),
  ...httpsFields({ prefix: "ACCOUNT", port: 8445 }),
  ...commonFields("account"),

  issuer: field(name("client-portal"), { title: "Issuer", help: "The iss of every token.", env: "ACCOUNT_ISSUER", group: "Tokens" }),
  audience: field(name("client-portal"), {
    title: "Audience",
    help: "The aud of access tokens.",
    env: "ACCOUNT_AUDIENCE",
    group: "Tokens",
  }),
  accessSeconds: lifetime(31_536_000, 3_600, { title: "Access token lasts", env: "ACCOUNT_ACCESS_SECONDS" }),
  refreshSeconds: lifetime(315_360_000, 2_592_000, { title: "Refresh token lasts", env: "ACCOUNT_REFRESH_SECONDS" }),
  mfaSeconds: lifetime(86_400, 300, {
    title: "Time for the second factor",
    help: "Between the password and the code.",
    env: "ACCOUNT_MFA_SECONDS",
  }),

  ...failedLoginFields({
    prefix: "ACCOUNT",
    group: "Logins",
    failures: 25,
    windowSeconds: 900,
    help: "Allowed for one address and for one account within the window; then 429.",
  }),
  failedLoginAnswers200: field(z.boolean().default(false), {
    title: "Failed logins answer 200",
    help: "With the same error in the body, as some installations do.",
    env: "ACCOUNT_FAILED_LOGIN_200",
    group: "Logins",
  }),
  basicCacheSeconds: field(wholeNumber(0, 300, 300), {
    title: "Basic cache",
    help: "How long accepted credentials are cached instead of hashed again; 0 hashes on every call.",
    unit: "s",
    env: "ACCOUNT_BASIC_CACHE_SECONDS",
    group: "Logins",
  }),
  scryptCost: field(wholeNumber(10, 17, 14), {
    title: "Cost of a password",
    help: "Power of two of scrypt's N for passwords set from now on.",
    env: "ACCOUNT_SCRYPT_COST",
    group: "Logins",
  }),
  ...proxyFields({ prefix: "ACCOUNT", group: "Logins" }),

  resetData: field(z.boolean().default(false), {
    title: "Start with sample data",
    help: "Every start replaces all users, tokens and records with the sample data.",
    env: "ACCOUNT_RESET_DATA",
    group: "Data",
  }),
  richDetails: field(z.boolean().default(false), {
    title: "Rich details",
    help: "Adds newsletter and privacypolicy to the details.",
    env: "ACCOUNT_RICH_DETAILS",
    group: "Data",
  }),
  ...httpLimitFields({
    prefix: "ACCOUNT",
    body: { minimum: 1_024, maximum: 16 << 20, standard: 65_536 },
    recordedHelp: "First bytes of each body, always kept for the inspector; “Record credentials” says whether with passwords and tokens.",
  }),
  recordCredentials: recordCredentialsField("account", "passwords, codes and tokens"),
});
export type AccountConfig = z.output<typeof accountConfig>;
