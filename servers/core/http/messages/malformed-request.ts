import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { isTls } from "../../net/client-hello.ts";
import { lingeringClose } from "../../net/client-socket.ts";
import type { Log } from "../../service/log.ts";
import { oneStep } from "../../turns/work-connection.ts";
import type { ClientError } from "../connections/parsed-socket.ts";
import type { HttpErrors } from "../http-dispatch.ts";
import type { EntryFacts, HttpRecorder } from "../record/http-recorder.ts";
import type { RecordedResponse } from "../record/recorded-messages.ts";
import { jsonType } from "./http-answer.ts";

interface Verdict {
  readonly status: number;
  readonly message: string;
}

export const otherVersion: Verdict = { status: 505, message: "Only HTTP/1.1 and HTTP/1.0 are supported" };

export interface MalformedOptions {
  readonly recorder: HttpRecorder;
  readonly log: Log;
  readonly errors: Pick<HttpErrors, "body">;
  /** Fields of every answer of the service: name, value, name, value. */
  readonly fields: readonly string[];
  readonly maxHeaderBytes: number;
}

/** Answers bytes that never became a request, after all earlier requests, closes the connection, and records both as a row. */
export function createMalformedHandler({ recorder, log, errors, fields, maxHeaderBytes }: MalformedOptions) {
  /** Sockets whose last answer is decided: further parser errors are consequences of the same fault. */
  const closing = new WeakSet<Socket>();

  const fieldLines = fields.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${fields[index + 1]}`] : []));

  function answerText({ status, message }: Verdict): { head: string; body: string } {
    const body = errors.body(status, message);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${jsonType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...fieldLines,
      `Date: ${new Date().toUTCString()}`,
      "Connection: close",
    ].join("\r\n");
    return { head, body };
  }

  /** The error is in a request whose row has already begun. */
  function answerIncomplete(response: RecordedResponse, socket: Socket, verdict: Verdict, reason: string): void {
    const { entry } = response;
    if (entry) entry.aborted = reason;
    if (response.headersSent || !entry) {
      // Its answer is already being sent: a second one must not follow.
      socket.destroy();
      return;
    }
    const { head, body } = answerText(verdict);
    entry.answeredRaw(verdict.status, head, body);
    lingeringClose(socket, `${head}\r\n\r\n${body}`);
  }

  function answerOwn(socket: Socket, error: ClientError, bytes: Buffer | undefined, verdict: Verdict, reason: string): void {
    const { head, body } = answerText(verdict);
    const entry = recorder.beginEntry(socket, { kind: "http", ...startLine(bytes), ...readableFields(bytes), unparsed: bytes });
    entry.aborted = reason;
    entry.answeredRaw(verdict.status, head, body);
    log.debug(`Malformed request from ${entry.head.connection.remote}: ${error.message}`);
    lingeringClose(socket, `${head}\r\n\r\n${body}`);
    recorder.end(entry);
  }

  function answer(error: ClientError, socket: Socket): void {
    const { latest } = recorder.connections.of(socket);
    const isPending = isUnderWay(latest);
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
  }

  return (error: ClientError, socket: Socket): void => {
    if (error.code === "ECONNRESET" || error.code === "EPIPE") {
      socket.destroy(error);
      return;
    }
    const { latest, pipeline, work } = recorder.connections.of(socket);
    if (pipeline?.handles(error)) return;
    if (closing.has(socket)) {
      // A stream may never end by itself.
      if (socket.readableEnded && latest?.entry?.longLived) socket.destroy();
      return;
    }
    // RFC 9112 §9.6: what follows a request that closes the connection is ignored.
    if (error.code === "HPE_CLOSED_CONNECTION") return;
    if (!socket.writable) {
      socket.destroy(error);
      return;
    }
    // Browsers open connections in advance and may never use them: that is no error.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    // The end came in the middle of a body: the client disconnected.
    if (error.code === "HPE_INVALID_EOF_STATE" && latest && isUnderWay(latest) && !latest.req.complete) {
      socket.destroy();
      return;
    }
    closing.add(socket);
    // Node looks for late requests at intervals, and finds those of thousands at once.
    void work.run(oneStep(() => answer(error, socket)));
  };
}

const isUnderWay = (latest: RecordedResponse | undefined): boolean => latest !== undefined && !latest.closed && !latest.writableFinished;

/** `bytes` start with the malformed message, as far as it arrived in one packet. */
export function malformedVerdict(error: ClientError, bytes: Buffer | undefined, maxHeaderBytes: number): Verdict {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW": {
      const lineEnd = bytes?.indexOf(10) ?? -1;
      // RFC 9112 §3: a request line longer than the server parses is 414.
      if (bytes && startsLikeRequest(bytes) && (lineEnd === -1 || lineEnd > maxHeaderBytes)) {
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
      if (bytes && /^[!#$%&'*+.^`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/.test(bytes.toString("latin1", 0, 4_096))) {
        return { status: 501, message: "The method is not supported" };
      }
      break;
    case "HPE_PAUSED_H2_UPGRADE":
      return otherVersion;
    case "HPE_INVALID_VERSION":
      // The parser blames the version for whatever follows it, a lone LF too.
      if (isOtherVersion(bytes)) return otherVersion;
      break;
  }
  if (bytes && isTls(bytes)) {
    return {
      status: 400,
      message: "The client began TLS on a port of plain HTTP: use http://, or https:// on the port of HTTPS where it is switched on",
    };
  }
  if (bytes && endsFirstLineWithLf(bytes)) {
    // RFC 9112 §2.2: LF alone may be taken for a line end; who does so reads other messages than a proxy before it.
    return { status: 400, message: "Malformed request: lines end with CRLF, not with LF alone" };
  }
  const detail = error.reason ?? error.message.replace(/^Parse Error:?\s*/, "");
  return { status: 400, message: `Malformed request${detail ? `: ${detail}` : ""}` };
}

