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
      if (!holdsSecret(decodeFully(name))) return whole;
      onHidden?.(name);
      return `${mark}…`;
    }
    if (!namesSecret(decodeFully(name)) && !holdsSecret(decodeFully(value))) return whole;
    onHidden?.(value);
    return `${mark}${name}=…`;
  });
}

const userinfo = /[/\\]{2}[^/\\?#]*@/;
const mostDecodings = 3;

/** A query field may have a query of its own, JSON, or a URL with a password or with both. */
function holdsSecret(value: string): boolean {
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
