/** HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), an entry at a time. */
import type { ServiceId } from "../../../contract/service.ts";
import { type HeaderList, type HttpBody, type HttpExchange, headerValue, wholeBytes } from "../../../contract/traffic/http.ts";
import { hidden } from "../../../contract/traffic/secret-headers.ts";
import type { WebSocketConnection } from "../../../contract/traffic/websocket.ts";
import { QueryFields } from "../../core/http/messages/form-fields.ts";
import type { HarMessages } from "./har-web-socket.ts";

/** What is before the first entry. */
export const harHead = (version: string): string =>
  `{"log":{"version":"1.2","creator":${JSON.stringify({ name: "Backlot", version })},"entries":[\n`;
/** What is after the last one. */
export const harTail = "\n]}}\n";

const named = (headers: HeaderList) => headers.map(([name, value]) => ({ name, value }));
/** The format's value for an unknown number. */
const unknown = -1;

/** Of a WebSocket the handshake, which has no bodies: what is counted there are its messages. */
const ofHandshake: HttpBody = { bytes: 0, base64: "" };

/** `messages`: those of a WebSocket. */
export function harEntry(exchange: HttpExchange | WebSocketConnection, service: ServiceId, messages?: HarMessages): object {
  const { timing, connection, at, aborted } = exchange;
  const isWebSocket = exchange.kind === "websocket";
  const request = isWebSocket ? { ...exchange.request, body: ofHandshake } : exchange.request;
  const response = isWebSocket && exchange.response ? { ...exchange.response, body: ofHandshake } : exchange.response;
  const host = headerValue(request.headers, "host") || connection.local;
  const queryAt = request.target.indexOf("?");
  const query = queryAt < 0 ? "" : request.target.slice(queryAt + 1);
  const { text = "", encoding, comment } = contentOf(request.body, wholeBytes(request) ?? `more than ${request.body.bytes}`);
  return {
    startedDateTime: new Date(at).toISOString(),
    time: timing.totalMs ?? 0,
    request: {
      method: request.method,
      url: urlOf(request.target, `${connection.tls === undefined ? "http" : "https"}://${host}`),
      httpVersion: `HTTP/${request.httpVersion}`,
      cookies: [],
      headers: named(request.headers),
      queryString: [...new QueryFields(query)].map(([name, value]) => ({ name, value })),
      ...((request.body.bytes > 0 || request.body.isPart) && {
        // The format has no encoding for what is posted: tools that know the extension take it from "_encoding".
        postData: { mimeType: headerValue(request.headers, "content-type"), text, ...(encoding && { _encoding: encoding }), ...comment },
      }),
      headersSize: unknown,
      bodySize: request.body.bytes,
    },
    response: response
      ? {
          status: response.status,
          statusText: response.reason,
          httpVersion: `HTTP/${request.httpVersion}`,
          cookies: [],
          headers: named(response.headers),
          content: content(response.body, headerValue(response.headers, "content-type")),
          redirectURL: headerValue(response.headers, "location"),
          headersSize: unknown,
          bodySize: response.body.bytes,
        }
      : noResponse,
    cache: {},
    timings: { send: timing.receiveMs ?? 0, wait: timing.answerMs ?? 0, receive: timing.sendMs ?? 0 },
    connection: String(connection.id),
    _service: service,
    ...messages,
    ...(aborted !== undefined && { comment: [`ended early: ${aborted}`, messages?.comment ?? []].flat().join("; ") }),
  };
}

/** RFC 9112 §3.2: a target in absolute form is a URL already; "*" and that of CONNECT name no path. */
const urlOf = (target: string, origin: string): string => {
  if (target.startsWith("/")) return `${origin}${target}`;
  return /^https?:\/\//i.test(target) ? target : origin;
};

const noResponse = {
  status: 0,
  statusText: "",
  httpVersion: "",
  cookies: [],
  headers: [],
  content: { size: 0, mimeType: "" },
  redirectURL: "",
  headersSize: unknown,
  bodySize: unknown,
};

function content(body: HttpBody, mimeType: string): object {
  const { comment, ...kept } = contentOf(body);
  return { size: body.bytes, mimeType, ...kept, ...comment };
}

const leftOut: Buffer = Buffer.from(hidden);

/** The body as it crossed the wire: text where it is UTF-8, else base64. */
function contentOf({ base64, bytes, hiddenIn, isPart }: HttpBody, whole: number | string = bytes) {
  const kept = Buffer.from(base64, "base64");
  const keptBytes = hiddenIn ?? kept.length;
  const sentences = [
    ...(isPart || keptBytes < bytes ? [`the first ${keptBytes} of ${whole} bytes`] : []),
    ...(isPart ? ["it ended before the rest was read"] : []),
    ...(hiddenIn === undefined
      ? []
      : [kept.equals(leftOut) ? "left out: single values in it cannot be hidden" : "secret values are hidden"]),
  ];
  const comment = sentences.length > 0 ? { comment: sentences.join("; ") } : undefined;
  if (kept.length === 0) return { comment };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(kept), encoding: undefined, comment };
  } catch {
    return { text: base64, encoding: "base64", comment };
  }
}
