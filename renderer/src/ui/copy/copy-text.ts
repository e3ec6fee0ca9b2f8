import { announce } from "../status/announcer.tsx";

/** Resolves when the text is on the clipboard. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Where the shell denies the clipboard permission, the browser still copies a selection on a key or click.
    copySelection(text);
  }
  announce("Copied");
}

function copySelection(text: string): void {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!copied) throw new Error("The browser refused access to the clipboard.");
}

/**
 * As a word of a shell. POSIX: within single quotes only the quote itself is special. A terminal drops or changes control characters that are
 * pasted, but for tabs and line feeds: a text with others is escaped, as bash, zsh and POSIX.1-2024 read it.
 */
export function shellQuoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!isControl.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(escapedInQuotes, (character) => shortEscapes[character] ?? octal(character))}'`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const isControl = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
/** Also the mark with which bash begins a word of its history. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const escapedInQuotes = /[\0-\x1f\x7f-\x9f\\'!]/g;
const shortEscapes: Readonly<Record<string, string>> = {
  "\\": String.raw`\\`,
  "'": String.raw`\'`,
  "\r": String.raw`\r`,
  "\n": String.raw`\n`,
  "\t": String.raw`\t`,
};
const octal = (character: string) =>
  [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
