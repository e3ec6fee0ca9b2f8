import { createHash } from "node:crypto";
import type { Node } from "jsonc-parser";
import type { z } from "zod";
import { type ReplyProblem, type ReplyRule, replyFile, replyRule } from "../../../contract/services/grpc-replies.ts";
import { neededText } from "../../core/config/issue-text.ts";
import { countOf } from "../../core/service/quantity.ts";
import { nodeAt, pathText, problemAt, readJson } from "./json-source.ts";

export interface ParsedRule {
  /** From the rule's name, or from its content if it has none: stays the same when the rule is moved, enabled or disabled. */
  readonly key: string;
  readonly rule: ReplyRule;
  readonly node: Node;
}

export interface ParsedReplies {
  readonly text: string;
  readonly root: Node;
  readonly rules: readonly ParsedRule[];
}

export type RepliesResult = ParsedReplies | { readonly problems: readonly ReplyProblem[] };

export interface ReplyLimits {
  /** The most bytes of the file. */
  readonly bytes: number;
  readonly rules: number;
  /** The most steps of all scripts of one rule. */
  readonly steps: number;
}

const mostProblems = 20;

/** The rules of a file; or its problems, with line, column and what is expected there. */
export function parseReplies(text: string, limits: ReplyLimits): RepliesResult {
  const problem = (message: string): RepliesResult => ({ problems: [{ line: 1, column: 1, message }] });
  if (Buffer.byteLength(text) > limits.bytes) return problem(`the file is longer than ${countOf(limits.bytes, "byte")}`);
  // An empty file has no rules.
  const source = readJson(text.trim() === "" ? '{"rules":[]}' : text);
  if ("problems" in source) return { problems: source.problems.map((one) => problemAt(text, one)) };
  const parsed = replyFile.safeParse(source.value);
  if (!parsed.success) return { problems: problemsOf(parsed.error, source.root, text) };
  const { rules } = parsed.data;
  if (rules.length > limits.rules) return problem(`there are more than ${countOf(limits.rules, "rule")}`);
  const keyOf = createKeys();
  return {
    text,
    root: source.root,
    rules: rules.map((rule, index) => ({ key: keyOf(rule), rule, node: nodeAt(source.root, ["rules", index]) })),
  };
}

/** The text of one rule without blanks and comments around it; or its problems, with lines from the start of the text. */
export function parseRuleText(text: string): { readonly text: string } | { readonly problems: readonly ReplyProblem[] } {
  const source = readJson(text);
  if ("problems" in source) return { problems: source.problems.map((one) => problemAt(text, one)) };
  const { root, value } = source;
  const parsed = replyRule.safeParse(value);
  return parsed.success ? { text: text.slice(root.offset, root.offset + root.length) } : { problems: problemsOf(parsed.error, root, text) };
}

function problemsOf({ issues }: z.ZodError, root: Node, text: string): readonly ReplyProblem[] {
  return issues.slice(0, mostProblems).map((issue) => {
    const at = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] as string] : issue.path;
    const { offset } = nodeAt(root, at);
    const place = pathText(issue.path);
    return problemAt(text, { offset, message: `${place === "" ? "" : `${place}: `}${neededText(issue)}` });
  });
}

function createKeys(): (rule: ReplyRule) => string {
  const known = new Set<string>();
  return ({ enabled: _, name, ...content }) => {
    const base = name ?? createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 16);
    let key = base;
    for (let count = 2; known.has(key); count++) key = `${base} #${count}`;
    known.add(key);
    return key;
  };
}
