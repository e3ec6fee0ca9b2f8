import { StacklessError } from "../../core/service/stackless-error.ts";

/** Requests and answers of RTSP 1.0 (RFC 2326 §4 to §7). */

/** As they crossed the wire; names in their own spelling. */
export type HeaderFields = readonly (readonly [name: string, value: string])[];

export interface RtspRequest {
  readonly kind: "request";
  readonly method: string;
  readonly uri: string;
  /** "RTSP/1.0"; of a tunnel over HTTP "HTTP/1.0" or "HTTP/1.1", whose body is not read here. */
  readonly version: string;
  readonly headers: HeaderFields;
  readonly body: Buffer;
  /** The bytes from the start line to the empty line. */
  readonly head: Buffer;
}

export interface RtspResponse {
  readonly kind: "response";
  readonly status: number;
  readonly reason: string;
  readonly version: string;
  readonly headers: HeaderFields;
  readonly body: Buffer;
  readonly head: Buffer;
}

/** RTP or RTCP between the requests of a connection (§10.12). */
export interface InterleavedPacket {
  readonly kind: "packet";
  readonly channel: number;
  readonly payload: Buffer;
}

export type RtspItem = RtspRequest | RtspResponse | InterleavedPacket;

/** The first field of the name. */
export function headerOf(headers: HeaderFields, name: string): string | undefined {
  const wanted = name.toLowerCase();
  for (const [key, value] of headers) if (key.length === wanted.length && key.toLowerCase() === wanted) return value;
  return undefined;
}

export const headersOf = (headers: HeaderFields, name: string): readonly string[] =>
  headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

/** Reason phrases of §7.1.1. */
export const reasons = {
  100: "Continue",
  200: "OK",
  201: "Created",
  250: "Low on Storage Space",
  301: "Moved Permanently",
  302: "Moved Temporarily",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Time-out",
  411: "Length Required",
  413: "Request Entity Too Large",
  414: "Request-URI Too Large",
  415: "Unsupported Media Type",
  451: "Parameter Not Understood",
  452: "Conference Not Found",
  453: "Not Enough Bandwidth",
  454: "Session Not Found",
  455: "Method Not Valid in This State",
  456: "Header Field Not Valid for Resource",
  457: "Invalid Range",
  458: "Parameter Is Read-Only",
  459: "Aggregate Operation Not Allowed",
  460: "Only Aggregate Operation Allowed",
  461: "Unsupported Transport",
  462: "Destination Unreachable",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  505: "RTSP Version Not Supported",
  551: "Option Not Supported",
} as const;
export type RtspStatus = keyof typeof reasons;

export interface WrittenResponse {
  readonly status: RtspStatus;
  /** Echoed from the request; left out where it had none. */
  readonly cseq: string | undefined;
  readonly headers: HeaderFields;
  readonly body?: Buffer;
}

export function writeResponse({ status, cseq, headers, body }: WrittenResponse): Buffer {
  const fields = [...(cseq === undefined ? [] : [["CSeq", cseq] as const]), ...headers];
  return writeMessage(`RTSP/1.0 ${status} ${reasons[status]}`, fields, body);
}

export const writeRequest = (method: string, uri: string, headers: HeaderFields, body?: Buffer): Buffer =>
  writeMessage(`${method} ${uri} RTSP/1.0`, headers, body);

function writeMessage(startLine: string, headers: HeaderFields, body: Buffer | undefined): Buffer {
  let text = `${startLine}\r\n`;
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  if (body !== undefined) text += `Content-Length: ${body.length}\r\n`;
  const head = Buffer.from(`${text}\r\n`, "latin1");
  return body === undefined ? head : Buffer.concat([head, body]);
}

/** An answer other than success, thrown by whoever finds the reason. The message is for the row and the log. */
export class RtspRefusal extends StacklessError {
  readonly status: RtspStatus;
  readonly headers: HeaderFields;

  constructor(status: RtspStatus, message: string, headers: HeaderFields = []) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
