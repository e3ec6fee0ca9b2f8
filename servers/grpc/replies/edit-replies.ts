import type { Edit } from "jsonc-parser";
import type { Place } from "./divide-file.ts";
import type { ParsedReplies, ParsedRule } from "./parse-replies.ts";

/** A file without rules yet. */
const emptyFile = '{\n  "rules": []\n}\n';
const indent = 2;

/** The text of a rule without the indentation that it has in the file. */
export function ruleText({ text }: Pick<ParsedReplies, "text">, { source, place }: ParsedRule): string {
  const column = indentationAt(text, place.offset);
  return source.text
    .split("\n")
    .map((line, index) => (index > 0 && line.slice(0, column).trim() === "" ? line.slice(column) : line))
    .join("\n");
}

/** `rule` is one JSON value. Replaces the rule at the place, or adds one at the end without it. Comments around it stay. */
export function withRule(parsed: ParsedReplies, rule: string, place: Place | undefined): string {
  const text = parsed.text.trim() === "" ? emptyFile : parsed.text;
  const trimmed = rule.trim();
  if (place) return splice(text, { ...place, content: indented(trimmed, indentationAt(text, place.offset)) });
  const last = parsed.rules.at(-1)?.place;
  if (last) {
    const column = indentationAt(text, last.offset);
    const content = `,\n${" ".repeat(column)}${indented(trimmed, column)}`;
    return splice(text, { offset: last.offset + last.length, length: 0, content });
  }
  const { offset, end } = parsed.list ?? { offset: emptyFile.indexOf("["), end: emptyFile.indexOf("]") };
  // There may be a comment between the brackets.
  const isOpen = text.slice(offset, end).includes("\n");
  const content = `\n${" ".repeat(2 * indent)}${indented(trimmed, 2 * indent)}${isOpen ? "" : `\n${" ".repeat(indent)}`}`;
  return splice(text, { offset: offset + 1, length: 0, content });
}

/** Removes a rule with what is between it and the next one, or, if it is the last, between it and the one before. */
export function withoutRule({ text, list, rules }: ParsedReplies, index: number): string {
  const { place } = rules[index] as ParsedRule;
  const next = rules[index + 1]?.place.offset;
  if (next !== undefined) return splice(text, { offset: place.offset, length: next - place.offset, content: "" });
  const before = rules[index - 1]?.place;
  const offset = before ? before.offset + before.length : place.offset;
  const end = place.offset + place.length;
  // A comma behind the only rule would be behind nothing.
  const isWithComma = !before && text.slice(end, list?.end).trim().startsWith(",");
  return text.slice(0, offset) + text.slice(isWithComma ? list?.end : end);
}

export function withSwitch({ text, rules }: ParsedReplies, index: number, enabled: boolean): string {
  const { source, place } = rules[index] as ParsedRule;
  const { node } = source;
  const known = node.children?.find(({ children: [name] = [] }) => name?.value === "enabled")?.children?.[1];
  const at = (inRule: number) => place.offset + inRule;
  if (known) return splice(text, { offset: at(known.offset), length: known.length, content: String(enabled) });
  // A rule without the field is enabled.
  const last = node.children?.at(-1);
  if (enabled || !last) return text;
  const lineStart = text.lastIndexOf("\n", at(last.offset) - 1) + 1;
  const isOnLine = lineStart <= place.offset;
  const content = isOnLine ? ', "enabled": false' : `,\n${" ".repeat(indentationAt(text, at(last.offset)))}"enabled": false`;
  return splice(text, { offset: at(last.offset + last.length), length: 0, content });
}

/** Moves the text of a rule. Comments between the rules stay where they are. */
export function withOrder({ text, rules }: ParsedReplies, from: number, to: number): string {
  const texts = rules.map(({ source }) => source.text);
  const [moved] = texts.splice(from, 1);
  texts.splice(to, 0, moved as string);
  const pieces: string[] = [];
  let end = 0;
  for (const [index, { place }] of rules.entries()) {
    pieces.push(text.slice(end, place.offset), texts[index] as string);
    end = place.offset + place.length;
  }
  return pieces.join("") + text.slice(end);
}

const splice = (text: string, { offset, length, content }: Edit): string => text.slice(0, offset) + content + text.slice(offset + length);

/** Indents every line but the first. JSON strings have no line ends in them. */
const indented = (text: string, column: number): string => text.split("\n").join(`\n${" ".repeat(column)}`);

/** Spaces or tabs at the start of the line. */
function indentationAt(text: string, offset: number): number {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0].length ?? 0;
}
