const hidden = [
  // Control characters, direction marks, joiners, zero-width spaces, fillers, tags.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern has to match them.
  /\u034f|\u17b4|\u17b5|[\0-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/u,
  // Joiners that no script or emoji needs.
  /(?<![\u0300-\u{10ffff}])[\u200c\u200d]/u,
  // Variants that no ideograph has.
  /(?<![\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}])[\u{e0100}-\u{e01ef}]/u,
  // Marks that no script puts on one letter: they would lie over the lines around it.
  /(?<=\p{Mark}{6})\p{Mark}/u,
];

/** Characters that are invisible, change the direction of text, or pile up on a letter. */
export const hiddenCharacters = new RegExp(hidden.map(({ source }) => source).join("|"), "gu");

const inLine = new RegExp(`\t|${hiddenCharacters.source}`, "gu");
const shortForms: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Most texts, which need no search for each hidden character. */
const plain = /^[\x20-\x7e]*$/;

/** Of names and titles. The browser lays out longer ones with a delay, and no one reads them. */
const lineCharacters = 2_048;
/** Of values that are read in full, such as a token in a header field. */
const valueCharacters = 16_384;

/** A client's text on one line: hidden characters are escaped, such as \u202e, and a long one is cut. */
export const shownText = (text: string): string => escapedText(startOf(text, lineCharacters));

/** The same of a text that is read from its end, such as the folder of a path: the start of a long one is cut. */
export const shownEnd = (text: string): string =>
  escapedText(text.length > lineCharacters ? `…${text.slice(-lineCharacters).replace(/^[\udc00-\udfff]/, "")}` : text);

/** The same of a value, which is longer. */
export const shownValue = (text: string): string => escapedText(startOf(text, valueCharacters));

const escapedText = (text: string): string => (plain.test(text) ? text : text.replace(inLine, escaped));

const startOf = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text;

export function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return shortForms[character] ?? (code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`);
}
