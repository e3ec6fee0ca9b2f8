/**
 * Characters that are invisible or change the order of the letters around them: controls, marks of direction, joiners, blanks of no width.
 * A joiner within a script that needs it, or within an emoji, is none of them.
 */
export const hiddenCharacters =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it finds.
  /[\0-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<![\u0300-\u{10ffff}])[\u200c\u200d]/gu;

const inLine = new RegExp(`\t|${hiddenCharacters.source}`, "gu");
const shortForms: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Text that came from a client as one line of the page shows it: hidden characters are written out, such as \u202e. */
export const shownText = (text: string): string => text.replace(inLine, escaped);

export function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return shortForms[character] ?? (code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`);
}
