import type { HeaderField } from "./header-field.ts";

/** The header fields of a request, by their names, which are in lower case. */
export type RequestFields = Readonly<Record<string, string | undefined>>;

export interface RequestHead {
  /** Those of the same name are joined, or the first one counts where only one is allowed. */
  readonly headers: RequestFields;
  /** As received: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  /** Of the body, if the client said so. */
  readonly contentLength: number | undefined;
}

const colon = 58;
const isPseudo = (name: string): boolean => name.charCodeAt(0) === colon;

/** RFC 9113 §8.2.2 */
const ofConnection = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
const ofRequest = new Set([":method", ":scheme", ":path", ":authority"]);
/** A second one has no meaning: RFC 9110 §5.3. */
const single = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "from",
  "host",
  "max-forwards",
  "origin",
  "proxy-authorization",
  "referer",
  "user-agent",
]);

/** RFC 9113 §8.3.1: a request, or the reason why it is malformed. */
export function requestHead(fields: readonly HeaderField[]): RequestHead | string {
  const headers = Object.create(null) as Record<string, string | undefined>;
  const rawHeaders: string[] = [];
  let hasRegular = false;
  let contentLength: number | undefined;
  for (const field of fields) {
    const { name, value } = field;
    const fault = faultOf(field);
    if (fault) return fault;
    rawHeaders.push(name, value);
    const before = headers[name];
    if (isPseudo(name)) {
      if (hasRegular) return `${name} is behind other fields`;
      if (!ofRequest.has(name)) return "there is an unknown pseudo-header field";
      if (before !== undefined) return `${name} is there twice`;
      headers[name] = value;
      continue;
    }
    hasRegular = true;
    if (name === "content-length") {
      const length = lengthOf(value);
      if (length === undefined || (before !== undefined && before !== value)) return "content-length is not a number";
      contentLength = length;
    }
    if (before === undefined) headers[name] = value;
    else if (!single.has(name)) headers[name] = `${before}${name === "cookie" ? "; " : ", "}${value}`;
  }
  return targetFault(headers) ?? { headers, rawHeaders, contentLength };
}

/** RFC 9113 §8.1: why the fields behind a body are malformed; undefined if they are not. */
export function trailersFault(fields: readonly HeaderField[]): string | undefined {
  for (const field of fields) {
    const fault = isPseudo(field.name) ? "trailers have a pseudo-header field" : faultOf(field);
    if (fault) return fault;
  }
  return undefined;
}

function faultOf({ name, value, isValid }: HeaderField): string | undefined {
  if (!isValid) return "a header field has characters that are not allowed";
  if (ofConnection.has(name)) return `${name} is a field of HTTP/1.1`;
  if (name === "te" && value.toLowerCase() !== "trailers") return "te is not trailers";
  return undefined;
}

function targetFault(headers: RequestFields): string | undefined {
  const { ":method": method, ":scheme": scheme, ":path": path, ":authority": authority } = headers;
  if (method === undefined || method === "") return ":method is missing";
  // RFC 9113 §8.5
  if (method === "CONNECT") {
    return scheme === undefined && path === undefined && authority ? undefined : "CONNECT has :authority, and neither :scheme nor :path";
  }
  if (scheme === undefined || scheme === "") return ":scheme is missing";
  if (path === undefined || path === "") return ":path is missing";
  const isHttp = scheme === "http" || scheme === "https";
  return !isHttp || path.startsWith("/") || (path === "*" && method === "OPTIONS") ? undefined : ":path does not begin with a slash";
}

function lengthOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
