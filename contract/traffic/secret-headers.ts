import { namesSecret } from "./secret-names.ts";

/** Header fields that carry credentials: the inspector masks them, and exports do. */

/** What a recorder puts in place of a credential that it does not keep. */
export const hidden = "•••";

/** Whether the credential in a header field's value was not kept: "•••", or "Bearer •••". */
export const isHidden = (value: string): boolean => value === hidden || value.endsWith(` ${hidden}`);

/** `content-…` and the like carry such words without being secrets; a challenge holds none. */
const plainName =
  /^(access-control-|content-|x-csrf-token-name$|sec-websocket-|(www|proxy)-authenticate$|refresh$)|(cache|idempotency|surrogate)-key$|(error|response|status)-code$/i;
const credentialScheme = /^(?:basic|bearer|digest)\s/i;

/** Whether a header of this name usually carries a secret. */
export const isSecretHeader = (name: string): boolean => (/cookie/i.test(name) || namesSecret(name)) && !plainName.test(name);

/** By the name of the field, or by the scheme in its value where the name is misspelt. */
export const isCredentialField = (name: string, value: string): boolean =>
  isSecretHeader(name) || (!plainName.test(name) && credentialScheme.test(value));

/** The kind of secret stays readable: the scheme of Authorization, the names of cookies. */
export function maskedValue(name: string, value: string): string {
  const dots = "••••••";
  if (/^(set-)?cookie2?$/i.test(name)) {
    const [first = "", ...attributes] = value.split(";");
    const parts = /^set-/i.test(name) ? [maskPair(first, dots), ...attributes] : [first, ...attributes].map((pair) => maskPair(pair, dots));
    return parts.join(";");
  }
  const scheme = /^(Basic|Bearer|Digest|Negotiate|Token) /i.exec(value)?.[0] ?? "";
  return `${scheme}${dots}`;
}

function maskPair(pair: string, dots: string): string {
  const at = pair.indexOf("=");
  return at < 0 ? dots : `${pair.slice(0, at + 1)}${dots}`;
}
