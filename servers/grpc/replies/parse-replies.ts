import { createHash } from "node:crypto";
import type { Node } from "jsonc-parser";
import { z } from "zod";
import { type ReplyProblem, type ReplyRule, replyRule } from "../../../contract/services/grpc-replies.ts";
import { neededText } from "../../core/config/issue-text.ts";
import { countOf } from "../../core/service/quantity.ts";
import { type DividedFile, divideFile, type Place } from "./divide-file.ts";
import { mostProblems, nodeAt, pathText, problemAt, readJson, type SourceProblem } from "./json-source.ts";

/** What the text of a rule says, wherever it is in a file. */
export interface RuleSource {
  readonly text: string;
  /** Its offsets are from the start of the text. */
  readonly node: Node;
  readonly rule: ReplyRule;
  /** The rule's name, or a hash of its content if it has none. */
  readonly base: string;
}

export interface ParsedRule {
  /** From the rule's name, or from its content if it has none: stays the same when the rule is moved, enabled or disabled. */
  readonly key: string;
  readonly source: RuleSource;
  /** In the text of the file. */
  readonly place: Place;
}

export interface ParsedReplies {
  readonly text: string;
  /** The brackets of the list of rules; undefined in an empty file. */
  readonly list: { readonly offset: number; readonly end: number } | undefined;
  readonly rules: readonly ParsedRule[];
  /** By their texts. */
  readonly sources: ReadonlyMap<string, RuleSource>;
}

export type RepliesResult = ParsedReplies | { readonly problems: readonly ReplyProblem[] };

export interface ReplyLimits {
  /** The most bytes of the file. */
  readonly bytes: number;
  readonly rules: number;
  /** The most steps of all scripts of one rule. */
  readonly steps: number;
}

const fileFrame = z.strictObject({ rules: z.array(z.unknown()) });

export const noReplies: ParsedReplies = { text: "", list: undefined, rules: [], sources: new Map() };

/**
 * The rules of a file; or its problems, with line, column and what is expected there. In steps of a rule, and rules whose texts are among the known ones are
 * not read again: a file may have thousands.
 */
export function* parseReplies(text: string, limits: ReplyLimits, known: ReadonlyMap<string, RuleSource>): Generator<void, RepliesResult> {
  const problem = (message: string): RepliesResult => ({ problems: [{ line: 1, column: 1, message }] });
  if (Buffer.byteLength(text) > limits.bytes) return problem(`the file is longer than ${countOf(limits.bytes, "byte")}`);
  if (text.trim() === "") return { ...noReplies, text };
  const file = yield* divideFile(text, limits.rules);
  if (!("frame" in file)) return { problems: [problemAt(text, file)] };
  yield;
  const frame = yield* readFrame(file);
  const sources = new Map<string, RuleSource>();
  const rules: ParsedRule[] = [];
  const keyOf = createKeys();
  const syntax = [...frame.syntax];
  const format = [...frame.format];
  for (const [index, place] of file.rules.entries()) {
    yield;
    const own = text.slice(place.offset, place.offset + place.length);
    const source = sources.get(own) ?? known.get(own) ?? (yield* readRule(own, ["rules", index]));
    if ("problems" in source) {
      const found = source.problems.map(({ offset, message }) => ({ offset: place.offset + offset, message }));
      (source.isSyntax ? syntax : format).push(...found);
    } else if (syntax.length + format.length === 0) {
      sources.set(own, source);
      rules.push({ key: keyOf(source.base), source, place });
    }
  }
  // What is not JSON is told first.
  const problems = (syntax.length > 0 ? syntax : format).sort((one, other) => one.offset - other.offset);
  if (problems.length > 0) return { problems: problems.slice(0, mostProblems).map((one) => problemAt(text, one)) };
  return { text, list: frame.list, rules, sources };
}

interface ReadFrame {
  readonly syntax: readonly SourceProblem[];
  readonly format: readonly SourceProblem[];
  readonly list?: ParsedReplies["list"];
}

function* readFrame({ frame, offsetOf }: DividedFile): Generator<void, ReadFrame> {
  const inFile = ({ offset, message }: SourceProblem) => ({ offset: offsetOf(offset), message });
  const source = yield* readJson(frame);
  if ("problems" in source) return { syntax: source.problems.map(inFile), format: [] };
  const { root, value } = source;
  const parsed = fileFrame.safeParse(value);
  if (!parsed.success) return { syntax: [], format: problemsOf(parsed.error, root, []).map(inFile) };
  const { offset, length } = nodeAt(root, ["rules"]);
  return { syntax: [], format: [], list: { offset: offsetOf(offset), end: offsetOf(offset + length - 1) } };
}

interface RuleProblems {
  readonly isSyntax: boolean;
  readonly problems: readonly SourceProblem[];
}

/** `at` is where the rule is in the file. */
function* readRule(text: string, at: readonly PropertyKey[]): Generator<void, RuleSource | RuleProblems> {
  const json = yield* readJson(text);
  if ("problems" in json) return { isSyntax: true, problems: json.problems };
  const { root, value } = json;
  yield;
  const parsed = replyRule.safeParse(value);
  if (!parsed.success) return { isSyntax: false, problems: problemsOf(parsed.error, root, at) };
  yield;
  return { text, node: root, rule: parsed.data, base: baseOf(parsed.data) };
}

/** The text of one rule without blanks and comments around it; or its problems, with lines from the start of the text. */
export function* parseRuleText(text: string): Generator<void, { readonly text: string } | { readonly problems: readonly ReplyProblem[] }> {
  const source = yield* readRule(text, []);
  if ("problems" in source) return { problems: source.problems.map((one) => problemAt(text, one)) };
  const { offset, length } = source.node;
  return { text: text.slice(offset, offset + length) };
}

function problemsOf({ issues }: z.ZodError, root: Node, within: readonly PropertyKey[]): readonly SourceProblem[] {
  return issues.slice(0, mostProblems).map((issue) => {
    const at = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] as string] : issue.path;
    const { offset } = nodeAt(root, at);
    const place = pathText([...within, ...issue.path]);
    return { offset, message: `${place === "" ? "" : `${place}: `}${neededText(issue)}` };
  });
}

const baseOf = ({ enabled: _, name, ...content }: ReplyRule): string =>
  name ?? createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 16);

function createKeys(): (base: string) => string {
  const known = new Set<string>();
  /** How often each was asked for: a thousand rules may be the same. */
  const counts = new Map<string, number>();
  return (base) => {
    let count = counts.get(base) ?? 1;
    let key = count === 1 ? base : `${base} #${count}`;
    while (known.has(key)) key = `${base} #${++count}`;
    counts.set(base, count);
    known.add(key);
    return key;
  };
}
