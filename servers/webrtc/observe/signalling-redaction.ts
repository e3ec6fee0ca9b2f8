import { hidden } from "../../../contract/traffic/secret-headers.ts";
import { namesSecret } from "../../../contract/traffic/secret-names.ts";
import { readingsOf } from "../../core/credentials/text-readings.ts";
import { createHttpRedaction, type HttpRedaction } from "../../core/http/record/http-redaction.ts";
import { isGzip } from "../../core/http/record/packed-content.ts";
import { isRedactable } from "../../core/http/record/redact-body.ts";
import { redactedStart } from "../dialects/redacted-start.ts";

/** Behind it comes the path; in a URL as a target, behind its server. */
const pathStart = /^(?:https?:\/\/[^/?#]*)?(?=\/)/i;
/** Encoded once, or again. */
const colon = /:|%(?:25){0,9}3a/i;
/** What the client puts behind its key, with a query or without. */
const keyEnd = /\/(?:id|peers)(?=[?#]|$)/g;

/** RFC 9725 §4.6: a Link to a TURN server has the password for it. */
const linkCredential = /(\bcredential\s*=\s*)(?:"(?:\\.|[^"\\])*"?|[^\s;,"]*)/gi;

/**
 * A request target without the password in the key of PeerJS, "room:password". The client puts it behind its path, which may be a wrong one, and
 * encodes nothing of it: everything from the first colon of a path to the end of the key is hidden.
 */
export function withoutKeyPassword(target: string): string {
  const start = pathStart.exec(target)?.[0].length;
  if (start === undefined) return target;
  const path = target.slice(start);
  const found = colon.exec(path);
  const queryAt = path.search(/[?#]/);
  if (!found || (queryAt !== -1 && queryAt < found.index)) return target;
  const secretAt = found.index + found[0].length;
  const rest = path.slice(secretAt);
  const endsAt = [...rest.matchAll(keyEnd)].at(-1)?.index ?? (queryAt === -1 ? path.length : queryAt) - secretAt;
  return endsAt === 0 ? target : `${target.slice(0, start + secretAt)}…${rest.slice(endsAt)}`;
}

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
