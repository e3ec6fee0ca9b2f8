import { maxHeaderSize, type Server } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import { lingeringClose } from "../../net/client-socket.ts";
import { takeSocket } from "../../net/open-sockets.ts";
import { oneStep } from "../../turns/work-connection.ts";
import { WorkTurns } from "../../turns/work-turns.ts";
import type { ClientError } from "./parsed-socket.ts";
import { Pipeline } from "./pipeline.ts";

/** Where a service has no setting for it. */
const standardUnanswered = 32;

export interface PipelineHeads {
  /** The server's `maxHeaderSize`. */
  readonly bytes: number;
  /** The answer to a longer head. */
  readonly refusal: string;
}

const refusal = (status: string): string => `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`;
const standardHeads: PipelineHeads = { bytes: maxHeaderSize, refusal: refusal("431 Request Header Fields Too Large") };
const refusals: Readonly<Record<string, string>> = {
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refusal("413 Payload Too Large"),
  ERR_HTTP_REQUEST_TIMEOUT: refusal("408 Request Timeout"),
};

/**
 * Bounds the unanswered requests of each connection of a server, and closes connections that send what is no request. Returns how to find
 * them. Servers with the same `turns` share the time. The server is made with `pipelinedRequests`.
 */
export function boundPipelines(
  server: Server,
  unanswered = standardUnanswered,
  turns = new WorkTurns(),
  heads = standardHeads,
): (socket: Socket) => Pipeline | undefined {
  const pipelines = new WeakMap<Socket, Pipeline>();
  // Of a server with TLS, "connection" has what is below it.
  server.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
    const work = takeSocket(socket, turns);
    const forget = () => void pipelines.delete(socket);
    pipelines.set(socket, new Pipeline(socket, { unanswered, headerBytes: heads.bytes }, work, forget));
  });
  server.prependListener("request", (request, response) => {
    const pipeline = pipelines.get(request.socket);
    pipeline?.begin(response);
    response.once("close", () => pipeline?.answered(response));
  });
  const answerTo = ({ code = "" }: ClientError) =>
    code === "HPE_HEADER_OVERFLOW" ? heads.refusal : (refusals[code] ?? refusal("400 Bad Request"));
  server.on("clientError", (error: ClientError, stream) => {
    const socket = stream as Socket;
    const pipeline = pipelines.get(socket);
    if (!pipeline) socket.destroy();
    else if (pipeline.isFault(error)) {
      const refuse = () => {
        if (socket.writable) lingeringClose(socket, answerTo(error));
        else socket.destroy();
      };
      // Node looks for late requests at intervals, and finds those of thousands at once.
      void pipeline.work.run(
        oneStep(() => {
          if (!socket.writable || !pipeline.whenAnswered(refuse)) socket.destroy();
        }),
      );
    }
  });
  return (socket) => pipelines.get(socket);
}
