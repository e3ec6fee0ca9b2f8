/** Credentials in what the user types and the window remembers. */

import { namesSecret } from "../../../contract/traffic/secret-names.ts";

const cookie = /cookie/i;
/** A JSON Web Token, a scheme of Authorization with its value, a key in PEM, or a name and password in a URL. */
const secretValue = /(?<![\w-])eyJ[\w-]{8,}\.|\b(bearer|basic|digest)\s+[\w+/=.~-]{6,}|-----BEGIN|\/\/[^/\s@]+@/i;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Whether a text names a credential or looks like one. False positives are possible: such a text is not remembered. */
const holdsCredentials = (text: string): boolean => {
  const plain = decoded(text);
  return namesSecret(plain) || cookie.test(plain) || secretValue.test(plain);
};

/** The text, or an empty one if it may contain credentials. */
export const withoutCredentialText = (text: string): string => (holdsCredentials(text) ? "" : text);

/** Names and values, without the values that may be credentials. */
export const withoutCredentialValues = (pairs: readonly (readonly [name: string, value: string])[]): (readonly [string, string])[] =>
  pairs.map(([name, value]) => [name, holdsCredentials(`${name}=`) || holdsCredentials(value) ? "" : value]);

/** A request target without the values of query fields, and without the segments of its path, that may be credentials. */
export function targetWithoutCredentials(target: string): string {
  const [path = "", ...rest] = target.split("?");
  const query = rest.join("?");
  const segments = path.split("/").map((segment) => (secretValue.test(decoded(segment)) ? "" : segment));
  const shownPath = /\/\/[^/]*@/.test(decoded(path)) ? "/" : segments.join("/");
  if (rest.length === 0) return shownPath;
  const fields = query.split("&").map((field) => (holdsCredentials(field) ? `${field.split("=", 1)[0]}=` : field));
  return `${shownPath}?${fields.join("&")}`;
}
