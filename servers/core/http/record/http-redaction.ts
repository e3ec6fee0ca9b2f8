import { redactFieldValue, redactTarget } from "../../../../contract/traffic/redact-target.ts";
import { hidden, isCredentialField } from "../../../../contract/traffic/secret-headers.ts";
import { readingsOf } from "../../credentials/text-readings.ts";
import { isGzip } from "./packed-content.ts";
import { type IsSecret, redactBody } from "./redact-body.ts";

/** Redaction of an exchange, for services whose clients send real credentials. */
export interface HttpRedaction {
  target(target: string): string;
  /** The value to be shown of a header field. */
  field(name: string, value: string): string;
  /** Whether a response head may hold a credential: if not, it is recorded as it was written. */
  mayHoldCredential(head: string): boolean;
  /** The same buffer where nothing is hidden. */
  body(body: Buffer): Buffer;
}

/** Credentials in header fields and the target are always hidden; in JSON and form bodies the fields that `isSecret` names. */
export function createHttpRedaction(isSecret: IsSecret): HttpRedaction {
  /** Bodies in which nothing is hidden: clients ask for the same data again and again. */
  const clean = new Set<string>();
  return {
    target: redactTarget,
    field: (name, value) => (isCredentialField(name, value) ? redactCredential(value) : redactFieldValue(name, value)),
    mayHoldCredential,
    body(body) {
      if (body.length === 0) return body;
      const isSmall = body.length <= rememberedBodyBytes;
      const bytes = isSmall ? body.toString("latin1") : "";
      if (isSmall && clean.has(bytes)) return body;
      // No request to such a service, and no answer of it, is packed.
      if (isGzip(body)) return Buffer.from(hidden);
      const [{ text, bytesOf }] = readingsOf(body);
      const shown = redactBody(text, isSecret);
      if (shown !== text) return bytesOf(shown);
      if (isSmall) {
        if (clean.size >= rememberedBodies) clean.clear();
        clean.add(bytes);
      }
      return body;
    },
  };
}

/** True for every response head with a field that is a credential or has one in a URL. */
function mayHoldCredential(head: string): boolean {
  // Behind the status line.
  for (let start = head.indexOf(lineBreak) + 2; start > 1 && start < head.length; ) {
    const lineEnd = head.indexOf(lineBreak, start);
    const end = lineEnd === -1 ? head.length : lineEnd;
    const colon = head.indexOf(":", start);
    const nameEnd = colon === -1 || colon > end ? end : colon;
    const value = head.slice(nameEnd + 1, end).trimStart();
    const name = head.slice(start, nameEnd);
    if (isCredentialField(name, value) || redactFieldValue(name, value) !== value) return true;
    start = end + 2;
  }
  return false;
}

const lineBreak = "\r\n";
const rememberedBodies = 100;
const rememberedBodyBytes = 4 << 10;

/** "Bearer •••" */
function redactCredential(value: string): string {
  const scheme = /^(?:basic|bearer|digest)(?=\s)/i.exec(value)?.[0];
  return scheme === undefined ? hidden : `${scheme} ${hidden}`;
}
