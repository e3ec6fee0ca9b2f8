/**
 * As a word of a POSIX shell: within single quotes only the quote itself is special. A terminal drops or changes control characters that are
 * pasted, but for tabs and line feeds, and bash looks in the lines within a quote for its history: such a text is escaped, as bash, zsh and
 * POSIX.1-2024 read it. Also a shell that does not know such quotes takes it for one word, as no quote is inside. A = that begins a bare word names a
 * program in zsh.
 */
export function shellQuoted(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text;
  if (!hasControls.test(text) && !namesHistory(text)) return `'${text.replaceAll(outsideQuotes, String.raw`'\$&'`)}'`;
  return `$'${text.replaceAll(escapedInQuotes, (character) => shortEscapes[character] ?? octal(character))}'`;
}

/** Also backslashes of which fish would take what follows for quoted. */
const outsideQuotes = /'|\\(?=[\\']|$)/g;

/** From its second line on: "^old^new" at the start of one, and before bash 5 "!" too. */
function namesHistory(text: string): boolean {
  const lineEnd = text.indexOf("\n");
  return lineEnd >= 0 && (text.includes("\n^") || text.includes("!", lineEnd));
}

/** Linux takes 128 KiB in one argument of a program. */
const mostArgumentBytes = 100_000;
export const isLongArgument = (text: string): boolean => new TextEncoder().encode(text).length > mostArgumentBytes;

/** For the standard input of a program, however long: "printf" is a part of the shell. */
export const printed = (text: string): string => `printf %s ${shellQuoted(text)}`;

/** A line that does nothing, for whoever reads the command. No comment: zsh reads what is typed or pasted after a # like any other words. */
export const shellNote = (text: string): string => `: ${shellQuoted(text)}`;

/**
 * As a word of Windows' cmd.exe for a program that reads its arguments as Microsoft's C runtime does; undefined where cmd has no way to write
 * it. A caret before each character that cmd or the runtime could read, also the quotes: cmd takes nothing for quoted then.
 */
export function cmdQuoted(text: string): string | undefined {
  if (/^[\w@+=:,./-]+$/.test(text)) return text;
  if (/[^\n -~]/.test(text)) return undefined;
  const ofRuntime = text.replaceAll(/\\+|"/g, (found, at: number) => {
    if (found === '"') return String.raw`\"`;
    const next = text[at + found.length];
    return next === undefined || next === '"' ? found + found : found;
  });
  // No variable has a name with a caret: what a percent sign begins is kept.
  return `^"${ofRuntime.replaceAll(/(?<=%)[\s\S]|[^\w .,:/@+=-]/g, (character) => (character === "\n" ? "^\n\n" : `^${character}`))}^"`;
}

/** Lines for the standard input of a program, in PowerShell: nothing of them is read but a line that begins with `'@`. */
export const powerShellInput = (lines: readonly string[], command: string): string =>
  [
    // Windows PowerShell 5 would pass other characters as "?".
    ...(lines.some((line) => /[^\0-\x7f]/.test(line)) ? ["$OutputEncoding = [Text.UTF8Encoding]::new()"] : []),
    "@'",
    ...lines,
    `'@ | ${command}`,
  ].join("\n");

/** What the browser says of the system on which lines are pasted: the one that shows them. */
export const isWindows = /^win/i.test(globalThis.navigator?.platform ?? "");

/** Of a line with words that `shellQuoted` has written: Windows' own shells would read something else, and run what is in it. */
export const inBash = (program: string): string => (isWindows ? `${program} (bash)` : program);

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const hasControls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
/** Also the mark with which bash begins a word of its history. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const escapedInQuotes = /[\0-\x1f\x7f-\x9f\\'!]/g;
const shortEscapes: Readonly<Record<string, string>> = {
  "\\": String.raw`\\`,
  "\r": String.raw`\r`,
  "\n": String.raw`\n`,
  "\t": String.raw`\t`,
};
const octal = (character: string) =>
  [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
