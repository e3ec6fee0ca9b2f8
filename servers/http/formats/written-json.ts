import { HttpRefusal } from "../../core/http/http-refusal.ts";
import { backslash, closeList, closeObject, colon, comma, isJson, isSpace, openList, openObject, quote, spaceEnd } from "./json-grammar.ts";

const space = 0x20;
const lineFeed = 0x0a;

/** JSON as its sender wrote it: digits of numbers, escapes and repeated names stay, only the white space between tokens changes. */
export class WrittenJson {
  /** In UTF-8. */
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Throws SyntaxError. */
  static parse(text: string): WrittenJson {
    const bytes = Buffer.from(text);
    if (isJson(bytes)) return new WrittenJson(bytes);
    // It says where.
    JSON.parse(text);
    throw new SyntaxError("Not JSON");
  }

  compact(): Buffer {
    return layOut(this.#bytes);
  }

  /** Like `JSON.stringify(…, null, 2)`, its lines this many levels further in; throws 413 where indentation takes more bytes than that. */
  indented(outer: number, mostBytes: number): Buffer {
    return layOut(this.#bytes, { outer, mostBytes });
  }
}

function layOut(bytes: Buffer, indentation?: { readonly outer: number; readonly mostBytes: number }): Buffer {
  /** A space behind each colon. */
  let laidOut = Buffer.allocUnsafe(2 * bytes.length);
  let length = 0;
  let level = indentation?.outer ?? 0;
  let left = indentation?.mostBytes ?? 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] as number;
    if (isText) {
      laidOut[length++] = code;
      if (code === quote) isText = false;
      else if (code === backslash) laidOut[length++] = bytes[++at] as number;
      continue;
    }
    switch (code) {
      case quote:
        laidOut[length++] = code;
        isText = true;
        break;
      case openList:
      case openObject:
        laidOut[length++] = code;
        at = spaceEnd(bytes, at + 1);
        // `[]` and `{}` are 2 apart.
        if (bytes[at] === code + 2) laidOut[length++] = code + 2;
        else {
          at -= 1;
          level += 1;
          startLine(at);
        }
        break;
      case closeList:
      case closeObject:
        level -= 1;
        startLine(at);
        laidOut[length++] = code;
        break;
      case comma:
        laidOut[length++] = code;
        startLine(at);
        break;
      case colon:
        laidOut[length++] = code;
        if (indentation) laidOut[length++] = space;
        break;
      default:
        if (!isSpace(code)) laidOut[length++] = code;
    }
  }
  return laidOut.subarray(0, length);

  function startLine(at: number): void {
    if (!indentation) return;
    const added = 1 + 2 * level;
    left -= added;
    if (left < 0) throw new HttpRefusal(413, `Indentation of the JSON takes more than ${indentation.mostBytes} bytes`);
    const needed = length + added + 2 * (bytes.length - at);
    if (needed > laidOut.length) laidOut = Buffer.concat([laidOut.subarray(0, length)], 2 * needed);
    laidOut[length++] = lineFeed;
    for (const end = length + added - 1; length < end; length++) laidOut[length] = space;
  }
}
