import { TLSSocket } from "node:tls";
import type { HttpRequest } from "../../core/http/http-route.ts";
import { addField, type BodyContent, type Fields, formFields, type UploadedFile, utf8Text } from "./body-content.ts";
import { DataUrl } from "./data-url.ts";
import { WrittenJson } from "./written-json.ts";

/** A request as httpbin's routes show it. */
export interface RequestView {
  readonly args: Fields;
  readonly headers: Readonly<Record<string, string>>;
  readonly origin: string;
  readonly url: string;
}

export interface RequestViewWithBody extends RequestView {
  readonly data: string | DataUrl;
  readonly files: Readonly<Fields>;
  readonly form: Fields;
  readonly json: WrittenJson | null;
}

export function viewRequest(request: HttpRequest): RequestView {
  return { args: argsOf(request), headers: headersOf(request), origin: originOf(request), url: urlOf(request) };
}

export function* viewRequestWithBody(request: HttpRequest, content: BodyContent, body: Buffer): Generator<void, RequestViewWithBody> {
  const { args, headers, origin, url } = viewRequest(request);
  yield;
  return { args, ...(yield* viewBody(content, body)), headers, origin, url };
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
      return { ...empty, form: content.fields, files: viewFiles(content.files) };
    case "text":
      return { ...empty, data: content.text, json: yield* writtenJsonOrNull(content.text) };
    case "binary":
      return { ...empty, data: new DataUrl("application/octet-stream", body) };
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

function viewFiles(files: readonly UploadedFile[]): Fields {
  const shown = Object.create(null) as Fields;
  for (const { field, contentType, bytes } of files) {
    const text = utf8Text(bytes) ?? new DataUrl(contentType, bytes).text;
    addField(shown, field, text);
  }
  return shown;
}

function argsOf(request: HttpRequest): Fields {
  const start = (request.url ?? "").indexOf("?");
  return formFields(start === -1 ? "" : (request.url ?? "").slice(start + 1));
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
