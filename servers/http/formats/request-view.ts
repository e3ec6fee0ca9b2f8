import { TLSSocket } from "node:tls";
import type { HttpRequest } from "../../core/http/http-route.ts";
import { queryFieldsOf } from "../../core/http/messages/form-fields.ts";
import { type Base64Text, dataUrl } from "./base64-text.ts";
import { addField, type BodyContent, type Fields, type UploadedFile, utf8Text } from "./body-content.ts";
import { WrittenJson } from "./written-json.ts";

/** A request as httpbin's routes show it. */
export interface RequestView {
  readonly args: Fields;
  readonly headers: Readonly<Record<string, string>>;
  readonly origin: string;
  readonly url: string;
}

type FileText = string | Base64Text;
type Files = Record<string, FileText | FileText[]>;

export interface RequestViewWithBody extends RequestView {
  readonly data: string | Base64Text;
  readonly files: Files;
  readonly form: Fields;
  readonly json: WrittenJson | null;
  /** Of /anything. */
  readonly method?: string;
}

export function viewRequest(request: HttpRequest): RequestView {
  return { args: argsOf(request), headers: headersOf(request), origin: originOf(request), url: urlOf(request) };
}

/** In httpbin's order: by name. */
export function* viewRequestWithBody(
  request: HttpRequest,
  content: BodyContent,
  body: Buffer,
  added: { readonly method?: string },
): Generator<void, RequestViewWithBody> {
  const { args, headers, origin, url } = viewRequest(request);
  yield;
  const { json, ...others } = yield* viewBody(content, body);
  return { args, ...others, headers, json, ...added, origin, url };
}

type BodyView = Pick<RequestViewWithBody, "data" | "files" | "form" | "json">;

function* viewBody(content: BodyContent, body: Buffer): Generator<void, BodyView> {
  const empty = { data: "", files: {}, form: {}, json: null };
  switch (content.kind) {
    case "none":
      return empty;
    case "json":
      return { ...empty, data: content.json.text, json: content.json };
    case "form":
      return { ...empty, form: content.fields };
    case "multipart":
      return { ...empty, form: content.fields, files: yield* viewFiles(content.files) };
    case "text":
      return { ...empty, data: content.text, json: yield* writtenJsonOrNull(content.text) };
    case "binary":
      return { ...empty, data: dataUrl("application/octet-stream", body) };
    default:
      return content satisfies never;
  }
}

function* writtenJsonOrNull(text: string): Generator<void, WrittenJson | null> {
  try {
    return yield* WrittenJson.read(Buffer.from(text));
  } catch {
    return null;
  }
}

function* viewFiles(files: readonly UploadedFile[]): Generator<void, Files> {
  const shown = Object.create(null) as Files;
  for (const { field, contentType, bytes } of files) {
    addField<FileText>(shown, field, utf8Text(bytes) ?? dataUrl(contentType, bytes));
    yield;
  }
  return shown;
}

function argsOf(request: HttpRequest): Fields {
  const fields = Object.create(null) as Fields;
  for (const [name, value] of queryFieldsOf(request.url ?? "")) addField(fields, name, value);
  return fields;
}

/** Names as httpbin writes them: "User-Agent", however the client spelt it. */
export function headersOf(request: HttpRequest): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = titleCase(rawHeaders[index] ?? "");
    const value = rawHeaders[index + 1] ?? "";
    headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  }
  return headers;
}

const titleCase = (name: string) => name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());

/** The connection's address; X-Forwarded-For is not trusted. */
export const originOf = (request: HttpRequest): string => request.socket.remoteAddress ?? "";

/** "http://127.0.0.1:8080", as the client addressed it. */
export function baseUrlOf(request: HttpRequest): string {
  const { host } = request.headers;
  return `${request.socket instanceof TLSSocket ? "https" : "http"}://${host || `${hostText(request.socket.localAddress ?? "127.0.0.1")}:${request.socket.localPort}`}`;
}

const hostText = (address: string) => (address.includes(":") ? `[${address}]` : address);

function urlOf(request: HttpRequest): string {
  const { url: originalUrl = "" } = request;
  // RFC 9112 §3.2.2: an absolute-form target already is the URL.
  return originalUrl.startsWith("/") ? baseUrlOf(request) + originalUrl : originalUrl;
}
