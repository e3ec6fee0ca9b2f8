/** The file of reply rules of the gRPC service, what the page shows of it, and the actions with it. docs/grpc-replies.md explains the format. */
import { z } from "zod";
import { operation } from "../operation.ts";

/** A JSON value of the file. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const json = z.custom<Json>((value) => value !== undefined);
const longestTimeMs = 86_400_000;
const timeForm = /^(-?)(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)$/;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of "250ms", "1.5s", "2m", "1h"; NaN for anything else. */
export function timeMs(text: string): number {
  const [, sign, number, unit = ""] = timeForm.exec(text) ?? [];
  return number === undefined ? Number.NaN : (sign === "-" ? -1 : 1) * Number(number) * (unitMs[unit] ?? 0);
}

const time = z
  .string()
  .refine((text) => timeMs(text) >= 0 && timeMs(text) <= longestTimeMs, 'A time is written with its unit, up to 24h: "250ms", "2s"');
const timeStep = z
  .string()
  .refine((text) => Math.abs(timeMs(text)) <= longestTimeMs, 'A step is a time with its unit and may be negative: "-500ms"');
const releaseName = z.string().min(1).max(100);

const limit = z.union([z.number(), z.string()], "A number or a time is expected");

/** Tests of one value; all of them must hold. */
const test = z
  .strictObject({
    equals: json.optional(),
    /** RE2 syntax: it takes linear time. */
    matches: z.string().max(500).optional(),
    /** Part of a text, an entry of a list, or a key of a map. */
    contains: json.optional(),
    exists: z.boolean().optional(),
    greater: limit.optional(),
    less: limit.optional(),
  })
  .refine((tests) => Object.keys(tests).length > 0, "A condition has equals, matches, contains, exists, greater or less");
export type ReplyTest = z.output<typeof test>;

/** Any value but an object is short for `equals`. */
const condition = z
  .unknown()
  .transform((value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : { equals: value }))
  .pipe(test);

/** By the path of a field, such as "address.city" or "items[0].id". */
const fieldConditions = z.record(z.string().min(1).max(500), condition);

const conditions = z.strictObject({
  /** The request; of a client's stream the last message; of a stream in both directions the message that is answered. */
  request: fieldConditions.optional(),
  /** Of a client's stream: one of its messages meets all of these. */
  anyMessage: fieldConditions.optional(),
  /** Of a client's stream: each of its messages meets all of these. */
  everyMessage: fieldConditions.optional(),
  /** How many messages a client's stream has. */
  messageCount: condition.optional(),
  metadata: z.record(z.string().min(1).max(200), condition).optional(),
});
export type ReplyConditions = z.output<typeof conditions>;

const metadata = z.record(
  z
    .string()
    .regex(
      /^(?!grpc-|content-type$)[0-9a-z_.-]{1,200}$/,
      "A metadata name is in lower case, is not content-type and does not begin with grpc-",
    ),
  z.union([z.string(), z.array(z.string())], "A string or a list of strings is expected"),
);

const code = z.union([z.string(), z.int().min(0).max(16)], 'A status is 0 to 16, or a name such as "NOT_FOUND"');
const status = z.union(
  [
    z.string(),
    z.int().min(0).max(16),
    z.strictObject({
      code,
      message: z.string().optional(),
      /** As in `x-backlot-details`: {"@type": "RetryInfo", "retryDelay": "2s"}. */
      details: z.array(json).max(100).optional(),
    }),
  ],
  'A status is 0 to 16, a name such as "NOT_FOUND", or an object with code, message and details',
);
export type ReplyStatus = z.output<typeof status>;

export const endlessRepeat = "until the client leaves";

const kindsOfStep = ["message", "messages", "pause", "waitFor", "release", "repeat", "status"] as const;

const step = z
  .strictObject({
    message: json.optional(),
    messages: z.array(json).optional(),
    pause: time.optional(),
    waitFor: releaseName.optional(),
    release: releaseName.optional(),
    repeat: z
      .union([z.int().min(1).max(1_000_000_000), z.literal(endlessRepeat)], `A number from 1 or "${endlessRepeat}" is expected`)
      .optional(),
    get steps(): z.ZodOptional<z.ZodArray<z.ZodType<ReplyStep>>> {
      return z.array(step as z.ZodType<ReplyStep>).optional();
    },
    status: status.optional(),
  })
  .superRefine((value, context) => {
    const kinds = kindsOfStep.filter((kind) => value[kind] !== undefined);
    if (kinds.length !== 1) context.addIssue(`A step has one of ${kindsOfStep.join(", ")}`);
    else if ((kinds[0] === "repeat") !== (value.steps !== undefined)) context.addIssue("A step with repeat has steps, and no other has");
  });

/** Has exactly one of its fields; `repeat` has `steps` too. */
export interface ReplyStep {
  readonly message?: Json | undefined;
  readonly messages?: Json[] | undefined;
  readonly pause?: string | undefined;
  readonly waitFor?: string | undefined;
  readonly release?: string | undefined;
  readonly repeat?: number | typeof endlessRepeat | undefined;
  readonly steps?: ReplyStep[] | undefined;
  readonly status?: ReplyStatus | undefined;
}

