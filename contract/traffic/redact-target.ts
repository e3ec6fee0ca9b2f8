import { percentDecoded } from "../percent-decoded.ts";
import { namesSecret } from "./secret-names.ts";

/** A request target without the values of secret query fields and without userinfo. `onHidden` is called with each of them, as it was written. */
export function redactTarget(target: string, onHidden?: (value: string) => void): string {
  const queryAt = target.search(/[?#]/);
  if (queryAt === -1) return redactPath(target, onHidden);
  return redactPath(target.slice(0, queryAt), onHidden) + redactQuery(target.slice(queryAt), onHidden);
}

/** RFC 9110 §4.2.4: an absolute-form target may hold a password, and so may a URL within a path, and what should be the authority of a CONNECT. */
function redactPath(path: string, onHidden?: (value: string) => void): string {
  if (!path.includes("@") && !path.includes("%40")) return path;
  return path.replace(/(^(?=[^/\\%])|(?:[/\\]|%2f|%5c){2})((?:(?!%2f|%5c|%40)[^/\\@])*)(?:@|%40)/gi, (_, slashes: string, user: string) => {
    onHidden?.(user.replace(/^.*?(?::|%3a)/i, ""));
    return `${slashes}…@`;
  });
}

function redactQuery(query: string, onHidden?: (value: string) => void): string {
  const decoded = decodeFully(query);
  if (!namesSecret(decoded) && !userinfo.test(decoded) && !decoded.includes("\\u")) return query;
  return query.replace(/([?&;#])([^=&;?#]*)(?:=([^&;#]*))?/g, (whole, mark: string, name: string, value: string | undefined) => {
    // The "=" may be encoded too.
    if (value === undefined) {
      if (!holdsSecret(name)) return whole;
      onHidden?.(name);
      return `${mark}…`;
    }
    if (!namesSecret(decodeFully(name)) && !holdsSecret(value)) return whole;
    onHidden?.(value);
    return `${mark}${name}=…`;
  });
}

const userinfo = /[/\\]{2}[^/\\?#]*@/;
const mostDecodings = 3;

/** Of a header field that is no credential as a whole: one may hold a URL. */
export const redactFieldValue = (value: string, onHidden?: (value: string) => void): string =>
  /[/?]/.test(value) ? redactTarget(value, onHidden) : value;

/** Whether the value of a field, encoded or not, is or contains a query or JSON with a secret, or a URL with a password. */
export const holdsSecret = (value: string): boolean =>
  mayHoldSecret.test(value) && (namesSecretWithin(value) || (value.includes("%") && namesSecretWithin(decodeFully(value))));

const mayHoldSecret = /[=":@%]/;

function namesSecretWithin(value: string): boolean {
  if (userinfo.test(value)) return true;
  for (const [, name = ""] of value.matchAll(/(?:^|[?&;#])([^=&;?#]*)=/g)) if (namesSecret(name)) return true;
  // In JSON "\u0070assword" is a name too.
  for (const [, name = ""] of value.matchAll(/"([^"]*)"\s*:/g)) if (name.includes("\\u") || namesSecret(name)) return true;
  return false;
}

/** Decodes repeatedly: a secret that was encoded twice is redacted too. */
function decodeFully(text: string): string {
  let decoded = text;
  for (let round = 0; round < mostDecodings && decoded.includes("%"); round++) decoded = decodeSafely(decoded);
  return decoded;
}

/** What cannot be decoded counts as the name of a secret. */
const decodeSafely = (text: string): string => percentDecoded(text) ?? "secret";
