import { percentDecoded } from "../percent-decoded.ts";
import { namesSecret } from "./secret-names.ts";

/** A request target without the values of secret query fields and without userinfo. `onHidden` is called with each of them, as it was written. */
export function redactTarget(target: string, onHidden?: (value: string) => void): string {
  const found = target.search(/[?#]/);
  const queryAt = found === -1 ? target.length : found;
  return redactFields(redactPath(target.slice(0, queryAt), onHidden), onHidden) + redactQuery(target.slice(queryAt), onHidden);
}

/** RFC 9110 §4.2.4: an absolute-form target may hold a password, and so may a URL within a path, and what should be the authority of a CONNECT. */
function redactPath(path: string, onHidden?: (value: string) => void): string {
  if (!path.includes("@") && !path.includes("%40")) return path;
  return path.replace(/(^(?=[^/\\%])|(?:[/\\]|%2f|%5c){2})((?:(?!%2f|%5c|%40)[^/\\@])*)(?:@|%40)/gi, (_, slashes: string, user: string) => {
    onHidden?.(user.replace(/^.*?(?::|%3a)/i, ""));
    return `${slashes}…@`;
  });
}

/** Some cameras have the fields of a query in their path: "/user=ada&password=secret&channel=1". */
function redactFields(path: string, onHidden?: (value: string) => void): string {
  if (!path.includes("=") || !namesSecret(decodeFully(path))) return path;
  return path.replace(/([/&;])([^=&;/]*)=([^&;/]*)/g, (whole, mark: string, name: string, value: string) => {
    if (!namesSecret(decodeFully(name)) && !holdsSecret(value)) return whole;
    onHidden?.(value);
    return `${mark}${name}=…`;
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

/** The value of a header field that is no credential as a whole: it may hold a URL, or be the protocols of a WebSocket. */
export function redactFieldValue(name: string, value: string, onHidden?: (value: string) => void): string {
  if (/^sec-websocket-protocol$/i.test(name)) return redactProtocols(value, onHidden);
  if (/^(?:host|:authority)$/i.test(name)) return redactPath(value, onHidden);
  return /[/?]/.test(value) ? redactTarget(value, onHidden) : value;
}

/**
 * A page in a browser can set no other field of a WebSocket's handshake, so it gives its token among the protocols: after one that says so ("bearer, …"),
 * behind such a word ("base64url.bearer.authorization.k8s.io.…"), or alone.
 */
function redactProtocols(value: string, onHidden?: (value: string) => void): string {
  const items = value.split(",");
  const protocols = items.map((item) => item.trim());
  return items
    .map((item, index) => {
      const protocol = protocols[index] ?? "";
      const kept = tokenFollows.test(protocols[index - 1] ?? "") ? "" : withoutToken(protocol);
      const secret = protocol.slice(kept.length);
      if (secret === "") return item;
      onHidden?.(secret);
      return `${/^\s*/.exec(item)?.[0]}${kept}…`;
    })
    .join(",");
}

/** The beginning of a protocol that is none of a token. */
function withoutToken(protocol: string): string {
  const named = /^.*(?:bearer|token|authorization\.k8s\.io|jwt|secret|password)[.=:|]/i.exec(protocol)?.[0];
  return named ?? (protocol.length > longestProtocol ? "" : protocol);
}

const tokenFollows = /^(?:access[-_]?token|auth|authorization|basic|bearer|jwt|token)$/i;
/** The registered ones are shorter (IANA, WebSocket Subprotocol Name Registry), a token is longer. */
const longestProtocol = 48;

/** Whether the value of a field, encoded or not, is or contains a query, JSON or a multipart body with a secret, or a URL with a password. */
export const holdsSecret = (value: string): boolean =>
  mayHoldSecret.test(value) && (namesSecretWithin(value) || (value.includes("%") && namesSecretWithin(decodeFully(value))));

/** Also with line ends that are none of a form's: an answer may repeat what a client sent as text. */
export const multipartStart = /^--\S+\r?\n/;
const mayHoldSecret = /[=":@%]/;

function namesSecretWithin(value: string): boolean {
  if (userinfo.test(value)) return true;
  // The name of a part may be percent-encoded (RFC 8187).
  if (multipartStart.test(value) && namesSecret(decodeFully(value))) return true;
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
