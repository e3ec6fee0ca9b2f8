import type { Socket } from "node:net";
import { type HttpUpgrade, hasValidHost } from "../../core/http/http-server.ts";
import type { HttpEntry } from "../../core/http/record/http-entry.ts";
import type { HttpRecorder } from "../../core/http/record/http-recorder.ts";
import type { RecordedRequest } from "../../core/http/record/recorded-messages.ts";
import { acceptWebSocket } from "../../core/http/websocket/accept-web-socket.ts";
import { closeCode } from "../../core/http/websocket/close-code.ts";
import { HeldWebSocket } from "../../core/http/websocket/held-web-socket.ts";
import type { ServerWebSocket } from "../../core/http/websocket/server-web-socket.ts";
import type { OriginRule } from "../../core/http/websocket/websocket-handshake.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import type { Log } from "../../core/service/log.ts";
import { handshakeProblem, offersWebSocket } from "./websocket-handshake.ts";

/** Memory of what waits for one client above which reading from it pauses. */
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
  const open = new Set<ServerWebSocket>();

  /** RFC 9112 §9.3.2: waits for earlier answers, which would otherwise follow the 101 among the frames. */
  function isAnswerPending(request: RecordedRequest): boolean {
    const { latest } = recorder.connections.of(request.socket);
    return latest !== undefined && latest.req !== request && !latest.writableFinished;
  }

  function begin(request: RecordedRequest): HttpEntry {
    const entry = recorder.beginEntry(request.socket, { ...factsOf(request), kind: "websocket", method: "GET" });
    entry.longLived = true;
    return entry;
  }

  function serve(webSocket: ServerWebSocket, socket: Socket, entry: HttpEntry): void {
    open.add(webSocket);
    /** Why we have closed it. */
    let why: string | undefined;
    const heldBytes = new HeldWebSocket(webSocket, socket.remoteAddress ?? "", held, ({ reason }) => {
      why = reason;
      log.warning(`The WebSocket of ${entry.head.connection.remote} was closed: ${reason}`);
    });
    webSocket.on("message", (bytes, isBinary) => {
      const message = recorder.beginMessage(entry, bytes, { binary: isBinary, sent: false });
      entry.countReceived(bytes.length);
      webSocket.send(bytes, { binary: isBinary }, (error) => {
        if (!error) entry.countSent(bytes.length);
        recorder.endMessage(
          message,
          error ? { tone: "aborted", outcome: "not sent", bytesBack: 0 } : { tone: "ok", outcome: "echoed", bytesBack: bytes.length },
        );
        heldBytes.count();
        if (webSocket.isPaused && webSocket.unsentMemory <= queuedBytes / 2) webSocket.resume();
      });
      heldBytes.count();
      if (webSocket.unsentMemory > queuedBytes) webSocket.pause();
    });
    webSocket.on("error", ({ message }) => {
      why = message;
      log.debug(`WebSocket of ${entry.head.connection.remote}: ${message}`);
    });
    webSocket.on("close", (code, reason) => {
      open.delete(webSocket);
      entry.closed = { code, reason };
      entry.outcome = `closed ${code}`;
      // RFC 6455 §7.4.1: 1006 says that no close frame came.
      entry.aborted = why ?? (code === closeCode.abnormal ? "client left" : undefined);
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
      const webSocket = acceptWebSocket(request, socket as Socket, head, {
        messageBytes: options.frameBytes,
        work: recorder.connections.of(socket as Socket).work,
        fields: ["X-Content-Type-Options: nosniff"],
        onAnswer: (answer) => entry.answeredRaw(101, answer),
      });
      if (webSocket) {
        serve(webSocket, socket as Socket, entry);
        return;
      }
      // A client that disconnects at once never becomes a WebSocket.
      entry.aborted = "client left";
      recorder.end(entry);
    },
    close() {
      for (const webSocket of open) webSocket.terminate();
    },
  };
}

const factsOf = (request: RecordedRequest) => ({
  target: request.url ?? "",
  httpVersion: request.httpVersion,
  rawHeaders: request.rawHeaders,
  userAgent: request.headers["user-agent"],
});
