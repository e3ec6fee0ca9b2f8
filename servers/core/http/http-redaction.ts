import type { HeaderList } from "../../../contract/traffic/http.ts";
import { redactTarget, secretName } from "./http-log-line.ts";
import { hidden, type IsSecret, redactBody } from "./redact-body.ts";

/** Redaction of an exchange, for services whose clients send real credentials. */
export interface HttpRedaction {
  target(target: string): string;
  headers(headers: HeaderList): HeaderList;
  body(body: Buffer): Buffer;
}

/** Credentials in header fields and the target are always hidden; in JSON and form bodies the fields that `isSecret` names. */
export function createHttpRedaction(isSecret: IsSecret): HttpRedaction {
  return {
    target: redactTarget,
    headers: (headers) => headers.map((field) => (isCredential(field) ? ([field[0], redactCredential(field[1])] as const) : field)),
    body: (body) => (body.length === 0 ? body : Buffer.from(redactBody(body.toString("utf8"), isSecret))),
  };
}

/** By the name of the field, or by the scheme in its value where the name is misspelt. A challenge holds no secret. */
const isCredential = ([name, value]: HeaderList[number]) => {
  const naming = namingOf(name);
  return naming === "secret" || (naming === "other" && /^(?:basic|bearer|digest)\s/i.test(value));
};

type Naming = "secret" | "challenge" | "other";
/** Nearly all fields have one of a few names: the cache avoids matching the patterns again. */
const namings = new Map<string, Naming>();
const rememberedNames = 500;

function namingOf(name: string): Naming {
  const known = namings.get(name);
  if (known !== undefined) return known;
  const isChallenge = /^(?:www|proxy)-authenticate$/i.test(name);
  const naming = isChallenge ? "challenge" : /cookie/i.test(name) || secretName.test(name) ? "secret" : "other";
  if (namings.size >= rememberedNames) namings.clear();
  namings.set(name, naming);
  return naming;
}

/** "Bearer •••" */
function redactCredential(value: string): string {
  const scheme = /^(?:basic|bearer|digest)(?=\s)/i.exec(value)?.[0];
  return scheme === undefined ? hidden : `${scheme} ${hidden}`;
}