export const replyRule = z.strictObject({
  name: z.string().min(1).max(100).optional(),
  /** "package.Service/Method", or "package.Service/*" for all methods of a service. */
  method: z
    .string()
    .max(500)
    .regex(/^\w[\w.]*\/(?:\w+|\*)$/, 'A method is "package.Service/Method", or "package.Service/*" for all methods of a service'),
  enabled: z.boolean().default(true),
  when: conditions.default({}),
  /** Answers this many times; then the next matching rule does. */
  times: z.int().min(1).max(1_000_000_000).optional(),
  /** Answers only every Nth match: with 3 the third, the sixth and so on. */
  every: z.int().min(1).max(1_000_000_000).optional(),
  /** Releases the calls that wait for this name, as soon as the rule matches. */
  release: releaseName.optional(),
  /** Waits until this name is released, before the delay. */
  waitFor: releaseName.optional(),
  /** The step is added after each answer, down to `least`. */
  delay: z
    .union(
      [time, z.strictObject({ from: time, step: timeStep, least: time.optional() })],
      'A delay is a time with its unit, such as "250ms", or an object with from and step',
    )
    .optional(),
  headers: metadata.optional(),
  trailers: metadata.optional(),
  reply: json.optional(),
  stream: z.array(step as z.ZodType<ReplyStep>).optional(),
  status: status.optional(),
});
export type ReplyRule = z.output<typeof replyRule>;

export interface ReplyProblem {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** "rules[2].reply.id: a number is needed" */
  readonly message: string;
}

export interface ReplyRuleView {
  /** From the rule's name, or from its content if it has none: stays the same when the rule is moved, enabled or disabled. */
  readonly key: string;
  readonly name: string;
  readonly method: string;
  readonly enabled: boolean;
  /** In short: "name = Ada". */
  readonly when: string;
  /** In short: "{"message":"Hi"}", "3 steps", "UNAVAILABLE". */
  readonly answer: string;
  /** Why it does not answer although it is enabled. */
  readonly problem?: ReplyProblem;
}

export interface ReplyCount {
  readonly key: string;
  readonly matched: number;
  /** How many of the matches it answered: at most `times`, only `every` Nth, and none whose call had ended before. */
  readonly answered: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
}

/** A call that waits for a release. */
export interface WaitingCall {
  readonly id: number;
  readonly name: string;
  /** Row of the call. */
  readonly row: number;
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** `view/grpc`, by name. */
export interface GrpcReplyViews {
  readonly replies: {
    /** Absolute path of the rules file. */
    readonly file: string;
    /** Named by GRPC_REPLIES. */
    readonly isConfigured: boolean;
    /** Counts the texts of the file that were read. */
    readonly revision: number;
    /** Why the file cannot be read: the rules are those of its last valid text. */
    readonly problems: readonly ReplyProblem[];
    readonly rules: readonly ReplyRuleView[];
  };
  readonly replyCounts: { readonly counts: readonly ReplyCount[] };
  readonly waitingCalls: { readonly calls: readonly WaitingCall[] };
}

export interface ReplyTexts {
  readonly revision: number;
  /** Of the whole file. */
  readonly text: string;
  /** The text of each rule in the file. */
  readonly rules: readonly { readonly key: string; readonly text: string }[];
}

const revision = z.int().min(0);
const key = z.string().min(1).max(200);
const text = z.string().max(16 << 20);
const statusParams = z.strictObject({
  code: z.int().min(0).max(16),
  message: z.string().max(10_000).default(""),
  /** Each as JSON, as in `x-backlot-details`. */
  details: z.array(z.string().max(100_000)).max(100).default([]),
});

/** What can be sent into an open call. */
export const pushed = z.discriminatedUnion("kind", [
  /** JSON of the method's response type. */
  z.strictObject({ kind: z.literal("message"), json: z.string().max(16 << 20) }),
  z.strictObject({ kind: z.literal("status"), status: statusParams }),
  /** Ends the call with OK. */
  z.strictObject({ kind: z.literal("end") }),
]);
export type Pushed = z.input<typeof pushed>;

export const grpcReplyActions = {
  "replies.read": operation<ReplyTexts>()(z.strictObject({})),
  /** The problems of the text of the file, or of one rule, by its own lines: syntax, format, and what does not fit the types of a method. */
  "replies.check": operation<{ readonly problems: readonly ReplyProblem[] }>()(z.strictObject({ of: z.enum(["file", "rule"]), text })),
  /** Replaces the text of the file; refused with line and column if it is broken. */
  "replies.write": operation<null>()(z.strictObject({ revision, text })),
  /** Replaces the rule whose text was `before`, or adds one at the end without a `key`. Answers with the key of the saved rule, which may be new. */
  "reply.save": operation<{ readonly key: string }>()(z.strictObject({ key: key.optional(), before: text.optional(), text })),
  "reply.remove": operation<null>()(z.strictObject({ key })),
  /** To a place among the rules, from 0. */
  "reply.move": operation<null>()(z.strictObject({ key, to: z.int().min(0) })),
  "reply.enable": operation<null>()(z.strictObject({ key, enabled: z.boolean() })),
  /** Counts of one rule, or of all, begin at 0 again. */
  "reply.reset": operation<null>()(z.strictObject({ key: key.optional() })),
  /** One waiting call, or all that wait for a name. */
  "reply.release": operation<{ readonly released: number }>()(z.strictObject({ name: releaseName, id: z.int().optional() })),
  /** Sends into an open call of a method that streams its answers. */
  "call.push": operation<null>()(z.strictObject({ row: z.int(), push: pushed })),
};
