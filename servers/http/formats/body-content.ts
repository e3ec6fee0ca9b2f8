import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { TextDecoder } from "node:util";
import { runForClient } from "../../core/http/connections/client-work.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { type FormField, formFieldsInSteps, utf8InSteps } from "../../core/http/messages/form-fields.ts";
import { formParts, tooManyFields } from "../../core/http/messages/form-parts.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { readBody } from "./content-coding.ts";
import { isJsonType, isTextType, parseMediaType } from "./media-type.ts";
import { WrittenJson } from "./written-json.ts";

export type Fields = Record<string, string | string[]>;

export interface UploadedFile {
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A body, decoded by its type. */
export type BodyContent =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly json: WrittenJson }
  | { readonly kind: "form"; readonly fields: Fields }
  | { readonly kind: "multipart"; readonly fields: Fields; readonly files: readonly UploadedFile[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Buffer };

export interface BodyLimits {
  readonly bodyBytes: number;
  /** Fields of a form, parts of one that is multipart: each one becomes an object. */
  readonly formFields: number;
}

/** Throws 400 if the body does not match its type, 413 for a form of too many fields, 415 for an unknown charset. */
async function parseBody(request: HttpRequest, body: Buffer, reading: BodyLimits): Promise<BodyContent> {
  return body.length === 0 ? { kind: "none" } : await runForClient(request, parseInSteps(request, body, reading));
}

function* parseInSteps(request: IncomingMessage, body: Buffer, { formFields: mostFields }: BodyLimits): Generator<void, BodyContent> {
  const { essence, parameters } = parseMediaType(request.headers["content-type"]);
  const charset = parameters.charset;
  if (essence === "multipart/form-data") return yield* parseMultipart(parameters.boundary, body, mostFields);
  if (isJsonType(essence)) {
    return { kind: "json", json: yield* parseJson(utf8Bytes(body, charset)) };
  }
  if (essence === "application/x-www-form-urlencoded") return yield* parseForm(body, charset, mostFields);
  if (isTextType(essence) || charset !== undefined) return { kind: "text", text: decodeText(body, charset) };
  // RFC 9110 §8.3: without a Content-Type the recipient may look at the data.
  if (essence === "" && isUtf8(body)) return { kind: "text", text: body.toString("utf8") };
  return { kind: "binary", bytes: body };
}

function decodeText(body: Buffer, charset = "utf-8"): string {
  if (isUtf8Label(charset) && isUtf8(body)) return body.toString("utf8").replace(/^\uFEFF/, "");
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    throw new HttpRefusal(415, "Unsupported charset");
  }
  try {
    return decoder.decode(body);
  } catch {
    throw new HttpRefusal(400, `The body is not valid ${decoder.encoding}`);
  }
}

const isUtf8Label = (charset: string): boolean => /^utf-?8$/i.test(charset);

/** The same in UTF-8. */
function utf8Bytes(body: Buffer, charset = "utf-8"): Buffer {
  const isMarked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return isUtf8Label(charset) && isUtf8(body) ? body.subarray(isMarked ? 3 : 0) : Buffer.from(decodeText(body, charset));
}

function* parseJson(bytes: Buffer): Generator<void, WrittenJson> {
  try {
    return yield* WrittenJson.read(bytes);
  } catch (error) {
    throw new HttpRefusal(400, (error as SyntaxError).message);
  }
}

/** Fields without a prototype, so that a field named __proto__ is only a field; several values of one name are a list. */
function* fieldsByName(pairs: Iterable<FormField>): Generator<void, Fields> {
  const fields = Object.create(null) as Fields;
  for (const [name, value] of pairs) {
    addField(fields, name, value);
    yield;
  }
  return fields;
}

export function addField<Value>(fields: Record<string, Value | Value[]>, name: string, value: Value): void {
  const earlier = fields[name];
  if (earlier === undefined) fields[name] = value;
  else if (Array.isArray(earlier)) earlier.push(value);
  else fields[name] = [earlier, value];
}

/** Positions of a text in a body. */
function* positionsOf(text: string, body: Buffer): Generator<number> {
  for (let at = body.indexOf(text); at !== -1; at = body.indexOf(text, at + text.length)) yield at;
}

/** The last byte separates nothing. */
function* parseForm(body: Buffer, charset: string | undefined, mostFields: number): Generator<void, BodyContent> {
  let fields = 1;
  for (const _ of positionsOf("&", body.subarray(0, -1))) if (++fields > mostFields) throw tooManyFields(mostFields);
  const pairs = yield* formFieldsInSteps(utf8Bytes(body, charset));
  return { kind: "form", fields: yield* fieldsByName(pairs) };
}

function* parseMultipart(boundary: string | undefined, body: Buffer, mostFields: number): Generator<void, BodyContent> {
  const fields = Object.create(null) as Fields;
  const files: UploadedFile[] = [];
  for (const { name, filename, contentType, bytes } of yield* formParts(body, boundary, mostFields)) {
    if (filename === undefined) addField(fields, name, (yield* utf8InSteps(bytes)).replace(/^\uFEFF/, ""));
    // RFC 7578 §4.4
    else files.push({ field: name, filename, contentType: contentType ?? "text/plain", bytes });
    yield;
  }
  return { kind: "multipart", fields, files };
}

export interface ReadContent {
  readonly content: BodyContent;
  readonly body: Buffer;
}

/** Reads and parses the body; throws 400, 413 or 415. */
export async function readContent(request: HttpRequest, response: HttpResponse, reading: BodyLimits): Promise<ReadContent> {
  const body = await readBody(request, response, reading.bodyBytes);
  return { body, content: await parseBody(request, body, reading) };
}

/** Like `readContent`, but a body that does not match its type is shown as text, as in httpbin. */
export async function readContentLeniently(request: HttpRequest, response: HttpResponse, reading: BodyLimits): Promise<ReadContent> {
  const body = await readBody(request, response, reading.bodyBytes);
  return { body, content: await parseLeniently(request, body, reading) };
}

export async function parseLeniently(request: HttpRequest, body: Buffer, reading: BodyLimits): Promise<BodyContent> {
  try {
    return await parseBody(request, body, reading);
  } catch (error) {
    if (!(error instanceof HttpRefusal)) throw error;
    return lenientContent(body);
  }
}

function lenientContent(body: Buffer): BodyContent {
  const text = utf8Text(body);
  return text === undefined ? { kind: "binary", bytes: body } : { kind: "text", text };
}

/** The bytes as text; undefined where they are not UTF-8. */
export const utf8Text = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString("utf8") : undefined);
