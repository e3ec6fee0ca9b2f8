import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "../service/log.ts";
import type { HttpRecorder } from "./http-recorder.ts";
import { lingeringClose } from "./lingering-close.ts";
import { type ClientError, malformedBytes, malformedVerdict, startLine, type Verdict } from "./malformed-verdict.ts";
import type { RecordedResponse } from "./recorded-messages.ts";

export interface MalformedOptions {
  readonly recorder: HttpRecorder;
  readonly log: Log;
  /** The service's own shape of an error, as JSON. */
  readonly errorBody: (status: number, message: string) => string;
  /** What every answer of the service carries. */
  readonly headers: Readonly<Record<string, string>>;
  readonly maxHeaderBytes: number;
}

/** Answers bytes that never became a request, after all that was asked before them, closes the connection, and shows both as a row. */
export function createMalformedHandler({ recorder, log, errorBody, headers, maxHeaderBytes }: MalformedOptions) {
  /** Their last answer is decided; whatever else the parser says of them is an echo of the same fault. */
  const doomed = new WeakSet<Socket>();

  function answerText({ status, message }: Verdict): { head: string; body: string } {
    const body = errorBody(status, message);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Date: ${new Date().toUTCString()}`,
      "Connection: close",
    ].join("\r\n");
    return { head, body };
  }

  /** The request itself turned bad while it arrived. */
  function answerIncomplete(response: RecordedResponse, socket: Socket, verdict: Verdict, reason: string): void {
    const { entry } = response;
    if (entry) entry.aborted = reason;
    if (response.headersSent || !entry) {
      // Its answer is on the way already: no second one may follow on the same bytes.
      socket.destroy();
      return;
    }
    const { head, body } = answerText(verdict);
    entry.answeredRaw(verdict.status, head, body);
    lingeringClose(socket, `${head}\r\n\r\n${body}`);
  }

  function answerOwn(socket: Socket, error: ClientError, bytes: Buffer | undefined, verdict: Verdict, reason: string): void {
    const { head, body } = answerText(verdict);
    const entry = recorder.beginEntry(socket, { kind: "http", ...startLine(bytes), rawHeaders: [], userAgent: undefined });
    if (bytes) entry.received(bytes);
    entry.aborted = reason;
    entry.answeredRaw(verdict.status, head, body);
    log.debug(`Malformed request from ${entry.head.connection.remote}: ${error.message}`);
    lingeringClose(socket, `${head}\r\n\r\n${body}`);
    recorder.end(entry);
  }

  return (error: ClientError, socket: Socket): void => {
    if (error.code === "ECONNRESET" || error.code === "EPIPE") {
      socket.destroy(error);
      return;
    }
    const { latest } = recorder.connections.of(socket);
    const isPending = latest !== undefined && !latest.closed && !latest.writableFinished;
    if (doomed.has(socket)) {
      // A stream may have no end of its own to wait for.
      if (socket.readableEnded && latest?.entry?.longLived) socket.destroy();
      return;
    }
    // RFC 9112 §9.6: what follows a request that closes the connection is not looked at.
    if (error.code === "HPE_CLOSED_CONNECTION") return;
    if (!socket.writable) {
      socket.destroy(error);
      return;
    }
    // A connection that was opened in advance and never used is no mistake: browsers do that.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    // The end came in the middle of a body: whoever sent it has gone.
    if (error.code === "HPE_INVALID_EOF_STATE" && latest && isPending && !latest.req.complete) {
      socket.destroy();
      return;
    }
    doomed.add(socket);
    const bytes = malformedBytes(error, Number(latest?.req.headers["content-length"] ?? 0));
    const verdict = malformedVerdict(error, bytes, maxHeaderBytes);
    const reason = `${verdict.message}${error.code ? ` (${error.code})` : ""}`;
    if (latest && !latest.req.complete) {
      if (!isPending) lingeringClose(socket);
      else if (latest.socket) answerIncomplete(latest, socket, verdict, reason);
      // RFC 9112 §9.3.2: its turn comes when Node gives it the socket.
      else latest.once("socket", () => answerIncomplete(latest, socket, verdict, reason));
    } else if (latest && isPending) {
      latest.once("close", () => {
        if (socket.writable) answerOwn(socket, error, bytes, verdict, reason);
      });
    } else answerOwn(socket, error, bytes, verdict, reason);
  };
}
