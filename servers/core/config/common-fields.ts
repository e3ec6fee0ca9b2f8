import { z } from "zod";
import type { ConfigRows } from "../../../contract/config.ts";
import { logLevels } from "../../../contract/log.ts";
import type { ServiceId } from "../../../contract/service.ts";
import { originList } from "./origin-list.ts";

/** A field's `.meta()`; the form, the command line and the documents are rendered from it. */
export interface FieldMeta {
  readonly title: string;
  readonly help?: string;
  /** Environment variable; without the service's prefix both `<SERVICE>_<NAME>` and `<NAME>` work. */
  readonly env?: string;
  readonly unit?: string;
  /** Heading in the form. */
  readonly group?: string;
  /** Applied by a running service at once. */
  readonly live?: boolean;
  /** Never shown or logged. */
  readonly secret?: boolean;
  /** An address that may hold a password, which alone is hidden; or lines that end with one. */
  readonly address?: boolean;
  /** Lines `name:secret`: the names are shown, the secrets are masked. */
  readonly credentials?: boolean;
  /** Of a list: how the form splits its items into columns. */
  readonly rows?: ConfigRows;
}

export const field = <Type extends z.ZodType>(type: Type, meta: FieldMeta): Type => type.meta({ ...meta }) as Type;

/** A field's type, with its default. */
export const wholeNumber = (minimum: number, maximum: number, standard: number) => z.int().min(minimum).max(maximum).default(standard);

/** A whole number among the limits. */
export const limitField = (minimum: number, maximum: number, standard: number, meta: Omit<FieldMeta, "group">) =>
  field(wholeNumber(minimum, maximum, standard), { ...meta, group: "Limits" });

/** For every service that listens with TLS. */
export const tlsHandshakesField = (prefix: string, group = "Limits") =>
  field(wholeNumber(1, 100_000, 4_096), {
    title: "TLS handshakes",
    help: "Of all clients at a time, some 50 KB each. Beyond it, the address that has most of them loses some.",
    env: `${prefix}_TLS_HANDSHAKES`,
    group,
  });

/** 0 lets the system pick a free port. */
export const portField = (port: number, meta: FieldMeta) =>
  field(z.int().min(0).max(65_535).default(port), { group: "Listening", ...meta });

/** The even port of a pair. 0 lets the system pick a free pair. */
export const portPairField = (port: number, meta: FieldMeta) =>
  field(z.int().min(0).max(65_535).multipleOf(2).default(port), { group: "Listening", ...meta });

/** A list, or a comma-separated text, as in a variable. */
const userLines = z
  .union([z.array(z.string()), z.string().max(1_000_000)])
  .default([])
  .transform((lines) =>
    (typeof lines === "string" ? lines.split(/[,\r\n]+/).map((line) => line.trim()) : lines).filter((line) => line !== ""),
  )
  .refine((lines) => lines.every((line) => /^[^:]+:./.test(line)), "A user is a name, a colon and a password or its hash.");

/** Lines for `loadUsers` or `loadDigestUsers`; the service's `hashSecrets` hashes the passwords that a user enters. */
export const usersField = (meta: Pick<FieldMeta, "env" | "group" | "help">) =>
  field(userLines, {
    title: "Users",
    help: "Saved as hashes. A variable or flag takes name:password, or name:hash as in a mosquitto password file, separated by commas.",
    credentials: true,
    ...meta,
  });

export interface FailedLoginOptions {
  /** Of the environment variables: "ACCOUNT". */
  readonly prefix: string;
  readonly group: string;
  readonly failures: number;
  readonly windowSeconds: number;
  readonly help: string;
}

