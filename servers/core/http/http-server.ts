import { createServer, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Log } from "../service/log.ts";
import { hasValidHost } from "./host-field.ts";
import type { HttpRecorder } from "./http-recorder.ts";
import { lingeringClose } from "./lingering-close.ts";
import { createMalformedHandler } from "./malformed-request.ts";
import { otherVersion } from "./malformed-verdict.ts";
import { createRecordedClasses, type ExpressLike, type RecordedRequest, type RecordedResponse } from "./recorded-messages.ts";
import { hasBody } from "./request-body.ts";

export interface HttpServerLimits {
  readonly headerBytes: number;
  /** For the head of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** For the whole of a request to arrive. */
  readonly requestTimeoutMs: number;
  /** For the next request on a connection that is kept open. */
  readonly keepAliveTimeoutMs: number;
}

export interface HttpServerOptions {
  readonly app: ExpressLike;
  readonly recorder: HttpRecorder;
  readonly log: Log;
  readonly limits: HttpServerLimits;
  readonly errorBody: (status: number, message: string) => string;
  /** What every answer carries, also one to bytes that never became a request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sets what an answer carries beyond them, whoever gives it. */
  readonly prepare?: (request: RecordedRequest, response: RecordedResponse) => void;
  /** Answers a request whose row has begun. A body that the client waits to be asked for is asked for by `readBody`. */
  readonly handle: (request: RecordedRequest, response: RecordedResponse) => void;
  readonly upgrade?: {
    /** Which requests change protocol; all others that offer to are answered as if they had not. */
    readonly accepts: (request: RecordedRequest) => boolean;
    readonly handle: (request: RecordedRequest, socket: Duplex, head: Buffer) => void;
  };
}

/** Returns a maker of servers that share one application and one recorder: one for each address to listen on. */
export function createHttpServerFactory(options: HttpServerOptions): () => Server {
  const { app, recorder, log, limits, errorBody, headers, upgrade } = options;
  const classes = createRecordedClasses(app);
  const headerPairs = Object.entries(headers);
  const onMalformed = createMalformedHandler({ recorder, log, errorBody, headers, maxHeaderBytes: limits.headerBytes });

  function refuse(response: RecordedResponse, status: number, message: string, fields: Readonly<Record<string, string>> = {}): void {
    const body = errorBody(status, message);
    response.writeHead(status, {
      ...fields,
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
      Connection: "close",
    });
    response.end(body);
  }

  /** Begins the row, whatever the request expects or offers; false once it has been refused. */
  function begin(request: RecordedRequest, response: RecordedResponse): boolean {
    recorder.begin(request, response);
    for (const [name, value] of headerPairs) response.setHeader(name, value);
    options.prepare?.(request, response);
    if (!hasValidHost(request)) {
      refuse(response, 400, "A valid Host field is needed, once");
      return false;
    }
    // RFC 9110 §15.6.6: Node's parser lets 0.9 and 2.0 pass.
    if (request.httpVersion !== "1.1" && request.httpVersion !== "1.0") {
      refuse(response, otherVersion.status, otherVersion.message);
      return false;
    }
    const coding = request.headers["transfer-encoding"];
    if (coding === undefined || coding === "chunked" || coding.trim().toLowerCase() === "chunked") return true;
    // RFC 9112 §6.1: Node undoes chunked and would hand over the rest as it is.
    refuse(response, 501, "The only Transfer-Encoding known here is chunked");
    return false;
  }

  function onRequest(request: RecordedRequest, response: RecordedResponse): void {
    if (!begin(request, response)) return;
    // RFC 9110 §9.3.6: its target is another host, of which no method is allowed here.
    if (request.method === "CONNECT") refuse(response, 405, "This is not a proxy", { Allow: "" });
    else options.handle(request, response);
  }

  /** CONNECT, and on older Node every request that offers another protocol: Node has let go of the socket, so answer and close. */
  function answerAsRequest(request: RecordedRequest, duplex: Duplex): void {
    const socket = duplex as Socket;
    const response = new classes.ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    socket.on("error", () => socket.destroy());
    response.once("finish", () => {
      response.detachSocket(socket);
      response.emit("close");
      lingeringClose(socket);
    });
    onRequest(request, response);
  }

  return () => {
    const server = createServer({
      ...(classes as unknown as Pick<ServerOptions, "IncomingMessage" | "ServerResponse">),
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.max(50, Math.min(1_000, limits.headersTimeoutMs / 4)),
      // Answered by us, so that it has the shape of every other error and a row.
      requireHostHeader: false,
      ...(upgrade && { shouldUpgradeCallback: (request: IncomingMessage) => upgrade.accepts(request as unknown as RecordedRequest) }),
    });
    // The bytes are bounded already; Node's own bound on their number would drop fields silently.
    server.maxHeadersCount = 0;
    server.on("connection", (socket) => recorder.connections.opened(socket));
    server.on("request", onRequest as never);
    server.on("clientError", onMalformed as never);
    server.on("checkContinue", (request, response) => {
      const [asked, answer] = [request as unknown as RecordedRequest, response as unknown as RecordedResponse];
      if (!begin(asked, answer)) return;
      // Once answered without the 100, nobody knows whether the body comes: nothing more is read.
      if (hasBody(request)) answer.shouldKeepAlive = false;
      options.handle(asked, answer);
    });
    server.on("checkExpectation", (request, response) => {
      const [asked, answer] = [request as unknown as RecordedRequest, response as unknown as RecordedResponse];
      // RFC 9110 §10.1.1: an expectation other than 100-continue cannot be met.
      if (begin(asked, answer)) refuse(answer, 417, "The only expectation met here is 100-continue");
    });
    server.on("connect", (request, socket) => answerAsRequest(request as unknown as RecordedRequest, socket));
    if (upgrade) {
      server.on("upgrade", (request, socket, head) => {
        const asked = request as unknown as RecordedRequest;
        if (upgrade.accepts(asked)) upgrade.handle(asked, socket, head);
        else answerAsRequest(asked, socket);
      });
    }
    return server;
  };
}
