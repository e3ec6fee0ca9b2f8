import type { DescMessage } from "@bufbuild/protobuf";
import { RE2JS } from "re2js";
import type { Json, ReplyConditions, ReplyTest } from "../../../contract/services/grpc-replies.ts";
import { errorText } from "../../core/service/service-error.ts";
import { type FieldPath, parsePath, pathInType, valueAt } from "./field-path.ts";
import type { OnMisfit } from "./message-template.ts";
import type { FieldSource } from "./message-view.ts";
import { sizeOfPattern } from "./pattern-size.ts";

/** The call that conditions are checked on. */
export interface MatchSubject {
  metadata(name: string): readonly string[];
  /** In order. Called only if a condition is on messages. */
  messages(): readonly FieldSource[];
}

export interface CompiledConditions {
  /** A condition is on messages. */
  readonly readsMessages: boolean;
  /** The conditions on metadata hold. */
  metadataMatches(subject: Pick<MatchSubject, "metadata">): boolean;
  /** Whether the conditions on messages hold, in steps: a client's stream may have thousands of messages. */
  messagesMatch(subject: Pick<MatchSubject, "messages">): Generator<void, boolean>;
}

type Check = (value: Json | undefined) => boolean;

/** A longer text does not match. The time of a match grows with the text and the pattern. */
const longestMatched = 16_384;
const largestProgram = 2_000;
/** A larger estimate is not compiled at all, which would take too long. Of alternatives that begin alike less is made than estimated. */
const largestEstimate = 2 * largestProgram;
/** Reading one, such as \pL, takes up to a third of a millisecond. */
const mostUnicodeClasses = 32;
/** Of all patterns of a rule. An instruction takes some 85 bytes. */
export const mostOfRule = 100_000;

/** The instructions of the patterns of a rule, which are compiled up to `mostOfRule`. */
export class PatternSizes {
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  /** Returns whether this one and those before are not too large together. */
  add(instructions: number): boolean {
    this.#sum += instructions;
    return this.#sum <= mostOfRule;
  }
}

/** In steps of a condition. `request` is the type whose fields the conditions name; without `isClientStream` a rule sees one message. */
export function* compileConditions(
  when: ReplyConditions,
  request: DescMessage,
  isClientStream: boolean,
  onMisfit: OnMisfit,
  patterns: PatternSizes,
): Generator<void, CompiledConditions> {
  function* fields(name: "request" | "anyMessage" | "everyMessage"): Generator<void, readonly (readonly [FieldPath, Check])[]> {
    const checks: (readonly [FieldPath, Check])[] = [];
    for (const [text, test] of Object.entries(when[name] ?? {})) {
      yield;
      const place = ["when", name, text];
      const path = pathOf(text, request, (message) => onMisfit(place, message));
      if (path) checks.push([path, compileTest(test, place, onMisfit, patterns)]);
    }
    return checks;
  }
  const ofLast = yield* fields("request");
  const ofAny = when.anyMessage && (yield* fields("anyMessage"));
  const ofEvery = when.everyMessage && (yield* fields("everyMessage"));
  const ofCount = when.messageCount && compileTest(when.messageCount, ["when", "messageCount"], onMisfit, patterns);
  if (!isClientStream) {
    for (const name of ["anyMessage", "everyMessage", "messageCount"] as const) {
      if (when[name])
        onMisfit(["when", name], "only a method that takes a stream of messages and answers once has this condition: use request");
    }
  }
  const ofMetadata: (readonly [string, Check])[] = [];
  for (const [name, test] of Object.entries(when.metadata ?? {})) {
    yield;
    ofMetadata.push([name.toLowerCase(), compileTest(test, ["when", "metadata", name], onMisfit, patterns)]);
  }
  const fulfils = (message: FieldSource | undefined, checks: readonly (readonly [FieldPath, Check])[]): boolean =>
    checks.every(([path, check]) => check(message?.at(path)));
  const readsMessages = ofLast.length > 0 || ofAny !== undefined || ofEvery !== undefined || ofCount !== undefined;
  return {
    readsMessages,
    metadataMatches: ({ metadata }) =>
      ofMetadata.every(([name, check]) => {
        const values = metadata(name);
        return values.length === 0 ? check(undefined) : values.some(check);
      }),
    *messagesMatch(subject) {
      if (!readsMessages) return true;
      const all = subject.messages();
      if ((ofCount && !ofCount(all.length)) || !fulfils(all.at(-1), ofLast)) return false;
      if (ofAny && !(yield* hasSome(all, (message) => fulfils(message, ofAny)))) return false;
      return !ofEvery || !(yield* hasSome(all, (message) => !fulfils(message, ofEvery)));
    },
  };
}

