/**
 * Characters that are invisible or change the direction of text: control characters, direction marks, joiners, zero-width spaces. Joiners
 * that a script or an emoji needs are not included.
 */
export const hiddenCharacters =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern has to match them.
  /[\0-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<![\u0300-\u{10ffff}])[\u200c\u200d]/gu;

const inLine = new RegExp(`\t|${hiddenCharacters.source}`, "gu");
const shortForms: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Most texts, which need no search for each hidden character. */
const plain = /^[\x20-\x7e]*$/;

/** A client's text on one line: hidden characters are escaped, such as \u202e. */
export const shownText = (text: string): string => (plain.test(text) ? text : text.replace(inLine, escaped));

export function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return shortForms[character] ?? (code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`);
}
