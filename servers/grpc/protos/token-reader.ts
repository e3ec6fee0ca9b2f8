import { ProtoError, type Token } from "./proto-tokens.ts";

const end: Token = { kind: "end", text: "", line: 1, column: 1 };

/** Reads the tokens of one file. What is not as expected throws a ProtoError. */
export class TokenReader {
  readonly #file: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(file: string, tokens: readonly Token[]) {
    this.#file = file;
    this.#tokens = tokens;
  }

  get atEnd(): boolean {
    return this.peek().kind === "end";
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? this.#tokens.at(-1) ?? end;
  }

  fail(problem: string, at: Token = this.peek()): never {
    throw new ProtoError(this.#file, problem, at);
  }

  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }

  take(symbol: string): boolean {
    const { kind, text } = this.peek();
    if (kind !== "symbol" || text !== symbol) return false;
    this.#at++;
    return true;
  }

  takeName(name: string): boolean {
    const { kind, text } = this.peek();
    if (kind !== "name" || text !== name) return false;
    this.#at++;
    return true;
  }

  expect(symbol: string): void {
    if (this.take(symbol)) return;
    const found = this.peek();
    this.fail(`${JSON.stringify(symbol)} is missing before ${found.kind === "end" ? "the end of the file" : JSON.stringify(found.text)}`);
  }

  /** "{ … }", statement by statement; empty ones are skipped. */
  block(statement: () => void): void {
    this.expect("{");
    while (!this.take("}")) if (!this.take(";")) statement();
  }

  name(): string {
    const token = this.peek();
    if (token.kind !== "name")
      this.fail(`a name is missing before ${token.kind === "end" ? "the end of the file" : JSON.stringify(token.text)}`);
    this.#at++;
    return token.text;
  }

  /** "google.protobuf" */
  fullName(): string {
    let name = this.name();
    while (this.take(".")) name += `.${this.name()}`;
    return name;
  }

  /** "Name", "package.Name" or ".package.Name" */
  typeName(): string {
    return this.take(".") ? `.${this.fullName()}` : this.fullName();
  }

  /** As text; adjacent strings are one. */
  string(): string {
    if (this.peek().kind !== "string") this.fail("a text in quotes is missing");
    return Buffer.from(this.bytes(), "latin1").toString("utf8");
  }

  /** Adjacent strings are one; one character for each byte. */
  bytes(): string {
    let bytes = "";
    while (this.peek().kind === "string") bytes += this.next().text;
    return bytes;
  }

  integer(least: number, greatest: number): number {
    const place = this.peek();
    const isNegative = this.take("-");
    const token = this.next();
    if (token.kind !== "integer") this.fail("a whole number is missing", place);
    const value = Number(integerValue(token.text)) * (isNegative ? -1 : 1);
    if (value < least || value > greatest) this.fail(`${value} is not from ${least} to ${greatest}`, place);
    return value;
  }

  /** "2, 9 to 11, 40 to max" */
  ranges(least: number, greatest: number): [from: number, to: number][] {
    const ranges: [number, number][] = [];
    do {
      const place = this.peek();
      const from = this.integer(least, greatest);
      const to = !this.takeName("to") ? from : this.takeName("max") ? greatest : this.integer(least, greatest);
      if (to < from) this.fail("the range ends before it begins", place);
      ranges.push([from, to]);
    } while (this.take(","));
    return ranges;
  }

  /** `map<` */
  isMap(): boolean {
    return this.peek().text === "map" && this.peek(1).text === "<";
  }
}

/** Decimal, octal or hexadecimal, as written. */
export const integerValue = (text: string): bigint => BigInt(/^0\d/.test(text) ? `0o${text.slice(1).replace(/[89]/g, "0")}` : text);
