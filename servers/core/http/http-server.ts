import { createServer, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import type { SharedBudget } from "../limits/shared-budget.ts";
import { lingeringClose } from "../net/client-socket.ts";
import type { Log } from "../service/log.ts";
import { oneStep, type WorkConnection } from "../turns/work-connection.ts";
import type { HttpConnections } from "./connections/http-connections.ts";
import { UnreadAnswers, type UnreadLimits } from "./connections/unread-answers.ts";
import type { HttpDispatch, HttpErrors } from "./http-dispatch.ts";
import { type HttpRequest, type HttpResponse, hasEmptyHost, type PathParams } from "./http-route.ts";
import type { Cors } from "./messages/cors.ts";
import { jsonType } from "./messages/http-answer.ts";
import { createMalformedHandler, otherVersion } from "./messages/malformed-request.ts";
import { dropUnreadBody, hasBody } from "./messages/request-body.ts";
import type { HttpRecorder } from "./record/http-recorder.ts";
import { createRecordedClasses } from "./record/recorded-messages.ts";

export interface HttpServerLimits extends UnreadLimits {
  /** Request line and header fields together. */
  readonly headerBytes: number;
  /** For the head of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** For the whole of a request to arrive. */
  readonly requestTimeoutMs: number;
  /** For the next request on a connection that is kept open. */
  readonly keepAliveTimeoutMs: number;
  /** Of one connection; more of them wait. */
  readonly unansweredRequests: number;
}

/** A change of protocol that the service offers. */
export interface HttpUpgrade {
  /** Which requests are upgraded; all others are answered as if they had not asked for it. */
  readonly accepts: (request: HttpRequest) => boolean;
  readonly handle: (request: HttpRequest, socket: Duplex, head: Buffer) => void;
}

export interface HttpServerOptions {
  readonly recorder: HttpRecorder;
  readonly log: Log;
  readonly limits: HttpServerLimits;
  /** Of the bodies of all connections, and of what else the service counts there. */
  readonly held: SharedBudget;
  readonly errors: HttpErrors;
  readonly cors: Cors;
  /** Fields of every answer, also to bytes that never became a request: name, value, name, value. */
  readonly fields: readonly string[];
  /** Answers a request whose row has begun. `readBody` sends the 100 that a client with "Expect: 100-continue" waits for. */
  readonly dispatch: HttpDispatch;
  readonly upgrade?: HttpUpgrade | undefined;
}

/** Returns a maker of servers that share one application and one recorder: one for each address, with a certificate for HTTPS. */
export function createHttpServers(options: HttpServerOptions): (tls?: TlsOptions) => Server {
  const { recorder, log, limits, held, errors, cors, fields, dispatch, upgrade } = options;
  const classes = createMessageClasses(fields, new UnreadAnswers(limits), recorder.connections);
  const malformedOptions = { recorder, log, errors, fields, maxHeaderBytes: limits.headerBytes };
  const onMalformed = createMalformedHandler(malformedOptions);
  const pipelineLimits = { unanswered: limits.unansweredRequests, headerBytes: limits.headerBytes };
  const opened = (socket: Socket): void => recorder.connections.opened(socket, pipelineLimits, held);

  function refuse(response: HttpResponse, status: number, message: string, headers: readonly string[] = []): void {
    const body = errors.body(status, message);
    const length = String(Buffer.byteLength(body));
    response.writeHead(status, [...headers, "Content-Type", jsonType, "Content-Length", length, "Connection", "close"]);
    response.end(body);
  }

  /** Begins the row of every request; false if the request was refused. */
  function begin(request: HttpRequest, response: HttpResponse): boolean {
    recorder.begin(request, response);
    cors.prepare(request, response);
    const problem = hostProblem(request);
    if (problem !== undefined) {
      refuse(response, 400, problem);
      return false;
    }
    // RFC 9110 §15.6.6: Node's parser lets 0.9 and 2.0 pass.
    if (request.httpVersion !== "1.1" && request.httpVersion !== "1.0") {
      refuse(response, otherVersion.status, otherVersion.message);
      return false;
    }
    const coding = request.headers["transfer-encoding"];
    // RFC 9112 §6.1: who is before this server may not know it, and read other messages.
    if (coding !== undefined && request.httpVersion === "1.0") {
      refuse(response, 400, "Transfer-Encoding is not allowed in HTTP/1.0");
      return false;
    }
    if (coding === undefined || coding === "chunked" || coding.trim().toLowerCase() === "chunked") return true;
    // RFC 9112 §6.1: Node decodes chunked only, and would pass on the other codings undecoded.
    refuse(response, 501, "The only supported Transfer-Encoding is chunked");
    return false;
  }

  function onRequest(request: HttpRequest, response: HttpResponse): void {
    if (!begin(request, response)) return;
    // RFC 9110 §9.3.6: its target is another host, for which no method is allowed here.
    if (request.method === "CONNECT") refuse(response, 405, "This is not a proxy", ["Allow", ""]);
    else dispatch(request, response);
  }

  function onContinue(request: HttpRequest, response: HttpResponse): void {
    if (!begin(request, response)) return;
    // After an answer without the 100 it is unknown whether the body follows: nothing more is read.
    if (hasBody(request)) response.shouldKeepAlive = false;
    dispatch(request, response);
  }

  function onExpectation(request: HttpRequest, response: HttpResponse): void {
    // RFC 9110 §10.1.1: an expectation other than 100-continue cannot be met.
    if (begin(request, response)) refuse(response, 417, "The only supported expectation is 100-continue");
  }

  /** CONNECT, and on older Node every request that offers another protocol: Node no longer handles the socket, so answer and close. */
  function answerAsRequest(request: HttpRequest, duplex: Duplex): void {
    const socket = duplex as Socket;
    socket.on("error", () => socket.destroy());
    const { latest } = recorder.connections.of(socket);
    // RFC 9112 §9.3.2: after the answers to earlier requests, the last of which has the socket until it is closed.
    if (latest && !latest.closed) latest.once("close", () => answerLast(request, socket));
    else answerLast(request, socket);
  }

  function answerLast(request: HttpRequest, socket: Socket): void {
    if (!socket.writable) return;
    const response = new classes.ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once("finish", () => {
      response.detachSocket(socket);
      response.emit("close");
      lingeringClose(socket);
    });
    onRequest(request, response);
  }

  return (tls) => {
    const serverOptions: ServerOptions = {
      ...(classes as unknown as Pick<ServerOptions, "IncomingMessage" | "ServerResponse">),
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.max(50, Math.min(1_000, limits.headersTimeoutMs / 4)),
      // Answered here, so that it has the shape of every other error and a row.
      requireHostHeader: false,
      // The stream of a request without a body is closed from its beginning: its events take ticks, and nobody waits for them.
      optimizeEmptyRequests: true,
      ...(upgrade && { shouldUpgradeCallback: (request: IncomingMessage) => upgrade.accepts(request as HttpRequest) }),
    };
    const server = tls ? (createTlsServer({ ...serverOptions, ...tls } as object) as unknown as Server) : createServer(serverOptions);
    // The bytes are bounded already; Node's own bound on their number would drop fields silently.
    server.maxHeadersCount = 0;
    if (tls) {
      server.on("connection", (socket) => recorder.connections.addSocket(socket));
      server.on("secureConnection", opened);
    } else server.on("connection", opened);
    server.on("request", onRequest as never);
    server.on("clientError", onMalformed as never);
    server.on("checkContinue", onContinue as never);
    server.on("checkExpectation", onExpectation as never);
    server.on("connect", (request, socket) => answerAsRequest(request as HttpRequest, socket));
    if (upgrade) {
      server.on("upgrade", (request, socket, head) => {
        const asked = request as HttpRequest;
        if (!upgrade.accepts(asked)) answerAsRequest(asked, socket);
        // Thousands may ask for it at once.
        else void asked.work.run(oneStep(() => upgrade.handle(asked, socket, head)));
      });
    }
    return server;
  };
}

const noParams: PathParams = {};

interface MessageClasses {
  readonly IncomingMessage: new (socket: Socket) => HttpRequest;
  readonly ServerResponse: new (request: HttpRequest) => HttpResponse;
}

/** The recorder's classes; the response sets the fields of every answer, so that no handler has to, and reports bytes that wait. */
function createMessageClasses(fields: readonly string[], unread: UnreadAnswers, connections: HttpConnections): MessageClasses {
  const recorded = createRecordedClasses();

  class Request extends recorded.IncomingMessage {
    params: PathParams = noParams;

    get work(): WorkConnection {
      return connections.of(this.socket).work;
    }

    get pacedWork(): WorkConnection {
      return connections.of(this.socket).pacedWork;
    }
  }

  class Response extends recorded.ServerResponse {
    override writeHead(status: number, ...rest: never[]): this {
      const given: unknown = rest[0];
      // Node's fast path, for an answer that is made at once.
      if (Array.isArray(given) && this.getHeaderNames().length === 0) return super.writeHead(status, [...fields, ...given] as string[]);
      for (let index = 0; index < fields.length; index += 2) {
        const name = fields[index] as string;
        if (!this.hasHeader(name)) this.setHeader(name, fields[index + 1] as string);
      }
      return super.writeHead(status, ...rest);
    }

    override flushHeaders(): void {
      dropUnreadBody(this.req);
      super.flushHeaders();
    }

    override write(chunk: unknown, ...rest: never[]): boolean {
      dropUnreadBody(this.req);
      const before = this.writableLength;
      const mayGoOn = super.write(chunk, ...rest);
      if (!mayGoOn) this.#waits(this.writableLength - before);
      return mayGoOn;
    }

    writeChunk(chunk: Buffer, content: Buffer): boolean {
      const { socket, entry } = this;
      if (!socket || !this.chunkedEncoding) return this.write(content);
      entry?.sent(content);
      const mayGoOn = socket.write(chunk);
      if (!mayGoOn) this.#waits(chunk.length);
      return mayGoOn;
    }

    override end(chunk?: unknown, ...rest: never[]): this {
      const before = this.writableLength;
      super.end(chunk, ...rest);
      const after = this.writableLength;
      if (after > 0) this.#waits(after - before);
      return this;
    }

    #waits(bytes: number): void {
      dropUnreadBody(this.req);
      const pipeline = this.entry?.head.connection.pipeline;
      if (pipeline) unread.add(pipeline, Math.max(0, bytes));
    }
  }

  return { IncomingMessage: Request, ServerResponse: Response as unknown as MessageClasses["ServerResponse"] };
}

const host = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** Whether the request says for which host it is. */
export const hasValidHost = (request: IncomingMessage): boolean => hostProblem(request) === undefined;

/** RFC 9112 §3.2: HTTP/1.1 needs exactly one Host field, and its value must be a host. A target in absolute form has to have one as well. */
function hostProblem(request: IncomingMessage): string | undefined {
  if (hasEmptyHost(request.url ?? "")) return "The target has no host";
  return hasOneHost(request) ? undefined : "Exactly one valid Host field is required";
}

function hasOneHost(request: IncomingMessage): boolean {
  const { rawHeaders, headers } = request;
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") found += 1;
  }
  if (found === 0) return request.httpVersion !== "1.1";
  return found === 1 && host.test(headers.host ?? "");
}
