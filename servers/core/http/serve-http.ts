import type { TlsOptions, Server as TlsServer } from "node:tls";
import type { Handlers } from "../../../contract/operation.ts";
import type { SampleViews } from "../../../contract/sample-traffic.ts";
import type { HttpActions } from "../../../contract/services/http.ts";
import { SharedBudget } from "../limits/shared-budget.ts";
import { ConnectionCount, type ConnectionLimits } from "../net/connection-count.ts";
import { FaultLog } from "../net/fault-log.ts";
import { listenTcp } from "../net/tcp-listener.ts";
import { listenTls } from "../net/tls-listener.ts";
import type { ServiceContext } from "../service/service.ts";
import { WorkTurns } from "../turns/work-turns.ts";
import { budgetOf } from "./connections/body-budget.ts";
import { createHttpDispatch, type HttpErrors } from "./http-dispatch.ts";
import type { HttpRoute } from "./http-route.ts";
import { createHttpSampleTraffic, type HttpSample } from "./http-sample-traffic.ts";
import { createHttpServers, type HttpUpgrade } from "./http-server.ts";
import { createLoopbackClient, type LoopbackClient } from "./loopback-client.ts";
import { type CorsOptions, createCors } from "./messages/cors.ts";
import { createHttpRecorder, type HttpRecorder } from "./record/http-recorder.ts";
import type { HttpRedaction } from "./record/http-redaction.ts";

/** Configuration of the fields in `httpLimitFields` and `commonFields`. */
export interface HttpBaseConfig extends ConnectionLimits {
  readonly port: number;
  readonly https: boolean;
  readonly httpsPort: number;
  readonly tlsHandshakes: number;
  readonly openToLan: boolean;
  readonly headerBytes: number;
  /** Default: ten seconds, or the request's timeout if that is shorter. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly unansweredRequests: number;
  readonly allUnsentBytes: number;
  readonly allRequestBytes: number;
  readonly unreadTimeoutMs: number;
  readonly recordedBodyBytes: number;
  readonly recordedBodyRate: number;
}

export interface HttpOptions {
  readonly routes: readonly HttpRoute[];
  readonly caseSensitivePaths?: boolean;
  /** Normalizes the path before the route is looked up. Throws a URIError for a path that cannot be decoded. */
  readonly tidyPath?: (path: string) => string;
  readonly cors: CorsOptions;
  /** Fields of every answer in addition to nosniff and CORS. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors: HttpErrors;
  /** Hides credentials before a row or its detail leaves the process. */
  readonly redaction?: HttpRedaction;
  /** Redacts a path for the log, for services whose paths contain secrets. */
  readonly maskPath?: (target: string) => string;
  readonly upgrade?: (recorder: HttpRecorder, held: SharedBudget) => HttpUpgrade & { close(): void };
  readonly sample: HttpSample;
  /** Of all clients, where the service has work for them besides requests. */
  readonly turns?: WorkTurns;
  /** Called at stop before the connections close: completes what was received. */
  readonly onClosing?: () => void | Promise<void>;
}

export interface HttpPorts {
  readonly port: number;
  /** The configured port if HTTPS is off. */
  readonly httpsPort: number;
}

export interface HttpServing {
  /** Where it listens. */
  readonly ports: HttpPorts;
  readonly recorder: HttpRecorder;
  readonly client: LoopbackClient;
  /** The actions that every service over HTTP has. */
  readonly actions: Pick<Handlers<HttpActions>, "try" | "resend" | "sample.start" | "sample.stop">;
}

/**
 * Serves routes over HTTP: listeners, limits, recorder, CORS, errors, sample traffic and requests of the page.
 * A request goes from its listener to its connection, the decoder (Node's), the handler and the answer; the recorder is called when
 * it begins, for each part of it and when it ends. Resolves when it listens; every release is registered with `context.onStop`.
 */
export async function serveHttp(context: ServiceContext<HttpBaseConfig, never, SampleViews>, options: HttpOptions): Promise<HttpServing> {
  const { config, log, onStop } = context;
  const { redaction, maskPath, turns = new WorkTurns() } = options;
  const recorder = createHttpRecorder({
    traffic: context.traffic,
    log,
    bodyLimit: config.recordedBodyBytes,
    bodyBudget: budgetOf(config.recordedBodyRate),
    ...(redaction && { redaction }),
    ...(maskPath && { maskPath }),
    turns,
  });
  const cors = createCors(options.cors);
  const held = new SharedBudget(config.allRequestBytes);
  const upgrade = options.upgrade?.(recorder, held);
  const limits = { headersTimeoutMs: Math.min(10_000, config.requestTimeoutMs), ...config };
  const createServer = createHttpServers({
    recorder,
    log,
    limits,
    held,
    errors: options.errors,
    cors,
    fields: [...Object.entries(options.headers ?? {}).flat(), "X-Content-Type-Options", "nosniff", ...cors.fields],
    dispatch: createHttpDispatch({ ...options, cors, log }),
    upgrade,
  });
  const { openToLan } = config;
  const faults = new FaultLog(log, ({ socket, why, isShown }) => {
    if (isShown) recorder.refusedHandshake(socket, `TLS handshake failed: ${why}`);
  });
  onStop(() => faults.flush());
  const connections = new ConnectionCount(config, faults);
  const createLimited = (tls?: TlsOptions) => {
    const server = createServer(tls);
    connections.guard(server);
    return server;
  };
  const port = await listenTcp({ port: config.port, openToLan, createServer: () => createLimited(), places: connections, onStop });
  let { httpsPort } = config;
  let https: { readonly port: number; readonly ca: string } | undefined;
  if (config.https) {
    const certificates = await context.certificates();
    const createTlsServer = (tls: TlsOptions) => createLimited(tls) as unknown as TlsServer;
    const handshakeMs = limits.headersTimeoutMs;
    const handshakes = { certificates, faults, handshakeMs, turns, tlsHandshakes: config.tlsHandshakes };
    httpsPort = await listenTls({ port: httpsPort, openToLan, ...handshakes, createServer: createTlsServer, places: connections, onStop });
    https = { port: httpsPort, ca: certificates.authority.cert };
  }
  onStop(() => recorder.connections.destroyAll());
  if (upgrade) onStop(upgrade.close);
  if (options.onClosing) onStop(options.onClosing);
  const client = createLoopbackClient({ port, https, recorder });
  onStop(client.close);
  const sample = createHttpSampleTraffic({ ...options.sample, port, show: (view) => context.view("sample", view) });
  onStop(sample.stop);
  // From here on an aborted exchange counts as aborted by the service.
  onStop(recorder.stop);

  context.counters(recorder.counters);
  return {
    ports: { port, httpsPort },
    recorder,
    client,
    actions: {
      try: ({ base64, body, ...request }) => client.send({ ...request, body: base64 === undefined ? body : Buffer.from(base64, "base64") }),
      resend: ({ body, ...request }) => client.send({ ...request, body: Buffer.from(body, "base64"), mark: "sent again" }),
      ...sample.actions,
    },
  };
}