function* hasSome(messages: readonly FieldSource[], holds: (message: FieldSource) => boolean): Generator<void, boolean> {
  for (const message of messages) {
    yield;
    if (holds(message)) return true;
  }
  return false;
}

function pathOf(text: string, request: DescMessage, onProblem: (message: string) => void): FieldPath | undefined {
  const path = parsePath(text);
  if (!path) {
    onProblem('the path of a field is expected, such as "address.city" or "items[0].id"');
    return undefined;
  }
  try {
    return pathInType(request, path);
  } catch (error) {
    onProblem(errorText(error));
    return undefined;
  }
}

function compileTest(test: ReplyTest, path: readonly PropertyKey[], onMisfit: OnMisfit, patterns: PatternSizes): Check {
  const { equals, matches, contains, exists, greater, less } = test;
  const checks: Check[] = [];
  if (exists !== undefined) checks.push((value) => (value !== undefined && value !== null) === exists);
  if (equals !== undefined) checks.push((value) => isSame(value, equals));
  if (contains !== undefined) checks.push((value) => holds(value, contains));
  if (greater !== undefined) checks.push((value) => order(value, greater) > 0);
  if (less !== undefined) checks.push((value) => order(value, less) < 0);
  if (matches !== undefined) {
    const pattern = compilePattern(matches, patterns);
    if (typeof pattern === "string") onMisfit([...path, "matches"], pattern);
    else checks.push((value) => isScalar(value) && String(value).length <= longestMatched && pattern.matcher(String(value)).find());
  }
  return (value) => checks.every((check) => check(value));
}

/** Returns the problem if the text is not a pattern. */
function compilePattern(text: string, patterns: PatternSizes): RE2JS | string {
  if ((text.match(/\\[pP]/g)?.length ?? 0) > mostUnicodeClasses)
    return `the pattern has more than ${mostUnicodeClasses} classes of Unicode, such as \\pL`;
  const tooLarge = "the pattern repeats too much";
  if (sizeOfPattern(text) > largestEstimate) return tooLarge;
  const tooLargeTogether = "the patterns of this rule are too large together";
  if (patterns.sum > mostOfRule) return tooLargeTogether;
  try {
    const pattern = RE2JS.compile(text);
    const size = pattern.programSize();
    if (size > largestProgram) return tooLarge;
    return patterns.add(size) ? pattern : tooLargeTogether;
  } catch (error) {
    return `a pattern in RE2 syntax is expected: ${errorText(error)}`;
  }
}

const isScalar = (value: Json | undefined): value is string | number | boolean =>
  value !== null && value !== undefined && typeof value !== "object";

/** Numbers of 64 bits are texts in JSON: 7 is the same as "7", and of a field that is a number "7.0" too. */
function isSame(value: Json | undefined, expected: Json): boolean {
  if (value === undefined) return expected === null;
  if (typeof value === "object" || typeof expected === "object") {
    if (value === null || expected === null || typeof value !== "object" || typeof expected !== "object") return value === expected;
    if (Array.isArray(value) !== Array.isArray(expected)) return false;
    const names = Object.keys(value);
    return (
      names.length === Object.keys(expected).length &&
      names.every((name) => Object.hasOwn(expected, name) && isSame(valueAt(value, [name]), valueAt(expected, [name]) as Json))
    );
  }
  if (typeof value === "number" && typeof expected === "string" && /^-?\d/.test(expected)) return value === Number(expected);
  return value === expected || (typeof value !== typeof expected && String(value) === String(expected));
}

function holds(value: Json | undefined, part: Json): boolean {
  if (typeof value === "string") return value.includes(String(part));
  if (Array.isArray(value)) return value.some((entry: Json) => isSame(entry, part));
  return typeof value === "object" && value !== null && Object.hasOwn(value, String(part));
}

/** Compares numbers, 64-bit ones too, durations, and times. Positive if the value is greater; NaN if the two cannot be compared. */
function order(value: Json | undefined, limit: number | string): number {
  if (typeof value !== "number" && typeof value !== "string") return Number.NaN;
  const isWhole = (text: number | string) => /^-?\d{1,40}$/.test(String(text));
  if (isWhole(value) && isWhole(limit)) {
    const difference = BigInt(value) - BigInt(limit);
    return difference > 0n ? 1 : difference < 0n ? -1 : 0;
  }
  const numbers = [value, limit].map(numberOf);
  const [left, right] = numbers.some(Number.isNaN) ? [Date.parse(String(value)), Date.parse(String(limit))] : numbers;
  return (left as number) - (right as number);
}

/** A duration is a number of seconds with an s behind it. */
function numberOf(one: number | string): number {
  if (typeof one === "number") return one;
  return /^-?\d/.test(one) ? Number(one.replace(/s$/, "")) : Number.NaN;
}