/** Limit of failed logins; the options hold its defaults. */
export const failedLoginFields = ({ prefix, group, failures, windowSeconds, help }: FailedLoginOptions) => ({
  loginFailures: field(wholeNumber(1, 100_000, failures), { title: "Failed logins", help, env: `${prefix}_LOGIN_FAILURES`, group }),
  loginWindowSeconds: field(wholeNumber(1, 86_400, windowSeconds), {
    title: "Failed logins: window",
    help: "A sliding window.",
    unit: "s",
    env: `${prefix}_LOGIN_WINDOW_SECONDS`,
    group,
  }),
});

const isRedisAddress = (text: string): boolean =>
  text === "" || (/^rediss?:$/.test(URL.parse(text)?.protocol ?? "") && URL.parse(text)?.host !== "");

/** The address of a Redis that several instances share; empty for none. */
export const redisAddressField = (meta: Pick<FieldMeta, "title" | "help" | "env" | "group">) =>
  field(z.string().max(1_000).refine(isRedisAddress, "Enter redis://host:6379, rediss:// for TLS, or nothing.").default(""), {
    address: true,
    ...meta,
  });

/** How much of each message is recorded; `what` names a message of the service. */
export const recordedMessageField = (id: ServiceId, what: string, help = `Bytes of each ${what} kept for the inspector.`) =>
  field(wholeNumber(0, 1 << 20, 8 << 10), {
    title: "Recorded message",
    help,
    unit: "B",
    env: `${id.toUpperCase()}_RECORDED_MESSAGE_BYTES`,
    group: "Recorder",
  });

/** As HTTP's "Recorded rest of bodies" (`http-fields.ts`). */
export const recordedRateField = (id: ServiceId) =>
  field(wholeNumber(0, 64 << 20, 2 << 20), {
    title: "Recorded rest of messages",
    help: "Bytes a second that are kept beyond the first ones, up to 256 KiB of each message; 0 keeps the first ones only.",
    unit: "B/s",
    env: `${id.toUpperCase()}_RECORDED_MESSAGE_RATE`,
    group: "Recorder",
  });

/** For a service that hides credentials before they are kept. Others keep them as they came, and mask them where they are shown. */
export const recordCredentialsField = (id: ServiceId, what: string) =>
  field(z.boolean().default(false), {
    title: "Record credentials",
    help: `Keeps ${what} as clients send them, for the inspector. The log never has them.`,
    env: `${id.toUpperCase()}_RECORD_CREDENTIALS`,
    group: "Recorder",
  });

/** Most seconds that a client may ask a service to wait. */
export const longestDelayField = (id: ServiceId, seconds: number, help: string) =>
  field(z.number().min(0).max(3_600).default(seconds), {
    title: "Longest delay",
    help,
    unit: "s",
    env: `${id.toUpperCase()}_DELAY_SECONDS`,
    group: "Limits",
  });

/** `access` completes "Origins whose pages may …". */
export const corsOriginsField = (id: ServiceId, access: string) =>
  field(originList.default(["*"]), {
    title: "CORS origins",
    help: `Origins whose pages may ${access}; * is any, without credentials.`,
    env: `${id.toUpperCase()}_CORS_ORIGINS`,
    group: "Access",
  });

/** The fields that every service has. */
export const commonFields = (id: ServiceId) => ({
  openToLan: field(z.boolean().default(false), {
    title: "Open to the LAN",
    help: "Listen on every address of this computer instead of loopback only.",
    env: `${id.toUpperCase()}_LAN`,
    group: "Listening",
  }),
  logLevel: field(z.enum(logLevels).default("info"), {
    title: "Log level",
    help: "Lines below this level are not kept.",
    env: "LOG_LEVEL",
    group: "Log",
    live: true,
  }),
  processMemoryBytes: field(wholeNumber(128 << 20, 2 ** 40, 2 ** 31), {
    title: "Memory of the process",
    help: "The last resort, of objects and buffers: above three quarters, clients with much to do wait for V8 to collect; above it those that use most are disconnected. It must be above all other limits of memory together.",
    unit: "B",
    env: `${id.toUpperCase()}_PROCESS_MEMORY_BYTES`,
    group: "Process",
  }),
});
