import { createScanner } from "jsonc-parser";
import { countOf } from "../../core/service/quantity.ts";
import { deepest, type SourceProblem, tokensOfStep, tooDeep } from "./json-source.ts";

export interface Place {
  readonly offset: number;
  readonly length: number;
}

export interface DividedFile {
  /** The text of the file without what is in its rules: each is a 0. It has no comments. */
  readonly frame: string;
  readonly rules: readonly Place[];
  /** Where something in the frame is in the text of the file. */
  offsetOf(inFrame: number): number;
}

/** Of the frame, beside its rules and their commas. */
const mostTokens = 1_000;

/**
 * Finds the rules in the text of a file without reading them. A value of another field than `rules` is a 0 too: there is no such field. Returns a problem where
 * there are more rules or levels than are allowed.
 */
export function* divideFile(text: string, mostRules: number): Generator<void, DividedFile | SourceProblem> {
  const scanner = createScanner(text, false);
  const rules: Place[] = [];
  const frame: string[] = [];
  const offsets: number[] = [];
  const add = (token: string, offset: number) => {
    frame.push(token);
    offsets.push(offset);
  };
  /** Of objects and lists that are open. */
  let depth = 0;
  /** The value that is left out. */
  let hidden: { readonly offset: number; readonly depth: number } | undefined;
  let name = "";
  const hide = (offset: number, end: number) => {
    add("0", offset);
    if (depth === 2) rules.push({ offset, length: end - offset });
    hidden = undefined;
  };
  for (let tokens = 1; scanner.getPosition() < text.length; tokens++) {
    scanner.scan();
    if (tokens % tokensOfStep === 0) yield;
    const offset = scanner.getTokenOffset();
    const end = offset + scanner.getTokenLength();
    const first = text[offset] ?? "";
    const isOpening = first === "{" || first === "[";
    const isClosing = first === "}" || first === "]";
    if (isOpening) depth++;
    else if (isClosing && depth > 0) depth--;
    if (depth > deepest) return tooDeep(offset);
    if (hidden) {
      if (isClosing && depth === hidden.depth) hide(hidden.offset, end);
    } else if (isBlank(first) && scanner.getTokenError() === 0) continue;
    else if (isOpening && !(depth === 1 && first === "{") && !(depth === 2 && first === "[" && name === '"rules"')) {
      hidden = { offset, depth: depth - 1 };
    } else if (depth === 2 && !isOpening && first !== "," && first !== ":" && first !== "/") hide(offset, end);
    else {
      const token = text.slice(offset, end);
      if (depth === 1 && first === '"') name = token;
      add(token, offset);
    }
    if (rules.length > mostRules) return { offset: 0, message: `there are more than ${countOf(mostRules, "rule")}` };
    if (frame.length > 2 * mostRules + mostTokens)
      return { offset, message: "a file of reply rules is one object with the list rules, and nothing else" };
  }
  if (hidden) {
    depth = hidden.depth;
    hide(hidden.offset, text.length);
  }
  return {
    frame: frame.join("\n"),
    rules,
    offsetOf(inFrame) {
      let start = 0;
      for (const [index, token] of frame.entries()) {
        if (inFrame < start + token.length) return (offsets[index] as number) + Math.max(0, inFrame - start);
        start += token.length + 1;
      }
      return text.length;
    },
  };
}

/** Of a token that is white space or a comment. */
const isBlank = (first: string): boolean => first === " " || first === "\t" || first === "\n" || first === "\r" || first === "/";
