/** Tokens of JSON, also if it is truncated or not quite valid: numbers keep every digit and nothing is lost. */

export type TokenKind = "key" | "string" | "number" | "literal" | "punctuation" | "invalid";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const isSpace = (code: number) => code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0xfeff;
const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
/** `{ } [ ] , :` */
const isPunctuation = (code: number) => code === 0x7b || code === 0x7d || code === 0x5b || code === 0x5d || code === 0x2c || code === colon;
const literals = ["true", "false", "null"];

/**
 * Reads one token after the other, in time that grows with the text alone. By character and not by a regular expression: one that
 * loops over a string of millions of characters overflows its stack.
 */
export class JsonScanner {
  kind: TokenKind = "punctuation";
  start = 0;
  end: number;
  private readonly text: string;

  constructor(text: string, at = 0) {
    this.text = text;
    this.end = at;
  }

  get token(): string {
    return this.text.slice(this.start, this.end);
  }

  /** Code of the token's first character. */
  get first(): number {
    return this.text.charCodeAt(this.start);
  }

  /** Steps to the next token; false at the end of the text. */
  next(): boolean {
    const { text } = this;
    const start = this.pastSpace(this.end);
    this.start = start;
    this.end = start;
    if (start >= text.length) return false;
    const code = text.charCodeAt(start);
    if (isPunctuation(code)) {
      this.kind = "punctuation";
      this.end = start + 1;
    } else if (code === quote) {
      this.end = this.stringEnd(start);
      this.kind = text.charCodeAt(this.pastSpace(this.end)) === colon ? "key" : "string";
    } else {
      const numberEnd = this.numberEnd(start);
      const literal = literals.find((word) => text.startsWith(word, start));
      this.kind = numberEnd > start ? "number" : literal === undefined ? "invalid" : "literal";
      this.end = numberEnd > start ? numberEnd : literal === undefined ? this.invalidEnd(start) : start + literal.length;
    }
    return true;
  }

  private pastSpace(at: number): number {
    let end = at;
    while (isSpace(this.text.charCodeAt(end))) end++;
    return end;
  }

  /** A string that is not closed goes to the end of the text. */
  private stringEnd(start: number): number {
    for (let at = start + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === quote) return at + 1;
      if (code === backslash) at++;
    }
    return this.text.length;
  }

  private digitsEnd(at: number): number {
    let end = at;
    while (isDigit(this.text.charCodeAt(end))) end++;
    return end;
  }

  /** `start` if no number begins there. */
  private numberEnd(start: number): number {
    const { text } = this;
    const whole = text[start] === "-" ? start + 1 : start;
    let end = this.digitsEnd(whole);
    if (end === whole) return start;
    if (text[end] === "." && isDigit(text.charCodeAt(end + 1))) end = this.digitsEnd(end + 1);
    if (text[end] === "e" || text[end] === "E") {
      const exponent = text[end + 1] === "+" || text[end + 1] === "-" ? end + 2 : end + 1;
      if (isDigit(text.charCodeAt(exponent))) end = this.digitsEnd(exponent);
    }
    return end;
  }

  private invalidEnd(start: number): number {
    let end = start + 1;
    while (end < this.text.length) {
      const code = this.text.charCodeAt(end);
      if (isSpace(code) || code === quote || isPunctuation(code)) break;
      end++;
    }
    return end;
  }
}

/** Tokens without the space between them; for short texts, because each is an object. */
export function jsonTokens(text: string): Token[] {
  const tokens: Token[] = [];
  for (const scanner = new JsonScanner(text); scanner.next(); ) tokens.push({ kind: scanner.kind, text: scanner.token });
  return tokens;
}

/** Begins like a JSON object or array, and its first tokens are valid. */
export function looksLikeJson(text: string): boolean {
  const sample = text.slice(0, 4_096).trimStart().slice(0, 400);
  if (!/^[{[]/.test(sample)) return false;
  const tokens = jsonTokens(sample);
  // The last token of the sample may be cut.
  return (
    tokens.slice(0, -1).every((token) => token.kind !== "invalid") && (tokens[0]?.text === "[" || /^("|})$/.test(tokens[1]?.text[0] ?? '"'))
  );
}

/** A number, a string or a literal, and nothing else. */
export function isJsonScalar(text: string): boolean {
  const scanner = new JsonScanner(text);
  if (!scanner.next()) return false;
  const { kind, token } = scanner;
  const isClosed = kind !== "string" || (token.length > 1 && token.endsWith('"'));
  return isClosed && (kind === "string" || kind === "number" || kind === "literal") && !scanner.next();
}
