import { parse } from "content-type";
import { namesSecret } from "../../../contract/traffic/secret-names.ts";
import { runForClient } from "../../core/http/connections/client-work.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { formFieldsInSteps } from "../../core/http/messages/form-fields.ts";
import { formParts } from "../../core/http/messages/form-parts.ts";
import { isCoded, readBody } from "../../core/http/messages/request-body.ts";
import { BoundedCache } from "../../core/limits/bounded-cache.ts";
import { shownAccount } from "../access/access-refused.ts";
import { Refusal } from "./refusal.ts";

/** Fields of a form (multipart too) or JSON body, by name; a form has only texts. */
export type Fields = ReadonlyMap<string, unknown>;

const none: Fields = new Map();

/** Throws 400, 415 and BodyTooLarge. Content-Type is often wrong: a body that starts like JSON is read as JSON, and a form labelled JSON as a form. */
export async function readFields(request: HttpRequest, response: HttpResponse, limitBytes: number): Promise<Fields> {
  if (isCoded(request)) {
    request.resume();
    throw new Refusal(415, "unsupportedencoding", { headers: { "Accept-Encoding": "identity" } });
  }
  const { type, parameters } = parse(request.headers["content-type"] ?? "");
  const body = await readBody(request, response, limitBytes);
  if (type === "multipart/form-data") return runForClient(request, multipartFields(body, parameters.boundary));
  const text = decode(body).trim();
  if (text === "") return none;
  const isForm = /^[\w.[\]%+-]+=\S*$/.test(text);
  if (/^[[{"]/.test(text) || (/[/+]json$/.test(type) && !isForm)) return runForClient(request, jsonFields(text));
  if (/[/+]json$/.test(type) || type === "" || type === "application/x-www-form-urlencoded" || type === "text/plain")
    return new Map(await runForClient(request, formFieldsInSteps(Buffer.from(text))));
  throw new Refusal(415, "unsupportedtype", {
    headers: { Accept: "application/json, application/x-www-form-urlencoded, multipart/form-data" },
  });
}

const mostParts = 100;

/** As PHP sends an array, and curl with -F. No route takes files. */
function* multipartFields(body: Buffer, boundary: string | undefined): Generator<void, Fields> {
  const fields = new Map<string, unknown>();
  for (const { name, filename, bytes } of yield* formParts(body, boundary, mostParts)) {
    if (filename === undefined) fields.set(name, decode(bytes));
  }
  return fields;
}

function decode(body: Buffer): string {
  try {
    // The decoder removes a byte order mark too (RFC 8259 §8.1).
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new Refusal(400, "invalidbody");
  }
}

/** Characters of JSON that is more than a step: thousands of names take some milliseconds to parse, to list and to map. */
const stepLength = 8 << 10;

export function* jsonFields(text: string): Generator<void, Fields> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal(400, "invalidjson");
  }
  if (typeof value !== "object" || value === null || (Array.isArray(value) && value.length > 0)) throw new Refusal(400, "invalidbody");
  const isLong = text.length > stepLength;
  if (isLong) yield;
  // PHP serializes a body without fields as an empty list.
  const fields = Object.entries(value);
  if (isLong) yield;
  return new Map(fields);
}

/** Empty if it is missing or not a text. */
export function textField(fields: Fields, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}

/** Fields for the user's name, into which users sometimes type their password. */
const accountName = /^(?:user(?:_?name)?|login|e?mail|account)$/i;

/** Secret fields of the API's bodies, and the names that clients may send instead: never recorded. */
export function isSecretField(name: string, value?: string): boolean {
  const naming = namings.get(name, namingOf);
  return naming === "secret" || (naming === "account" && value !== "" && shownAccount(value?.trim() ?? "") === undefined);
}

type Naming = "secret" | "account" | "other";
/** Nearly all fields have one of a few names: the cache avoids matching the patterns again. */
const namings = new BoundedCache<string, Naming>(500);

const namingOf = (name: string): Naming => (namesSecret(name) ? "secret" : accountName.test(name) ? "account" : "other");
