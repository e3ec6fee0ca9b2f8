import { Base64Text } from "./base64-text.ts";
import { WrittenJson } from "./written-json.ts";

/** Characters that are quoted in a step: as escapes they are six times as many. */
const quotedCharacters = 16 << 10;
/** Small values are gathered in a buffer. */
const gatheredCharacters = 4 << 10;

export interface JsonInStepsOptions {
  /** As `JSON.stringify(…, null, 2)`; else without white space. */
  readonly isIndented: boolean;
  /** White space that JSON that was received may take with it. */
  readonly mostIndentation?: number;
}

/** Serializes a value of which a client has sent the most: texts, lists and objects, base64, and JSON as it was written. */
export function* jsonInSteps(value: unknown, options: JsonInStepsOptions): Generator<void, readonly Buffer[]> {
  const writer = new Writer(options);
  yield* writer.value(value, 0);
  return writer.all();
}

class Writer {
  readonly #options: JsonInStepsOptions;
  readonly #pieces: Buffer[] = [];
  #text = "";

  constructor(options: JsonInStepsOptions) {
    this.#options = options;
  }

  *value(value: unknown, level: number): Generator<void, void> {
    if (typeof value === "string") yield* this.#quoted(value);
    else if (value instanceof Base64Text) this.#add(yield* value.quoted());
    else if (value instanceof WrittenJson) this.#add(yield* this.#written(value, level));
    else if (typeof value === "object" && value !== null) yield* this.#members(value, level);
    else yield* this.#write(JSON.stringify(value));
  }

  *#members(value: object, level: number): Generator<void, void> {
    const isList = Array.isArray(value);
    let isFirst = true;
    for (const name in value) {
      const member = (value as Readonly<Record<string, unknown>>)[name];
      if (member === undefined) continue;
      yield* this.#write(`${isFirst ? (isList ? "[" : "{") : ","}${this.#line(level + 1)}`);
      isFirst = false;
      if (!isList) {
        yield* this.#quoted(name);
        this.#text += this.#options.isIndented ? ": " : ":";
      }
      yield* this.value(member, level + 1);
    }
    yield* this.#write(isFirst ? (isList ? "[]" : "{}") : `${this.#line(level)}${isList ? "]" : "}"}`);
  }

  #line(level: number): string {
    return this.#options.isIndented ? `\n${"  ".repeat(level)}` : "";
  }

  #written(json: WrittenJson, level: number): Generator<void, readonly Buffer[]> {
    const { isIndented, mostIndentation = 0 } = this.#options;
    return isIndented ? json.indented(level, mostIndentation) : json.compact();
  }

  *#quoted(text: string): Generator<void, void> {
    if (text.length <= quotedCharacters) yield* this.#write(JSON.stringify(text));
    else this.#add(yield* quoted(text));
  }

  *#write(text: string): Generator<void, void> {
    this.#text += text;
    if (this.#text.length < gatheredCharacters) return;
    this.#flush();
    yield;
  }

  #add(pieces: readonly Buffer[]): void {
    this.#flush();
    for (const piece of pieces) this.#pieces.push(piece);
  }

  #flush(): void {
    if (this.#text !== "") this.#pieces.push(Buffer.from(this.#text));
    this.#text = "";
  }

  all(): readonly Buffer[] {
    this.#flush();
    return this.#pieces;
  }
}

/** A text as a string of JSON, in steps. */
export function* quoted(text: string): Generator<void, readonly Buffer[]> {
  const pieces = [Buffer.from('"')];
  for (let start = 0; start < text.length; ) {
    let end = start + quotedCharacters;
    // Between the halves of a pair, each would be written as an escape.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    pieces.push(Buffer.from(JSON.stringify(text.slice(start, end)).slice(1, -1)));
    start = end;
    yield;
  }
  pieces.push(Buffer.from('"'));
  return pieces;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
