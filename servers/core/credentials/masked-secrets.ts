import { secretMask } from "../../../contract/config.ts";
import { redactTarget } from "../../../contract/traffic/redact-target.ts";
import { namesSecret } from "../../../contract/traffic/secret-names.ts";

/** Lines `name:secret` as the form shows them: each name once, with everything after the first colon masked. */
export function maskedCredentials(lines: readonly string[]): string[] {
  const names = new Set(lines.map(nameOf));
  return [...names].map((name) => `${name}:${secretMask}`);
}

/** Lines of the form with their secrets, or the first name whose secret is not known. */
export type RestoredLines = { readonly lines: readonly string[] } | { readonly unknown: string };

/** `restore` returns the lines in place of one; undefined if its secret is not known. */
function restoredLines(
  lines: readonly string[],
  restore: (line: string) => readonly string[] | undefined,
  unknownOf: (line: string) => string,
): RestoredLines {
  const restored: string[] = [];
  for (const line of lines) {
    const whole = restore(line);
    if (whole === undefined) return { unknown: unknownOf(line) };
    restored.push(...whole);
  }
  return { lines: restored };
}

/** Restores the secrets in the form's lines: a name with the mask keeps all its lines. */
export function restoredCredentials(lines: readonly string[], stored: readonly string[]): RestoredLines {
  function restore(line: string): readonly string[] | undefined {
    const name = nameOf(line);
    if (line !== `${name}:${secretMask}`) return [line];
    const kept = stored.filter((other) => nameOf(other) === name);
    return kept.length === 0 ? undefined : kept;
  }
  return restoredLines(lines, restore, nameOf);
}

const nameOf = (line: string): string => line.slice(0, Math.max(0, line.indexOf(":")));

/** "postgres://user:" "secret" "@host/database": a password may hold an @ that nobody encoded, so the last one ends it. */
const userinfo = /^([a-z][a-z0-9+.-]*:[^:@]*:)(.+)(@[^@]*)$/is;
const queryFields = /([?&][^=?&#]*=)([^&#]+)/g;

/** An address as the form shows it, with its passwords masked; an address without one, such as a file, is unchanged. */
export const maskedPassword = (text: string): string =>
  text
    .replace(userinfo, `$1${secretMask}$3`)
    .replace(queryFields, (field, name: string) => (namesSecret(name) ? name + secretMask : field));

/** An address without its user and password, which may hold an @ that nobody encoded; also one that is malformed. */
export const withoutUserinfo = (address: string): string => address.replace(/\/\/[^/?#]*@/, "//");

/** An address as anybody may read it: without user and password, and without the values of secret query fields. */
export const shownAddress = (address: string): string => redactTarget(withoutUserinfo(address));

/** Restores the masked passwords in the form's address; undefined where they belong to another server or user. */
export function restoredPassword(text: string, stored: string): string | undefined {
  if (!text.includes(secretMask)) return text;
  if (serverOf(text) !== serverOf(maskedPassword(stored))) return undefined;
  const password = userinfo.exec(stored)?.[2];
  const named = new Map([...stored.matchAll(queryFields)].map(([, name = "", value = ""]) => [name.slice(1), value]));
  const restored = text
    .replace(userinfo, (whole, before: string, shown: string, after: string) =>
      shown === secretMask && password !== undefined ? before + password + after : whole,
    )
    .replace(queryFields, (whole, name: string, shown: string) =>
      shown === secretMask ? name + (named.get(name.slice(1)) ?? shown) : whole,
    );
  return restored.includes(secretMask) ? undefined : restored;
}

/** Lines whose last word is an address: "cameras/door rtsp://user:secret@host/1". */
export const maskedAddressLines = (lines: readonly string[]): string[] =>
  lines.map((line) => {
    const [before, address] = splitLastWord(line);
    return before + maskedPassword(address);
  });

/** Restores the masked passwords in the form's lines from the line with the same words before the address. */
export function restoredAddressLines(lines: readonly string[], stored: readonly string[]): RestoredLines {
  function restore(line: string): readonly string[] | undefined {
    const [before, address] = splitLastWord(line);
    const known = stored.map(splitLastWord).find(([other]) => other === before)?.[1] ?? "";
    const whole = restoredPassword(address, known);
    return whole === undefined ? undefined : [before + whole];
  }
  return restoredLines(lines, restore, (line) => splitLastWord(line)[0].trim());
}

function splitLastWord(line: string): readonly [before: string, last: string] {
  const trimmed = line.trimEnd();
  const last = trimmed.split(/\s/).at(-1) ?? "";
  const before = trimmed.slice(0, trimmed.length - last.length);
  return [before, last];
}

/** Scheme, user, host and port. */
function serverOf(text: string): string {
  const [, before = "", , after = text] = userinfo.exec(text) ?? [];
  return before + (/^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*/i.exec(after)?.[0] ?? "");
}
