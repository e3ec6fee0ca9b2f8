export interface Token {
  readonly kind: "name" | "integer" | "float" | "string" | "symbol" | "end";
  /** As written; of a string, what it says: one character for each byte. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

const blanks = /[\s\uFEFF]+/y;
/** A number may not run into a name. */
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const float = /(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[fF]?/y;
const integer = /0[xX][0-9a-fA-F]+|\d+/y;
const quoted = /"(?:[^"\\\n\0]|\\[^\n])*"|'(?:[^'\\\n\0]|\\[^\n])*'/y;

/** The tokens of a .proto file, ending with one of kind "end". Throws a ProtoError. */
export function readTokens(file: string, text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let lineAt = 0;
  const place = () => ({ line, column: at - lineAt + 1 });
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const move = (passed: string) => {
    for (let index = passed.indexOf("\n"); index >= 0; index = passed.indexOf("\n", index + 1)) {
      line++;
      lineAt = at + index + 1;
    }
    at += passed.length;
  };
  /** Blanks and comments. */
  const skip = () => {
    for (;;) {
      const passed = match(blanks) ?? commentAt(text, at);
      if (passed === undefined) return;
      move(passed);
    }
  };
  for (;;) {
    skip();
    if (at >= text.length) break;
    const start = place();
    if (text.startsWith("/*", at)) throw new ProtoError(file, "the comment is not closed", start);
    const word = match(name);
    const number = word === undefined ? (match(float) ?? match(integer)) : undefined;
    const literal = word === undefined && number === undefined ? match(quoted) : undefined;
    if (word !== undefined) tokens.push({ kind: "name", text: word, ...start });
    else if (number !== undefined) {
      move(number);
      if (match(name) !== undefined) throw new ProtoError(file, "a blank is missing after the number", place());
      tokens.push({ kind: /^(?:0[xX]|\d+$)/.test(number) ? "integer" : "float", text: number, ...start });
      continue;
    } else if (literal !== undefined) tokens.push({ kind: "string", text: unquoted(literal.slice(1, -1)), ...start });
    else {
      const symbol = text[at] as string;
      if (symbol === '"' || symbol === "'") throw new ProtoError(file, "the text is not closed on its line", start);
      if (!"{}[]()<>=;:,.-+/".includes(symbol)) throw new ProtoError(file, `${JSON.stringify(symbol)} has no meaning here`, start);
      tokens.push({ kind: "symbol", text: symbol, ...start });
      move(symbol);
      continue;
    }
    move(word ?? literal ?? "");
  }
  tokens.push({ kind: "end", text: "", ...place() });
  return tokens;
}

function commentAt(text: string, at: number): string | undefined {
  if (text.startsWith("//", at)) {
    const end = text.indexOf("\n", at);
    return text.slice(at, end < 0 ? text.length : end);
  }
  const end = text.startsWith("/*", at) ? text.indexOf("*/", at + 2) : -1;
  return end < 0 ? undefined : text.slice(at, end + 2);
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
const escapeSequence = /\\(?:[xX]([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))|[^\\]+/g;

function unquoted(text: string): string {
  const pieces: string[] = [];
  for (const [piece, hex, octal, short, long, letter] of text.matchAll(escapeSequence)) {
    const code = short ?? long;
    if (hex !== undefined) pieces.push(String.fromCharCode(Number.parseInt(hex, 16)));
    else if (octal !== undefined) pieces.push(String.fromCharCode(Number.parseInt(octal, 8) & 0xff));
    else if (code !== undefined) {
      const point = Number.parseInt(code, 16);
      pieces.push(toBytes(point <= 0x10_ffff ? String.fromCodePoint(point) : "\uFFFD"));
    } else if (letter !== undefined) pieces.push(escapes[letter] === undefined ? toBytes(letter) : String.fromCharCode(escapes[letter]));
    else pieces.push(toBytes(piece));
  }
  return pieces.join("");
}

const toBytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** A protocol file that cannot be compiled: which file, where in it, and why. Lines and columns count from 1. */
export class ProtoError extends Error {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly problem: string;
  /** The broken file that this one imports, maybe through others. */
  readonly because: string | undefined;

  constructor(
    file: string,
    problem: string,
    at: { readonly line: number; readonly column: number } = { line: 1, column: 1 },
    because?: string,
  ) {
    super(`${file}:${at.line}:${at.column}: ${problem}`);
    this.file = file;
    this.problem = problem;
    this.line = at.line;
    this.column = at.column;
    this.because = because;
  }
}
