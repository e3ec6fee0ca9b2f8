import { secretMask } from "../../../contract/config.ts";

/** Lines `name:secret` as a form may see them: each name once, and nothing of what is behind its first colon. */
export function maskedCredentials(lines: readonly string[]): string[] {
  const names = new Set(lines.map(nameOf));
  return [...names].map((name) => `${name}:${secretMask}`);
}

/** What comes back from the form: a name with the mask keeps all lines that it has. Gives the name that has none. */
export function restoredCredentials(
  lines: readonly string[],
  stored: readonly string[],
): { readonly lines: readonly string[] } | { readonly unknown: string } {
  const restored: string[] = [];
  for (const line of lines) {
    const name = nameOf(line);
    if (line !== `${name}:${secretMask}`) {
      restored.push(line);
      continue;
    }
    const kept = stored.filter((other) => nameOf(other) === name);
    if (kept.length === 0) return { unknown: name };
    restored.push(...kept);
  }
  return { lines: restored };
}

const nameOf = (line: string): string => line.slice(0, Math.max(0, line.indexOf(":")));
