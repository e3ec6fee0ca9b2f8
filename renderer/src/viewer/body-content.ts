import type { HeaderList, HttpBody } from "../../../contract/traffic/http.ts";
import { type ImageSize, imageSize } from "./image-size.ts";
import { looksLikeJson } from "./json-tokens.ts";
import { multipartParts, type Part } from "./multipart.ts";

/** What a body is, for showing it. `text` is set wherever its bytes are text. */
export type BodyContent =
  | { readonly kind: "empty" }
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "form"; readonly text: string; readonly fields: readonly (readonly [string, string])[] }
  | { readonly kind: "multipart"; readonly text?: string; readonly parts: readonly Part[] }
  | { readonly kind: "image"; readonly size: ImageSize; readonly mediaType: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary" };

export const mediaTypeOf = (contentType: string): string => contentType.split(";")[0]!.trim().toLowerCase();

export const headerValue = (headers: HeaderList, name: string): string =>
  headers.find(([other]) => other.toLowerCase() === name)?.[1] ?? "";

export function bodyBytes(body: HttpBody): Uint8Array<ArrayBuffer> {
  const binary = atob(body.base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

export function bodyContent(bytes: Uint8Array, contentType: string, isCut = false): BodyContent {
  if (bytes.length === 0) return { kind: "empty" };
  const mediaType = mediaTypeOf(contentType);
  const size = imageSize(bytes);
  if (size) return { kind: "image", size, mediaType: `image/${size.format.toLowerCase()}` };
  const text = textOf(bytes, contentType, isCut);
  if (mediaType === "multipart/form-data") {
    const parts = multipartParts(bytes, contentType);
    if (parts.length > 0) return { kind: "multipart", parts, ...(text !== undefined && { text }) };
  }
  if (text === undefined) return { kind: "binary" };
  if (mediaType === "application/x-www-form-urlencoded") return { kind: "form", text, fields: [...new URLSearchParams(text)] };
  // An answer that says "text" may still be JSON; one that says HTML is not.
  if (/[/+]json$/.test(mediaType) || (mediaType !== "text/html" && looksLikeJson(text))) return { kind: "json", text };
  return { kind: "text", text };
}

/** The bytes as text, or undefined where they are none: not of the declared charset, or with control characters. */
function textOf(bytes: Uint8Array, contentType: string, isCut: boolean): string | undefined {
  const charset = /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  let text: string;
  try {
    // A cut body may end within a character: streaming leaves that one out instead of failing.
    text = new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells text from bytes.
  return /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
}
