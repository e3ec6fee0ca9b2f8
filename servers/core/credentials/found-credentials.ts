import { hidden } from "../../../contract/traffic/secret-headers.ts";

/** Shorter values occur by chance: they are masked in their own place only. */
const shortest = 4;
const mostForms = 400;
const mostCharacters = 512 << 10;
/** Characters of a text for each form whose start it has: about 30 ms, at worst four times as long. A text beyond it is hidden completely. */
const mostWork = 8 << 20;
/** JSON's literals are the values of flags, such as "authenticated". */
const literals = new Set(["true", "false", "null"]);

/** Values that were found to be credentials in one exchange, to be masked wherever they occur in it: an answer may repeat what was sent. */
export class FoundCredentials {
  readonly #forms: Set<string>;
  /** Too much was found to look for all of it: everything is hidden. */
  #isFull = false;
  #characters = 0;
  #sorted: { readonly texts: readonly string[]; readonly bytes: readonly string[] } | undefined;

  /** `known` are those of an exchange to which this one belongs. */
  constructor(known?: FoundCredentials) {
    this.#forms = new Set(known ? known.#forms : []);
    this.#isFull = known ? known.#isFull : false;
    this.#characters = known ? known.#characters : 0;
  }

  /** How many forms of values are known: it grows when one is found. */
  get size(): number {
    return this.#forms.size;
  }

  add(value: string): void {
    if (this.#isFull || this.#forms.has(value)) return;
    const trimmed = value.trim();
    for (const plain of new Set([trimmed, unquoted(trimmed), percentDecoded(trimmed), utf8OfLatin1(trimmed)])) {
      if (plain.length < shortest || literals.has(plain)) continue;
      for (const form of formsOf(plain)) this.#addForm(form);
    }
  }

  #addForm(form: string): void {
    if (this.#forms.has(form)) return;
    this.#characters += form.length;
    if (this.#forms.size >= mostForms || this.#characters > mostCharacters) this.#isFull = true;
    else this.#forms.add(form);
    this.#sorted = undefined;
  }

  /** `isCut`: the text may end within a value. Returns the same text where nothing is hidden. */
  hideIn(text: string, isCut = false): string {
    return this.#hide(text, this.#byLength().texts, hidden, isCut);
  }

  /** The other bytes stay as they are, also where they are no UTF-8. Returns the same buffer where nothing is hidden. */
  hideInBytes(bytes: Buffer, isCut = false): Buffer {
    if (this.#forms.size === 0) return bytes;
    const text = bytes.toString("latin1");
    const shown = this.#hide(text, this.#byLength().bytes, latin1OfUtf8(hidden), isCut);
    return shown === text ? bytes : Buffer.from(shown, "latin1");
  }

  /** The longest first: one may contain another. */
  #byLength() {
    if (!this.#sorted) {
      const texts = [...this.#forms].sort((one, other) => other.length - one.length);
      this.#sorted = { texts, bytes: texts.map(latin1OfUtf8) };
    }
    return this.#sorted;
  }

  #hide(text: string, forms: readonly string[], mark: string, isCut: boolean): string {
    if (forms.length === 0 || text.length < shortest) return text;
    if (this.#isFull) return mark;
    let shown = text;
    let work = 0;
    for (const form of forms) {
      const first = shown.indexOf(form.slice(0, shortest));
      if (first === -1) continue;
      work += shown.length + form.length;
      if (work > mostWork) return mark;
      shown = withoutForm(shown, form, mark, first, isCut);
    }
    return shown;
  }
}

/**
 * By Knuth, Morris and Pratt: the time grows with the characters of both, whatever they are; that of V8's own search with their product. With `isCut`
 * also the start of the form at the end of the text. `first`: it cannot begin before.
 */
function withoutForm(text: string, form: string, mark: string, first: number, isCut: boolean): string {
  const units = unitsOf(text);
  const wanted = unitsOf(form);
  const shorter = shorterStarts(wanted);
  let shown = "";
  let from = 0;
  let matched = 0;
  for (let at = first; at < units.length; at++) {
    const unit = units[at];
    while (matched > 0 && wanted[matched] !== unit) matched = shorter[matched - 1] as number;
    if (wanted[matched] === unit) matched++;
    if (matched < wanted.length) continue;
    shown += text.slice(from, at + 1 - matched) + mark;
    from = at + 1;
    matched = 0;
  }
  if (isCut && matched >= shortest) return shown + text.slice(from, text.length - matched) + mark;
  return shown + text.slice(from);
}

/** For each start of the text, the length of the longest shorter one that it ends with. */
function shorterStarts(units: Uint16Array): Int32Array {
  const lengths = new Int32Array(units.length);
  let length = 0;
  for (let at = 1; at < units.length; at++) {
    while (length > 0 && units[length] !== units[at]) length = lengths[length - 1] as number;
    if (units[length] === units[at]) length++;
    lengths[at] = length;
  }
  return lengths;
}

/** UTF-16. */
function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, "utf16le");
  return units;
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

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

const latin1OfUtf8 = (text: string) => Buffer.from(text).toString("latin1");

/** Node reads header bytes as Latin-1. */
function utf8OfLatin1(text: string): string {
  const read = Buffer.from(text, "latin1").toString("utf8");
  return read.includes("\ufffd") ? text : read;
}
