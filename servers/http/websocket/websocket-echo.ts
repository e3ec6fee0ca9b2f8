import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { type HttpUpgrade, hasValidHost } from "../../core/http/http-server.ts";
import type { HttpEntry } from "../../core/http/record/http-entry.ts";
import type { HttpRecorder } from "../../core/http/record/http-recorder.ts";
import type { RecordedRequest } from "../../core/http/record/recorded-messages.ts";
import { HeldWebSocket } from "../../core/http/websocket/held-web-socket.ts";
import { handshakeProblem, type OriginRule } from "../../core/http/websocket/websocket-handshake.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import type { Log } from "../../core/service/log.ts";
import { offersWebSocket } from "./websocket-handshake.ts";

/** Unsent bytes of one client above which reading from it pauses. */
const queuedBytes = 1 << 20;

export interface WebSocketEcho extends HttpUpgrade {
  close(): void;
}

/** Echoes every message (RFC 6455). The handshake is one row, each message another. */
export function createWebSocketEcho(options: {
  recorder: HttpRecorder;
  held: SharedBudget;
  log: Log;
  frameBytes: number;
  allowsOrigin: OriginRule;
}): WebSocketEcho {
  const { recorder, held, log } = options;
  // One message per turn of the event loop: a packet may contain thousands of tiny ones.
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.frameBytes,
    perMessageDeflate: false,
    allowSynchronousEvents: false,
  });
  const entries = new WeakMap<IncomingMessage, HttpEntry>();
  let isClosed = false;

  server.on("headers", (lines, request) => {
    lines.push("X-Content-Type-Options: nosniff");
    entries.get(request)?.answeredRaw(101, lines.join("\r\n"));
  });

  /** RFC 9112 §9.3.2: waits for earlier answers, which would otherwise follow the 101 among the frames. */
  function isAnswerPending(request: RecordedRequest): boolean {
    const { latest } = recorder.connections.of(request.socket);
    return latest !== undefined && latest.req !== request && !latest.writableFinished;
  }

  function begin(request: RecordedRequest): HttpEntry {
    const entry = recorder.beginEntry(request.socket, { ...factsOf(request), kind: "websocket", method: "GET" });
    entry.longLived = true;
    entries.set(request, entry);
    return entry;
  }

  function serve(webSocket: WebSocket, socket: Socket, entry: HttpEntry): void {
    let closedWith: { readonly code: number; readonly reason: string } | undefined;
    const heldBytes = new HeldWebSocket(webSocket, socket, held, recorder.connections.of(socket).work, (closed) => {
      closedWith = closed;
      entry.aborted = closed.reason;
      log.warning(`The WebSocket of ${entry.head.connection.remote} was closed: ${closed.reason}`);
    });
    webSocket.on("message", (data, isBinary) => {
      // After a stop ws goes on with what it has read, one message per turn.
      if (isClosed) return;
      const bytes = asBuffer(data);
      const message = recorder.beginMessage(entry, bytes, { binary: isBinary, sent: false });
      entry.countReceived(bytes.length);
      webSocket.send(bytes, { binary: isBinary }, (error) => {
        if (!error) entry.countSent(bytes.length);
        recorder.endMessage(
          message,
          error ? { tone: "aborted", outcome: "not sent", bytesBack: 0 } : { tone: "ok", outcome: "echoed", bytesBack: bytes.length },
        );
        heldBytes.count();
        if (webSocket.isPaused && webSocket.bufferedAmount <= queuedBytes / 2) webSocket.resume();
      });
      heldBytes.count();
      if (webSocket.bufferedAmount > queuedBytes) webSocket.pause();
    });
    webSocket.on("error", (error) => log.debug(`WebSocket of ${entry.head.connection.remote}: ${error.message}`));
    webSocket.on("close", (receivedCode, receivedReason) => {
      const { code, reason } = closedWith ?? { code: receivedCode, reason: receivedReason.toString() };
      entry.closed = { code, reason };
      entry.outcome = `closed ${code}`;
      // RFC 6455 §7.4.1: 1006 says that no close frame came.
      if (code === 1006) entry.aborted ??= "client left";
      recorder.end(entry);
    });
  }

  return {
    // Anything else goes to the route, which answers with the error.
    accepts: (request) =>
      offersWebSocket(request) &&
      hasValidHost(request) &&
      handshakeProblem(request, options.allowsOrigin) === undefined &&
      !isAnswerPending(request),
    handle(request, socket, head) {
      const entry = begin(request);
      // A client that disconnects at once never becomes a WebSocket.
      const onLeft = () => {
        entry.aborted = "client left";
        recorder.end(entry);
      };
      socket.once("close", onLeft);
      server.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off("close", onLeft);
        serve(webSocket, socket as Socket, entry);
      });
    },
    close() {
      isClosed = true;
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

const factsOf = (request: RecordedRequest) => ({
  target: request.url ?? "",
  httpVersion: request.httpVersion,
  rawHeaders: request.rawHeaders,
  userAgent: request.headers["user-agent"],
});

export function asBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
