import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ConnectionCount, type ConnectionLimits } from "../../net/connection-count.ts";
import type { ListenOptions } from "../../net/tcp-listener.ts";
import type { WorkConnection } from "../../turns/work-connection.ts";
import { WorkTurns } from "../../turns/work-turns.ts";
import { boundPipelines, type PipelineHeads } from "./bound-pipelines.ts";
import type { Pipeline } from "./pipeline.ts";
import { pipelinedRequests } from "./pipelined-request.ts";
import { UnreadAnswers, type UnreadLimits } from "./unread-answers.ts";

export interface BoundedServerLimits extends UnreadLimits, ConnectionLimits {}

/** `work` is that of the connection. */
type Answer = (request: IncomingMessage, response: ServerResponse, work: WorkConnection) => void;

const requestTimeoutMs = 10_000;
const keepAliveTimeoutMs = 5_000;

/**
 * Makes servers beside those of a service, which record nothing: one for each address, with limits for all of them together. Requests
 * begin in `turns`. Which requests are upgraded `upgrades` says, where the "upgrade" event is listened to; others are answered as if they had not asked.
 */
export function createBoundedServers(
  limits: BoundedServerLimits,
  answer: Answer,
  turns = new WorkTurns(),
  upgrades?: (request: IncomingMessage) => boolean,
  heads?: PipelineHeads,
): Pick<ListenOptions, "createServer" | "places"> {
  const unread = new UnreadAnswers(limits);
  const connections = new ConnectionCount(limits);

  const createBounded = () => {
    let pipelineOf: ((socket: Socket) => Pipeline | undefined) | undefined;

    /** Reports the bytes that wait for their client. */
    class Response extends ServerResponse {
      override write(chunk: unknown, ...rest: never[]): boolean {
        const before = this.writableLength;
        const mayGoOn = super.write(chunk, ...rest);
        if (!mayGoOn) this.#waits(this.writableLength - before);
        return mayGoOn;
      }

      override end(chunk?: unknown, ...rest: never[]): this {
        const before = this.writableLength;
        super.end(chunk, ...rest);
        if (this.writableLength > 0) this.#waits(this.writableLength - before);
        return this;
      }

      #waits(bytes: number): void {
        const pipeline = pipelineOf?.(this.req.socket);
        if (pipeline) unread.add(pipeline, Math.max(0, bytes));
      }
    }

    const server = createServer(
      {
        ...pipelinedRequests,
        ServerResponse: Response as unknown as typeof ServerResponse,
        headersTimeout: requestTimeoutMs,
        requestTimeout: requestTimeoutMs,
        keepAliveTimeout: keepAliveTimeoutMs,
        connectionsCheckingInterval: requestTimeoutMs / 4,
        ...(upgrades && { shouldUpgradeCallback: upgrades }),
        ...(heads && { maxHeaderSize: heads.bytes }),
      },
      (request, response) => answer(request, response, pipelineOf?.(request.socket)?.work ?? turns.connection("")),
    );
    pipelineOf = boundPipelines(server, undefined, turns, heads);
    connections.guard(server);
    return server;
  };
  return { createServer: createBounded, places: connections };
}
