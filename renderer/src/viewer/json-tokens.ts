/** JSON as it stands, also when it was cut off or is not quite JSON: numbers keep every digit and nothing is lost. */

export type TokenKind = "key" | "string" | "number" | "literal" | "punctuation" | "invalid";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const pattern = /\s+|"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]|[^\s"{}[\],:]+/gsy;

/** Tokens without the space between them. */
export function jsonTokens(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [part] of text.matchAll(pattern)) {
    if (part.trim() === "") continue;
    if (part === ":") {
      const last = tokens.at(-1);
      if (last?.kind === "string") tokens[tokens.length - 1] = { kind: "key", text: last.text };
    }
    tokens.push({ kind: kindOf(part), text: part });
  }
  return tokens;
}

function kindOf(part: string): TokenKind {
  const first = part[0]!;
  if (first === '"') return "string";
  if ("{}[],:".includes(first)) return "punctuation";
  if (part === "true" || part === "false" || part === "null") return "literal";
  return /^-?\d/.test(part) ? "number" : "invalid";
}

/** Begins like a JSON object or array, and its first tokens are valid. */
export function looksLikeJson(text: string): boolean {
  const start = text.trimStart().slice(0, 400);
  if (!/^[{[]/.test(start)) return false;
  const tokens = jsonTokens(start);
  // The last token of the sample may be cut.
  return (
    tokens.slice(0, -1).every((token) => token.kind !== "invalid") && (tokens[0]?.text === "[" || /^("|})$/.test(tokens[1]?.text[0] ?? '"'))
  );
}
