import type { Token } from "./json-tokens.ts";

export type Line = readonly Token[];

/** Containers of plain values stay on one line up to this many characters. */
const inlineCharacters = 60;
const indentText = "  ";

/** Tokens laid out in lines, two spaces a level; what is missing at the end of a cut body is simply missing. */
export function jsonLines(tokens: readonly Token[]): Line[] {
  const lines: Token[][] = [];
  let line: Token[] = [];
  let depth = 0;

  const breakLine = () => {
    lines.push(line);
    line = depth > 0 ? [space(indentText.repeat(depth))] : [];
  };

  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    switch (token.kind === "punctuation" ? token.text : "value") {
      case "{":
      case "[": {
        const inline = inlineContainer(tokens, index);
        // A body that is one container is laid out even where it is short.
        const isWhole = index === 0 && inline?.end === tokens.length - 1 && inline.line.length > 2;
        if (inline && !isWhole) {
          line.push(...inline.line);
          index = inline.end;
          break;
        }
        line.push(token);
        depth++;
        breakLine();
        break;
      }
      case "}":
      case "]":
        depth = Math.max(0, depth - 1);
        breakLine();
        line.push(token);
        break;
      case ",":
        line.push(token);
        breakLine();
        break;
      case ":":
        line.push(token, space(" "));
        break;
      default:
        line.push(token);
    }
    // Lines of JSON, one value a line.
    if (depth === 0 && index < tokens.length - 1 && !isJoined(tokens[index]!) && !isJoined(tokens[index + 1]!)) breakLine();
  }
  if (line.length > 0) lines.push(line);
  return lines;
}

const isJoined = (token: Token) => token.kind === "punctuation" && (token.text === "," || token.text === ":");
const space = (text: string): Token => ({ kind: "punctuation", text });

/** `{ "sku": "KB-101", "qty": 2 }` where a container holds only plain values and is short. */
function inlineContainer(tokens: readonly Token[], start: number): { line: Token[]; end: number } | undefined {
  const open = tokens[start]!;
  const close = open.text === "{" ? "}" : "]";
  const isObject = open.text === "{";
  const line: Token[] = isObject ? [open, space(" ")] : [open];
  let characters = 2;
  for (let index = start + 1; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (token.kind === "punctuation" && token.text === close) {
      if (index === start + 1) return { line: [open, token], end: index };
      line.push(...(isObject ? [space(" ")] : []), token);
      return { line, end: index };
    }
    if (token.kind === "punctuation" && token.text !== "," && token.text !== ":") return undefined;
    line.push(token);
    if (token.text === "," || token.text === ":") line.push(space(" "));
    characters += token.text.length + 1;
    if (characters > inlineCharacters) return undefined;
  }
  return undefined;
}
