import { percentDecoded } from "../../../contract/percent-decoded.ts";
import { hidden } from "../../../contract/traffic/secret-headers.ts";
import { bytesOfText } from "./byte-text.ts";
import { TextFinder } from "./text-finder.ts";

/** Shorter values occur by chance: they are masked in their own place only. */
const shortest = 4;
const mostForms = 400;
/** Of all forms: what they are found by takes up to 30 bytes for each, and some milliseconds for all. */
const mostCharacters = 256 << 10;
/** JSON's literals are the values of flags, such as "authenticated". */
const literals = new Set(["true", "false", "null"]);

/** Values that were found to be credentials in one exchange, to be masked wherever they occur in it: an answer may repeat what was sent. */
export class FoundCredentials {
  readonly #forms: Set<string>;
  /** Too much was found to look for all of it: everything is hidden. */
  #isFull = false;
  #characters = 0;
  #isCollecting = false;
  #inTexts: TextFinder | undefined;
  #inBytes: TextFinder | undefined;

  /** `known` are those of an exchange to which this one belongs. */
  constructor(known?: FoundCredentials) {
    this.#forms = new Set(known ? known.#forms : []);
    this.#isFull = known ? known.#isFull : false;
    this.#characters = known ? known.#characters : 0;
    this.#inTexts = known ? known.#inTexts : undefined;
    this.#inBytes = known ? known.#inBytes : undefined;
  }

  /** How many forms of values are known: it grows when one is found. */
  get size(): number {
    return this.#forms.size;
  }

  add(value: string): void {
    if (this.#isFull || this.#forms.has(value)) return;
    const trimmed = value.trim();
    for (const plain of new Set([trimmed, unquoted(trimmed), formDecoded(trimmed), utf8OfLatin1(trimmed)])) {
      if (plain.length < shortest || literals.has(plain)) continue;
      for (const form of formsOf(plain)) this.#addForm(form);
    }
  }

  #addForm(form: string): void {
    if (this.#forms.has(form)) return;
    this.#characters += form.length;
    if (this.#forms.size >= mostForms || this.#characters > mostCharacters) this.#isFull = true;
    else this.#forms.add(form);
    this.#inTexts = undefined;
    this.#inBytes = undefined;
  }

  /** Nothing is hidden while `act` adds what it finds: with all that is known, it is looked for once. */
  collect<Result>(act: () => Result): Result {
    this.#isCollecting = true;
    try {
      return act();
    } finally {
      this.#isCollecting = false;
    }
  }

  /** `isCut`: the text may end within a value. Returns the same text where nothing is hidden. */
  hideIn(text: string, isCut = false): string {
    if (!this.#hidesIn(text)) return text;
    if (this.#isFull) return hidden;
    this.#inTexts ??= new TextFinder([...this.#forms]);
    return this.#inTexts.replaceIn(text, hidden, isCut ? shortest : undefined);
  }

  /** The other bytes stay as they are, also where they are no UTF-8. Returns the same buffer where nothing is hidden. */
  hideInBytes(bytes: Buffer, isCut = false): Buffer {
    if (!this.#hidesIn(bytes)) return bytes;
    if (this.#isFull) return Buffer.from(hidden);
    this.#inBytes ??= new TextFinder(Array.from(this.#forms, latin1OfUtf8));
    const text = bytes.toString("latin1");
    const shown = this.#inBytes.replaceIn(text, latin1OfUtf8(hidden), isCut ? shortest : undefined);
    return shown === text ? bytes : Buffer.from(shown, "latin1");
  }

  #hidesIn({ length }: string | Buffer): boolean {
    return !this.#isCollecting && length >= shortest && this.#forms.size > 0;
  }
}

/** How a value is written in JSON (also in JSON within a string of JSON), URLs, forms and HTML. */
function formsOf(value: string): Set<string> {
  const once = jsonEscaped(value);
  const encoded = percentEncoded(value);
  return new Set([
    value,
    once,
    jsonEscaped(once),
    asciiEscaped(once),
    jsonEscaped(asciiEscaped(once)),
    encoded,
    encoded.replaceAll("%20", "+"),
    new URLSearchParams([["", value]]).toString().slice(1),
    htmlEscaped(value),
  ]);
}

const jsonEscaped = (text: string) => JSON.stringify(text).slice(1, -1);
const asciiEscaped = (text: string) => text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const percentEncoded = (text: string) => encodeURIComponent(text.toWellFormed());

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const htmlEscaped = (text: string) => text.replace(/[&<>"']/g, (sign) => entities[sign] as string);

/** RFC 6265 §4.1.1: a cookie's value may be quoted. */
const unquoted = (text: string) => (/^".*"$/s.test(text) ? text.slice(1, -1) : text);

const formDecoded = (text: string): string => percentDecoded(text.replaceAll("+", " ")) ?? text;

const latin1OfUtf8 = (text: string) => bytesOfText(text).toString("latin1");

/** Node reads header bytes as Latin-1. */
function utf8OfLatin1(text: string): string {
  const read = Buffer.from(text, "latin1").toString("utf8");
  return read.includes("\ufffd") ? text : read;
}
