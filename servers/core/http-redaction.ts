import type { HeaderList } from "../../contract/http-exchange.ts";
import { redactTarget, secretName } from "./http-log-line.ts";
import { hidden, type IsSecret, redactBody } from "./redact-body.ts";

/** What an exchange is told without, for services whose clients send real credentials. */
export interface HttpRedaction {
  target(target: string): string;
  headers(headers: HeaderList): HeaderList;
  body(body: Buffer): Buffer;
}

/** Credentials in header fields and the target are always hidden; in JSON and form bodies the fields that `isSecret` names. */
export function createHttpRedaction(isSecret: IsSecret): HttpRedaction {
  return {
    target: redactTarget,
    headers: (headers) => headers.map(([name, value]) => [name, isCredential(name, value) ? redactCredential(value) : value] as const),
    body: (body) => (body.length === 0 ? body : Buffer.from(redactBody(body.toString("utf8"), isSecret))),
  };
}

/** A challenge holds no secret, and a client may have misspelt the name of the field. */
const isCredential = (name: string, value: string) =>
  (/cookie/i.test(name) || secretName.test(name) || /^(?:basic|bearer|digest)\s/i.test(value)) &&
  !/^(?:www|proxy)-authenticate$/i.test(name);

/** "Bearer •••" */
function redactCredential(value: string): string {
  const scheme = /^(?:basic|bearer|digest)(?=\s)/i.exec(value)?.[0];
  return scheme === undefined ? hidden : `${scheme} ${hidden}`;
}
