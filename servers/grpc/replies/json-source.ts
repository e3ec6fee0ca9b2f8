import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Json, ReplyProblem } from "../../../contract/services/grpc-replies.ts";

/** Where something is wrong in a text. */
export interface SourceProblem {
  readonly offset: number;
  readonly message: string;
}

export type JsonSource = { readonly root: Node; readonly value: Json } | { readonly problems: readonly SourceProblem[] };

/** Between two looks at the clock. */
export const tokensOfStep = 64;
/** Objects and lists within each other. */
export const deepest = 100;
export const mostProblems = 20;

/** Reads JSON that may have comments and commas after the last entry. In a few steps: a text may have ten thousand values. */
export function* readJson(text: string): Generator<void, JsonSource> {
  const deep = yield* tooDeepAt(text);
  yield;
  if (deep !== undefined) return { problems: [tooDeep(deep)] };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  const problems: SourceProblem[] = errors.map(({ error, offset }) => ({
    offset,
    message: expected[printParseErrorCode(error)] ?? "this is not JSON",
  }));
  yield;
  if (root && problems.length === 0) checkNode(root, problems);
  yield;
  if (!root && problems.length === 0) problems.push({ offset: 0, message: expected.ValueExpected as string });
  return root && problems.length === 0 ? { root, value: jsonOf(root) } : { problems: problems.slice(0, mostProblems) };
}

const expected: Readonly<Record<string, string>> = {
  InvalidSymbol: "this word is not JSON: a string needs double quotes",
  InvalidNumberFormat: "a number is expected",
  PropertyNameExpected: "the name of a field is expected, in double quotes",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma is expected",
  CloseBraceExpected: "a closing brace } is expected",
  CloseBracketExpected: "a closing bracket ] is expected",
  EndOfFileExpected: "nothing may follow here",
  UnexpectedEndOfComment: "the end of the comment is expected: */",
  UnexpectedEndOfString: 'the closing quote of the string is missing: "',
  UnexpectedEndOfNumber: "a number is expected",
  InvalidUnicode: "four hexadecimal digits are expected after \\u",
  InvalidEscapeCharacter: "there is no such escape: write a backslash in a string twice",
  InvalidCharacter: "a string must not have control characters: write an escape such as \\n",
};

export const tooDeep = (offset: number): SourceProblem => ({
  offset,
  message: `there are more than ${deepest} objects and lists within each other`,
});

/** The parser is recursive, so levels are counted first. */
function* tooDeepAt(text: string): Generator<void, number | undefined> {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let tokens = 1; scanner.getPosition() < text.length; tokens++) {
    scanner.scan();
    if (tokens % tokensOfStep === 0) yield;
    const offset = scanner.getTokenOffset();
    const first = text[offset];
    if (first === "{" || first === "[") depth++;
    else if (first === "}" || first === "]") depth--;
    if (depth > deepest) return offset;
  }
  return undefined;
}

/** Finds what JSON allows, but would not have the effect that its author expects. */
function checkNode(node: Node, problems: SourceProblem[]): void {
  if (node.type === "number" && Number.isInteger(node.value) && !Number.isSafeInteger(node.value)) {
    problems.push({ offset: node.offset, message: "a number of more than 15 digits is not exact: write it as a string" });
  }
  if (node.type === "object") {
    const names = new Set<string>();
    for (const { children: [name] = [] } of node.children ?? []) {
      if (name && names.has(name.value))
        problems.push({ offset: name.offset, message: `there are two fields ${JSON.stringify(name.value)}` });
      names.add(name?.value);
    }
  }
  for (const child of node.children ?? []) checkNode(child, problems);
}

function jsonOf(node: Node): Json {
  switch (node.type) {
    case "array":
      return (node.children ?? []).map(jsonOf);
    case "object": {
      const value = {};
      for (const { children: [name, content] = [] } of node.children ?? []) {
        // An assignment to __proto__ would not make a field.
        if (name && content)
          Object.defineProperty(value, name.value, { value: jsonOf(content), enumerable: true, writable: true, configurable: true });
      }
      return value;
    }
    default:
      return node.value as Json;
  }
}

/** The node at a path, or the nearest one around it. */
export function nodeAt(root: Node, path: readonly PropertyKey[]): Node {
  let node = root;
  for (const part of path) {
    const next =
      node.type === "array"
        ? node.children?.[Number(part)]
        : node.children?.find(({ children: [name] = [] }) => name?.value === part)?.children?.[1];
    if (!next) return node;
    node = next;
  }
  return node;
}

/** "rules[2].reply.items" */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    if (!/^[\w@-]+$/.test(String(part))) return `${text}[${JSON.stringify(String(part))}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");

/** Line and column of an offset in a text. */
export const problemAt = (text: string, problem: SourceProblem): ReplyProblem => problemsIn(text)(problem);

/** The same of many offsets: where they ascend, the text is read once. */
export function problemsIn(text: string): (problem: SourceProblem) => ReplyProblem {
  let line = 1;
  let lineStart = 0;
  return ({ offset, message }) => {
    if (offset < lineStart) {
      line = 1;
      lineStart = 0;
    }
    for (let end = text.indexOf("\n", lineStart); end >= 0 && end < offset; end = text.indexOf("\n", lineStart)) {
      line++;
      lineStart = end + 1;
    }
    return { line, column: offset - lineStart + 1, message };
  };
}
