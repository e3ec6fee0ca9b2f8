import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { TextDecoder } from "node:util";
import { parseJsonExactly } from "./exact-json.ts";
import { HttpProblem } from "./http-problem.ts";
import { isJsonType, isTextType, parseMediaType } from "./media-type.ts";

export type Fields = Record<string, string | string[]>;

export interface UploadedFile {
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** A body by what it is. */
export type BodyContent =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly value: unknown; readonly text: string }
  | { readonly kind: "form"; readonly fields: Fields }
  | { readonly kind: "multipart"; readonly fields: Fields; readonly files: readonly UploadedFile[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Buffer };

/** Throws 400 where the body is not what its type says, 415 for a charset nobody knows. */
export async function parseBody(request: IncomingMessage, body: Buffer): Promise<BodyContent> {
  if (body.length === 0) return { kind: "none" };
  const { essence, parameters } = parseMediaType(request.headers["content-type"]);
  const charset = parameters.get("charset");
  if (isJsonType(essence)) {
    const text = decodeText(body, charset);
    return { kind: "json", value: parseJson(text), text };
  }
  if (essence === "application/x-www-form-urlencoded") return { kind: "form", fields: formFields(decodeText(body, charset)) };
  if (essence === "multipart/form-data") return parseMultipart(request.headers["content-type"] ?? "", body);
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
    throw new HttpProblem(415, "Unsupported charset");
  }
  try {
    return decoder.decode(body);
  } catch {
    throw new HttpProblem(400, `The body is not valid ${decoder.encoding}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return parseJsonExactly(text);
  } catch (error) {
    const place = /position \d+(?: \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0];
    throw new HttpProblem(400, place ? `Invalid JSON at ${place}` : "Invalid JSON");
  }
}

/** Fields without a prototype, so that a field named __proto__ is only a field; several values of one name are a list. */
export function formFields(text: string): Fields {
  const fields = Object.create(null) as Fields;
  for (const [name, value] of new URLSearchParams(text)) addField(fields, name, value);
  return fields;
}

function addField(fields: Fields, name: string, value: string): void {
  const earlier = fields[name];
  if (earlier === undefined) fields[name] = value;
  else if (Array.isArray(earlier)) earlier.push(value);
  else fields[name] = [earlier, value];
}

async function parseMultipart(contentType: string, body: Buffer): Promise<BodyContent> {
  const form = await new Response(new Uint8Array(body), { headers: { "Content-Type": contentType } }).formData().catch(() => {
    throw new HttpProblem(400, "Invalid multipart body");
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
