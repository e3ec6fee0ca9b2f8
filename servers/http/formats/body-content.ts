import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { TextDecoder } from "node:util";
import { HttpRefusal } from "../../core/http/http-refusal.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { readBody } from "./content-coding.ts";
import { isJsonType, isTextType, parseMediaType } from "./media-type.ts";

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
  | { readonly kind: "json"; readonly value: unknown; readonly text: string }
  | { readonly kind: "form"; readonly fields: Fields }
  | { readonly kind: "multipart"; readonly fields: Fields; readonly files: readonly UploadedFile[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Buffer };

/** Throws 400 if the body does not match its type, 415 for an unknown charset. */
async function parseBody(request: IncomingMessage, body: Buffer): Promise<BodyContent> {
  if (body.length === 0) return { kind: "none" };
  const { essence, parameters } = parseMediaType(request.headers["content-type"]);
  const charset = parameters.charset;
  if (isJsonType(essence)) {
    const text = decodeText(body, charset);
    return { kind: "json", value: parseJson(text), text };
  }
  if (essence === "application/x-www-form-urlencoded") return { kind: "form", fields: formFields(decodeText(body, charset)) };
  if (essence === "multipart/form-data") return parseMultipart(request.headers["content-type"] ?? "", parameters.boundary, body);
  if (isTextType(essence) || charset !== undefined) return { kind: "text", text: decodeText(body, charset) };
  // RFC 9110 §8.3: without a Content-Type the recipient may look at the data.
  if (essence === "" && isUtf8(body)) return { kind: "text", text: body.toString("utf8") };
  return { kind: "binary", bytes: body };
}

function decodeText(body: Buffer, charset = "utf-8"): string {
  const isUtf8Label = /^utf-?8$/i.test(charset);
  if (isUtf8Label && isUtf8(body)) return body.toString("utf8").replace(/^\uFEFF/, "");
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

function parseJson(text: string): unknown {
  try {
    return parseJsonExactly(text);
  } catch (error) {
    const place = /position \d+(?: \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0];
    throw new HttpRefusal(400, place ? `Invalid JSON at ${place}` : "Invalid JSON");
  }
}

/** Fields without a prototype, so that a field named __proto__ is only a field; several values of one name are a list. */
export function formFields(text: string): Fields {
  const fields = Object.create(null) as Fields;
  for (const [name, value] of new URLSearchParams(text)) addField(fields, name, value);
  return fields;
}

export function addField(fields: Fields, name: string, value: string): void {
  const earlier = fields[name];
  if (earlier === undefined) fields[name] = value;
  else if (Array.isArray(earlier)) earlier.push(value);
  else fields[name] = [earlier, value];
}

/** Most parts of a form: each one becomes an object. */
const mostParts = 2_000;

/** By the boundary of the media type, as they are parsed: a form may begin with line breaks, and with other text. */
function countParts(body: Buffer, boundary: string): number {
  const delimiter = Buffer.from(`--${boundary}`, "latin1");
  // The last one ends the form.
  let parts = -1;
  for (let at = body.indexOf(delimiter); at !== -1 && parts <= mostParts; at = body.indexOf(delimiter, at + delimiter.length)) parts += 1;
  return parts;
}

async function parseMultipart(contentType: string, boundary: string | undefined, body: Buffer): Promise<BodyContent> {
  if (boundary === undefined) throw new HttpRefusal(400, "Invalid multipart body");
  if (countParts(body, boundary) > mostParts) throw new HttpRefusal(413, `The form has more than ${mostParts} parts`);
  const form = await new Response(new Uint8Array(body), { headers: { "Content-Type": contentType } }).formData().catch(() => {
    throw new HttpRefusal(400, "Invalid multipart body");
  });
  const fields = Object.create(null) as Fields;
  const files: UploadedFile[] = [];
  for (const [field, value] of form) {
    if (typeof value === "string") addField(fields, field, value);
    else {
      const bytes = Buffer.from(await value.arrayBuffer());
      files.push({ field, filename: value.name, contentType: value.type || "application/octet-stream", bytes });
    }
  }
  return { kind: "multipart", fields, files };
}

export interface ReadContent {
  readonly content: BodyContent;
  readonly body: Buffer;
}

/** Reads and parses the body; throws 400, 413 or 415. */
export async function readContent(request: HttpRequest, response: HttpResponse, limitBytes: number): Promise<ReadContent> {
  const body = await readBody(request, response, limitBytes);
  return { body, content: await parseBody(request, body) };
}

/** Like `readContent`, but a body that does not match its type is shown as text, as in httpbin. */
export async function readContentLeniently(request: HttpRequest, response: HttpResponse, limitBytes: number): Promise<ReadContent> {
  const body = await readBody(request, response, limitBytes);
  try {
    return { body, content: await parseBody(request, body) };
  } catch (error) {
    if (!(error instanceof HttpRefusal)) throw error;
    return { body, content: lenientContent(body) };
  }
}

function lenientContent(body: Buffer): BodyContent {
  const text = utf8Text(body);
  return text === undefined ? { kind: "binary", bytes: body } : { kind: "text", text };
}

/** In `lib` only from es2026 on; Node has had both since 21. */
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
}
const exact = JSON as unknown as ExactJson;

/**
 * Numbers that may not come back as written: too many digits, an exponent, a fraction that is tiny or ends with 0, and -0.
 * The character before a number is checked too, so that dates and article numbers in strings do not count.
 */
const delicateNumber = /(?:^|[\s:,[])(?:-0(?![.\d])|-?(?:\d{16}|\d{7,}\.|\d+[eE]|\d+\.(?:\d{10}|0{6}|\d{0,8}0(?!\d)|\d+[eE])))/;

/** Parses so that `JSON.stringify` gives each number back as it was written, also one that JavaScript would round. */
function parseJsonExactly(text: string): unknown {
  if (!delicateNumber.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  );
}

/** The bytes as text; undefined where they are not UTF-8. */
export const utf8Text = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString("utf8") : undefined);
