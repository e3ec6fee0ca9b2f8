import type { IncomingMessage, ServerResponse } from "node:http";
import { createBoundedServers } from "../../core/http/connections/bounded-server.ts";
import { SharedText } from "../../core/http/connections/shared-text.ts";
import { isByPublicName } from "../../core/net/allowed-origins.ts";
import { type ListenOptions, listenTcp } from "../../core/net/tcp-listener.ts";
import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { CallMetrics } from "./call-metrics.ts";

const paths = new Set(["/", "/metrics"]);
const limits = { connections: 1_000, connectionsPerAddress: 500, allUnsentBytes: 64 << 20, unreadTimeoutMs: 10_000 };

export interface MetricsOptions extends Omit<ListenOptions, "createServer"> {
  /** Also for the public names by which this server may be asked. */
  readonly allowsOrigin: (origin: string | undefined) => boolean;
  /** Of the service: the text is made in steps. */
  readonly turns: WorkTurns;
}

function refuseForeign(response: ServerResponse): void {
  const text =
    "This server may not be used by a public name; use its address, or allow the origin in the configuration (GRPC_ALLOWED_ORIGINS)";
  response.writeHead(403, { "Content-Type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}

const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** Serves the metrics as text for Prometheus, at /metrics and at /. Resolves with the port. */
export function listenMetrics({ text }: Pick<CallMetrics, "text">, { allowsOrigin, turns, ...listen }: MetricsOptions): Promise<number> {
  const service = turns.connection("");
  const metrics = new SharedText(service, () => service.run(text()));

  async function answer(request: IncomingMessage, response: ServerResponse, work: WorkConnection): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] as string;
    if (request.method !== "GET" && request.method !== "HEAD") response.writeHead(405, { Allow: "GET, HEAD" }).end();
    else if (!paths.has(path)) response.writeHead(404).end();
    else if (isByPublicName(request, allowsOrigin)) refuseForeign(response);
    else {
      const bytes = await metrics.read();
      const headers = { "Content-Type": contentType, "X-Content-Type-Options": "nosniff" };
      await work.run(oneStep(() => void response.writeHead(200, headers).end(bytes)));
    }
  }
  return listenTcp({
    ...listen,
    ...createBoundedServers(
      limits,
      (request, response, work) => {
        request.resume();
        answer(request, response, work).catch(() => response.destroy());
      },
      turns,
    ),
  });
}
