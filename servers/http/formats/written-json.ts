import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  isSpace,
  jsonFault,
  noFault,
  openList,
  openObject,
  quote,
  spaceEnd,
  stepBytes,
} from "../../core/limits/json-grammar.ts";
import { BytePieces } from "./byte-pieces.ts";

const space = 0x20;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;

/**
 * JSON as its sender wrote it: digits of numbers, escapes and repeated names stay, only the white space between tokens changes.
 * Read and laid out in steps, since a megabyte of it takes dozens of milliseconds.
 */
export class WrittenJson {
  /** In UTF-8. */
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** `bytes` are UTF-8. Throws SyntaxError, which says where. */
  static *read(bytes: Buffer): Generator<void, WrittenJson> {
    const at = yield* jsonFault(bytes);
    if (at === noFault) return new WrittenJson(bytes);
    const before = bytes.subarray(0, at);
    const characters = (part: Buffer) => part.toString().length;
    const column = characters(before.subarray(before.lastIndexOf(lineFeed) + 1)) + 1;
    throw new SyntaxError(`Invalid JSON at position ${characters(before)} (line ${yield* linesOf(before)} column ${column})`);
  }

  /** As it came. */
  get text(): string {
    return this.#bytes.toString();
  }

  compact(): Generator<void, readonly Buffer[]> {
    return layOut(this.#bytes);
  }

  /** Like `JSON.stringify(…, null, 2)`, its lines this many levels further in; throws 413 where indentation takes more bytes than that. */
  indented(outer: number, mostBytes: number): Generator<void, readonly Buffer[]> {
    return layOut(this.#bytes, { outer, mostBytes });
  }
}

/** Also not in texts. As programs write it. */
const hasNoSpace = (bytes: Buffer): boolean => [space, lineFeed, carriageReturn, tab].every((code) => !bytes.includes(code));

function* linesOf(bytes: Buffer): Generator<void, number> {
  let lines = 1;
  let nextStep = stepBytes;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    lines++;
    if (at < nextStep) continue;
    nextStep = at + stepBytes;
    yield;
  }
  return lines;
}

function* layOut(bytes: Buffer, indentation?: { readonly outer: number; readonly mostBytes: number }): Generator<void, readonly Buffer[]> {
  if (!indentation && bytes.length <= stepBytes && hasNoSpace(bytes)) return [bytes];
  const laidOut = new BytePieces(2 * bytes.length);
  let level = indentation?.outer ?? 0;
  let left = indentation?.mostBytes ?? 0;
  let nextStep = stepBytes;
  for (let at = 0; at < bytes.length; at++) {
    if (at >= nextStep) {
      nextStep = at + stepBytes;
      yield;
    }
    const code = bytes[at] as number;
    switch (code) {
      case quote: {
        const start = at;
        for (at++; bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
        laidOut.copy(bytes, start, at + 1);
        break;
      }
      case openList:
      case openObject:
        laidOut.byte(code);
        at = spaceEnd(bytes, at + 1);
        // `[]` and `{}` are 2 apart.
        if (bytes[at] === code + 2) laidOut.byte(code + 2);
        else {
          at -= 1;
          level += 1;
          startLine();
        }
        break;
      case closeList:
      case closeObject:
        level -= 1;
        startLine();
        laidOut.byte(code);
        break;
      case comma:
        laidOut.byte(code);
        startLine();
        break;
      case colon:
        laidOut.byte(code);
        if (indentation) laidOut.byte(space);
        break;
      default:
        if (!isSpace(code)) laidOut.byte(code);
    }
  }
  return laidOut.all();

  function startLine(): void {
    if (!indentation) return;
    left -= 1 + 2 * level;
    if (left < 0) throw new HttpRefusal(413, `Indentation of the JSON takes more than ${indentation.mostBytes} bytes`);
    laidOut.byte(lineFeed);
    laidOut.repeat(space, 2 * level);
  }
}