const startsLikeRequest = (bytes: Buffer) => /^[A-Z]+ \S/.test(bytes.toString("latin1", 0, 40));

function isOtherVersion(bytes: Buffer | undefined): boolean {
  const version = /^\S+ \S+ HTTP\/(\d\.\d)(?=\r|\n|$)/.exec(bytes?.toString("latin1") ?? "")?.[1];
  return version !== undefined && version !== "1.1" && version !== "1.0";
}

function endsFirstLineWithLf(bytes: Buffer): boolean {
  const lineEnd = bytes.indexOf(10);
  return lineEnd > 0 && bytes[lineEnd - 1] !== 13;
}

const mostReadOfLine = 2_048;

/** Method and target from the readable part of the request line, for the row. */
export function startLine(bytes: Buffer | undefined): { method: string; target: string; httpVersion: string } {
  // After a timeout Node does not pass the head on.
  if (!bytes) return { method: "?", target: "(incomplete)", httpVersion: "" };
  const match = /^([A-Z-]{1,20}) ([\x21-\x7e\x80-\xff]*)(?: HTTP\/(\d\.\d))?/.exec(bytes.toString("latin1", 0, mostReadOfLine));
  const isCut = match?.[0].length === mostReadOfLine;
  return { method: match?.[1] ?? "?", target: unencoded(match?.[2] ?? "", isCut) || "(malformed)", httpVersion: match?.[3] ?? "" };
}

/** Clients that do not encode a target send it as UTF-8. What is none is kept byte by byte. */
function unencoded(latin1: string, isCut: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, "latin1"), { stream: isCut });
  } catch {
    return latin1;
  }
}

const mostReadFields = 200;

/** The lines before the empty line that are header fields (RFC 9112 §5). The first line is never one. */
export function readableFields(bytes: Buffer | undefined): Pick<EntryFacts, "rawHeaders" | "userAgent"> {
  const rawHeaders: string[] = [];
  let userAgent: string | undefined;
  const text = bytes?.toString("latin1") ?? "";
  for (let start = text.indexOf("\n") + 1; start > 0 && rawHeaders.length < 2 * mostReadFields; ) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end === -1 ? undefined : end).replace(/\r$/, "");
    if (line === "") break;
    const [name, value] = fieldOf(line) ?? [];
    if (name !== undefined && value !== undefined) rawHeaders.push(name, value);
    if (name?.toLowerCase() === "user-agent") userAgent ??= value;
    start = end + 1;
  }
  return { rawHeaders, userAgent };
}

/** Not by one pattern: what follows a value may be thousands of spaces, which it would read again at each of them. */
function fieldOf(line: string): readonly [name: string, value: string] | undefined {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon));
  if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name)) return undefined;
  const isBlank = (at: number) => line[at] === " " || line[at] === "\t";
  let start = colon + 1;
  let end = line.length;
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  const value = line.slice(start, end);
  return value.includes("\0") || value.includes("\r") ? undefined : [name, value];
}

/**
 * The packet from where the malformed message begins: a packet may bring valid requests before it.
 * `lastLength` is the Content-Length of the request before, whose body may lie between, where its head came in an earlier packet.
 */
export function malformedBytes({ code, rawPacket, bytesParsed = 0 }: ClientError, lastLength: number): Buffer | undefined {
  // An empty line that ends where the parser stopped is the malformed message's own, unless its first line was at fault.
  const latestEnd = bytesParsed - (/^HPE_INVALID_(?:METHOD|CONSTANT|URL|VERSION)$/.test(code ?? "") ? 4 : 5);
  const headEnd = latestEnd >= 0 ? (rawPacket?.lastIndexOf("\r\n\r\n", latestEnd) ?? -1) : -1;
  if (!rawPacket || headEnd === -1) return rawPacket;
  const headStart = headEnd === 0 ? 0 : rawPacket.lastIndexOf("\r\n\r\n", headEnd - 1) + 1;
  const head = rawPacket.toString("latin1", headStart, headEnd);
  const length = Number(/\r\ncontent-length:[ \t]*(\d{1,15})/i.exec(head)?.[1] ?? lastLength);
  const start = headEnd + 4 + length;
  return rawPacket.subarray(start <= bytesParsed ? start : headEnd + 4);
}
