import type { HeaderField } from "./header-field.ts";

/** The header fields of a request. There may be thousands, so no more is made of them than what is asked for. */
export class RequestHead {
  /** As received: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  /** Of the body, if the client said so. */
  readonly contentLength: number | undefined;

  constructor(rawHeaders: readonly string[], contentLength: number | undefined) {
    this.rawHeaders = rawHeaders;
    this.contentLength = contentLength;
  }

  /** The value of the fields of a name in lower case: they are joined, or the first one counts where only one is allowed. */
  field(name: string): string | undefined {
    const { rawHeaders } = this;
    let joined: string | undefined;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (rawHeaders[index] !== name) continue;
      const value = rawHeaders[index + 1] as string;
      if (single.has(name)) return value;
      joined = joined === undefined ? value : `${joined}${name === "cookie" ? "; " : ", "}${value}`;
    }
    return joined;
  }
}

const colon = 58;
const isPseudo = (name: string): boolean => name.charCodeAt(0) === colon;

type Target = Record<":method" | ":scheme" | ":path" | ":authority", string | undefined>;
const isOfTarget = (name: string, target: Target): name is keyof Target => Object.hasOwn(target, name);

/** RFC 9113 §8.2.2 */
const ofConnection = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
/** A second one has no meaning: RFC 9110 §5.3. */
const single = new Set([
  ":method",
  ":scheme",
  ":path",
  ":authority",
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
  const target: Target = { ":method": undefined, ":scheme": undefined, ":path": undefined, ":authority": undefined };
  const rawHeaders = new Array<string>(2 * fields.length);
  let hasRegular = false;
  let contentLength: number | undefined;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as HeaderField;
    const { name, value } = field;
    const fault = faultOf(field);
    if (fault) return fault;
    rawHeaders[2 * index] = name;
    rawHeaders[2 * index + 1] = value;
    if (isPseudo(name)) {
      if (hasRegular) return `${name} is behind other fields`;
      if (!isOfTarget(name, target)) return "there is an unknown pseudo-header field";
      if (target[name] !== undefined) return `${name} is there twice`;
      target[name] = value;
      continue;
    }
    hasRegular = true;
    if (name !== "content-length") continue;
    const length = lengthOf(value);
    if (length === undefined || (contentLength !== undefined && length !== contentLength)) return "content-length is not a number";
    contentLength = length;
  }
  return targetFault(target) ?? new RequestHead(rawHeaders, contentLength);
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

function targetFault({ ":method": method, ":scheme": scheme, ":path": path, ":authority": authority }: Target): string | undefined {
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
