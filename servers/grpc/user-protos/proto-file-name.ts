const longest = 500;

/** Why a file cannot be imported by this name; undefined if it can. */
export function fileNameProblem(name: string): string | undefined {
  if (name === "") return "a file has no name";
  if (name.length > longest) return `a name has at most ${longest} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\\\x00-\x1f\x7f]/.test(name) || /^[A-Za-z]:/.test(name)) return "a name is folders and a file, separated by /";
  if (name.startsWith("/") || name.split("/").some((part) => part === "" || part === "." || part === ".."))
    return "a name must not lead out of its folder";
  return undefined;
}
