import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { endGently } from "./end-gently.ts";
import type { HttpRecorder } from "./http-recorder.ts";
import type { Log } from "./log.ts";
import type { RecordedResponse } from "./recorded-messages.ts";

/** What Node's parser reports with a `clientError`. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

export interface MalformedOptions {
  readonly recorder: HttpRecorder;
  readonly log: Log;
  /** The service's own shape of an error, as JSON. */
  readonly errorBody: (status: number, message: string) => string;
  readonly maxHeaderBytes: number;
}

/** Answers bytes that never became a request, closes the connection, and shows both as a row. */
export function createMalformedHandler({ recorder, log, errorBody, maxHeaderBytes }: MalformedOptions) {
  return (error: ClientError, socket: Socket): void => {
    const current = (socket as Socket & { readonly _httpMessage?: RecordedResponse | null })._httpMessage ?? undefined;
    if (error.code === "ECONNRESET" || error.code === "EPIPE" || !socket.writable) {
      socket.destroy(error);
      return;
    }
    // A connection that was opened in advance and never used is no mistake: browsers do that.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    // The end came in the middle of a body: whoever sent it has gone.
    if (error.code === "HPE_INVALID_EOF_STATE" && current) {
      socket.destroy();
      return;
    }
    const { status, message } = verdict(error, maxHeaderBytes);
    const reason = `${message}${error.code ? ` (${error.code})` : ""}`;
    if (current?.headersSent) {
      // Its answer is on the way already: no second one may follow on the same bytes.
      if (current.entry) current.entry.aborted = reason;
      socket.destroy();
      return;
    }
    const body = errorBody(status, message);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "X-Content-Type-Options: nosniff",
      "Access-Control-Allow-Origin: *",
      `Date: ${new Date().toUTCString()}`,
      "Connection: close",
    ].join("\r\n");
    if (current?.entry) {
      current.entry.aborted = reason;
      current.entry.answeredRaw(status, head, body);
      endGently(socket, `${head}\r\n\r\n${body}`);
      return;
    }
    const { method, target, httpVersion } = startLine(error.rawPacket);
    const entry = recorder.beginEntry(socket, { kind: "request", method, target, httpVersion, rawHeaders: [], userAgent: undefined });
    if (error.rawPacket) entry.received(error.rawPacket);
    entry.aborted = reason;
    entry.answeredRaw(status, head, body);
    log.debug(`Malformed request from ${entry.head.connection.remote}: ${error.message}`);
    endGently(socket, `${head}\r\n\r\n${body}`);
    recorder.end(entry);
  };
}

function verdict(error: ClientError, maxHeaderBytes: number): { status: number; message: string } {
  const packet = error.rawPacket;
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW": {
      const lineEnd = packet?.indexOf(10) ?? -1;
      // RFC 9112 §3: a request line longer than the server parses is 414.
      if (packet && startsLikeRequest(packet) && (lineEnd === -1 || lineEnd > maxHeaderBytes)) {
        return { status: 414, message: "The request target is too long" };
      }
      return { status: 431, message: `The header is larger than ${maxHeaderBytes} bytes` };
    }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, message: "The chunk extensions are too large" };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request did not arrive in time" };
    case "HPE_INVALID_METHOD":
      // RFC 9110 §9.1: a method that is well-formed but unknown is 501.
      if (packet && /^[!#$%&'*+.^`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/.test(packet.toString("latin1", 0, 4_096))) {
        return { status: 501, message: "The method is not known here" };
      }
      break;
    case "HPE_INVALID_VERSION":
    case "HPE_PAUSED_H2_UPGRADE":
      return { status: 505, message: "Only HTTP/1.1 and HTTP/1.0 are spoken here" };
  }
  const detail = error.reason ?? error.message.replace(/^Parse Error:?\s*/, "");
  return { status: 400, message: `Malformed request${detail ? `: ${detail}` : ""}` };
}

const startsLikeRequest = (packet: Buffer) => /^[A-Z]+ \S/.test(packet.toString("latin1", 0, 40));

/** As much of the request line as can be read, for the row. */
function startLine(packet: Buffer | undefined): { method: string; target: string; httpVersion: string } {
  // A head that did not arrive in time is not handed over.
  if (!packet) return { method: "?", target: "(incomplete)", httpVersion: "" };
  const match = /^([A-Z-]{1,20}) ([\x21-\x7e\x80-\xff]*)(?: HTTP\/(\d\.\d))?/.exec(packet.toString("latin1", 0, 2_048));
  return { method: match?.[1] ?? "?", target: match?.[2] || "(malformed)", httpVersion: match?.[3] ?? "" };
}
