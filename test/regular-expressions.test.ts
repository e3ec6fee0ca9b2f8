import { analyse } from "scslre";
import { parseAst } from "vite";
import { expect, it } from "vitest";
import { readSources } from "./support/source-files.ts";

interface Expression {
  readonly pattern: string;
  readonly flags: string;
}

/** All literals of regular expressions below a node of a syntax tree. */
function* expressionsIn(node: unknown): Generator<Expression> {
  if (typeof node !== "object" || node === null) return;
  if ("regex" in node) yield node.regex as Expression;
  for (const child of Object.values(node)) yield* expressionsIn(child);
}

/** Whether the time grows faster than the text: a text of 15,000 characters would take seconds. */
const isSlow = ({ pattern, flags }: Expression): boolean => analyse({ source: pattern, flags }).reports.length > 0;

it("[BL-417] no regular expression takes more than linear time", () => {
  const slow: string[] = [];
  for (const { name, text } of readSources(["contract", "servers", "electron", "renderer"])) {
    const program = parseAst(text, { lang: name.endsWith("x") ? "tsx" : "ts" });
    for (const expression of expressionsIn(program))
      if (isSlow(expression)) slow.push(`${name}: /${expression.pattern}/${expression.flags}`);
  }
  expect(slow).toEqual([]);
});
