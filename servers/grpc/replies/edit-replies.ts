import { applyEdits, type Edit, modify, type Node, parseTree } from "jsonc-parser";
import { nodeAt } from "./json-source.ts";
import type { ParsedReplies } from "./parse-replies.ts";

/** A file without rules yet. */
const emptyFile = '{\n  "rules": []\n}\n';
const indent = 2;

const formattingOptions = { tabSize: indent, insertSpaces: true, eol: "\n" };

/** The text of a rule without the indentation that it has in the file. */
export function ruleText({ text }: Pick<ParsedReplies, "text">, node: Node): string {
  const column = indentationAt(text, node.offset);
  return text
    .slice(node.offset, node.offset + node.length)
    .split("\n")
    .map((line, index) => (index > 0 && line.slice(0, column).trim() === "" ? line.slice(column) : line))
    .join("\n");
}

/** `rule` is one JSON value. Replaces the rule at `node`, or adds one at the end without it. Comments around it stay. */
export function withRule(parsed: ParsedReplies, rule: string, node: Node | undefined): string {
  const text = parsed.text.trim() === "" ? emptyFile : parsed.text;
  const trimmed = rule.trim();
  if (node) return splice(text, { offset: node.offset, length: node.length, content: indented(trimmed, indentationAt(text, node.offset)) });
  const last = parsed.rules.at(-1)?.node;
  if (last) {
    const column = indentationAt(text, last.offset);
    const content = `,\n${" ".repeat(column)}${indented(trimmed, column)}`;
    return splice(text, { offset: last.offset + last.length, length: 0, content });
  }
  const root = parseTree(text, [], { allowTrailingComma: true }) as Node;
  const list = nodeAt(root, ["rules"]);
  // There may be a comment between the brackets.
  const isOpen = text.slice(list.offset, list.offset + list.length).includes("\n");
  const content = `\n${" ".repeat(2 * indent)}${indented(trimmed, 2 * indent)}${isOpen ? "" : `\n${" ".repeat(indent)}`}`;
  return splice(text, { offset: list.offset + 1, length: 0, content });
}

export const withoutRule = ({ text }: ParsedReplies, index: number): string =>
  applyEdits(text, modify(text, ["rules", index], undefined, { formattingOptions }));

export function withSwitch({ text, rules }: ParsedReplies, index: number, enabled: boolean): string {
  const { node } = rules[index] as ParsedReplies["rules"][number];
  const known = node.children?.find(({ children: [name] = [] }) => name?.value === "enabled")?.children?.[1];
  if (known) return splice(text, { offset: known.offset, length: known.length, content: String(enabled) });
  // A rule without the field is enabled.
  const last = node.children?.at(-1);
  if (enabled || !last) return text;
  const lineStart = text.lastIndexOf("\n", last.offset - 1) + 1;
  const isOnLine = lineStart <= node.offset;
  const content = isOnLine ? ', "enabled": false' : `,\n${" ".repeat(indentationAt(text, last.offset))}"enabled": false`;
  return splice(text, { offset: last.offset + last.length, length: 0, content });
}

/** Moves the text of a rule. Comments between the rules stay where they are. */
export function withOrder({ text, rules }: ParsedReplies, from: number, to: number): string {
  const texts = rules.map(({ node }) => text.slice(node.offset, node.offset + node.length));
  const [moved] = texts.splice(from, 1);
  texts.splice(to, 0, moved as string);
  return rules.reduceRight(
    (changed, { node }, index) => splice(changed, { offset: node.offset, length: node.length, content: texts[index] as string }),
    text,
  );
}

const splice = (text: string, { offset, length, content }: Edit): string => text.slice(0, offset) + content + text.slice(offset + length);

/** Indents every line but the first. JSON strings have no line ends in them. */
const indented = (text: string, column: number): string => text.split("\n").join(`\n${" ".repeat(column)}`);

/** Spaces or tabs at the start of the line. */
function indentationAt(text: string, offset: number): number {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0].length ?? 0;
}
