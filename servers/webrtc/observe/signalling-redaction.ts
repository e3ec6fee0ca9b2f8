import { hidden } from "../../../contract/traffic/secret-headers.ts";
import { namesSecret } from "../../../contract/traffic/secret-names.ts";
import { readingsOf } from "../../core/credentials/text-readings.ts";
import { createHttpRedaction, type HttpRedaction } from "../../core/http/record/http-redaction.ts";
import { isGzip } from "../../core/http/record/packed-content.ts";
import { isRedactable } from "../../core/http/record/redact-body.ts";
import { redactedStart } from "../dialects/redacted-start.ts";

/** PeerJS has the key, which may be "room:password", as the first part of a path, or behind "/peerjs". */
const keyInPath = /^((?:https?:\/\/[^/?]*)?\/(?:peerjs\/)?[^/?:%]*(?:%(?!3a)[^/?:%]*)*(?::|%3a))[^/?]+/i;

/** RFC 9725 §4.6: a Link to a TURN server has the password for it. */
const linkCredential = /(\bcredential\s*=\s*)(?:"(?:\\.|[^"\\])*"?|[^\s;,"]*)/gi;

/** A request target without the password in the key of PeerJS. */
export const withoutKeyPassword = (target: string): string => target.replace(keyInPath, "$1…");

/** Of requests to the service. Passwords in paths are never kept: no export could tell them from names. */
export function signallingRedaction(recordCredentials: boolean): HttpRedaction {
  if (recordCredentials)
    return { target: withoutKeyPassword, field: (_, value) => value, mayHoldCredential: () => false, body: (body) => body };
  const redaction = createHttpRedaction(namesSecret);
  return {
    ...redaction,
    target: (target) => redaction.target(withoutKeyPassword(target)),
    field: (name, value) => redaction.field(name, value).replace(linkCredential, `$1"${hidden}"`),
    mayHoldCredential: (head) => /credential/i.test(head) || redaction.mayHoldCredential(head),
    // Session descriptions and pages have no fields with names.
    body(body) {
      if (isGzip(body)) return Buffer.from(hidden);
      for (const { text, bytesOf } of readingsOf(body)) {
        const mayName = namesSecret(text) || text.includes("\\u") || text.includes("%");
        const shown = mayName && isRedactable(text) ? redactedStart(text, namesSecret) : text;
        if (shown !== text) return bytesOf(shown);
      }
      return body;
    },
  };
}
