import { type ChannelCredentials, Client, type ClientOptions, credentials } from "@grpc/grpc-js";
import { afterEach } from "vitest";
import type { Endpoint } from "../../contract/service.ts";
import type { GrpcCall, GrpcMessagePart } from "../../contract/traffic/grpc.ts";
import { type LogEntry, readLogs } from "../../servers/core/service/log.ts";
import { runService } from "../../servers/core/service/run-service.ts";
import type { Counters } from "../../servers/core/service/service.ts";
import { grpcService } from "../../servers/grpc/grpc-service.ts";
import { checkLeaks } from "../support/check-leaks.ts";
import { createRecorded, type Row } from "../support/records.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";

checkLeaks();

export interface GrpcUnderTest {
  readonly port: number;
  /** "127.0.0.1:50051" */
  readonly address: string;
  readonly metricsUrl: string;
  /** Of gRPC-Web and Connect. */
  readonly webUrl: string;
  readonly endpoints: readonly Endpoint[];
  readonly logs: readonly LogEntry[];
  readonly views: ReadonlyMap<string, unknown>;
  counters(): Counters | undefined;
  act<Result = unknown>(name: string, params?: unknown): Promise<Result>;
  client(options?: ClientOptions, channel?: ChannelCredentials): Client;
  rows(): Row[];
  detail(id: number): GrpcCall;
  parts(id: number): readonly GrpcMessagePart[];
  /** Waits for an ended row that matches. */
  ended(match: (row: Row) => boolean): Promise<Row>;
  stop(): Promise<void>;
}

const releases: (() => unknown)[] = [];

/** Runs after the test, last registered first. */
export const onEnd = (release: () => unknown): void => void releases.push(release);

/** The service on free ports, stopped after the test. */
export async function startGrpc(
  config: Record<string, unknown> = {},
  certificatesDir?: string,
  dataDir = temporaryDir(),
): Promise<GrpcUnderTest> {
  const recorded = createRecorded();
  const logs: LogEntry[] = [];
  const views = new Map<string, unknown>();
  let counters: Counters | undefined;
  const starting = runService(grpcService, {
    config: { port: 0, webPort: 0, metricsPort: 0, graceMs: 300, ...config },
    dataDir,
    ...(certificatesDir && { certificatesDir }),
    onBatch(batch) {
      recorded.add(batch);
      logs.push(...readLogs(batch.logs));
      // The first ones come before it has started.
      starting.then(
        ({ outbox }) => setImmediate(() => outbox.ack(batch.seq)),
        () => {},
      );
    },
    onView: (name, value) => void views.set(name, value),
    onCounters: (value) => {
      counters = value;
    },
  });
  const running = await starting;
  const urlOf = (label: string) => running.endpoints.find((endpoint) => endpoint.label === label)?.url ?? "";
  const address = running.endpoints[0]?.url.replace(/^grpcs?:\/\//, "") ?? "";
  releases.push(running.stop);
  return {
    address,
    port: Number(address.split(":")[1]),
    metricsUrl: urlOf("Metrics"),
    webUrl: urlOf("gRPC-Web and Connect"),
    endpoints: running.endpoints,
    logs,
    views,
    counters: () => counters,
    act: async <Result>(name: string, params: unknown = {}) => (await running.act(name, params)) as Result,
    client(options = {}, channel = credentials.createInsecure()) {
      const client = new Client(address, channel, { "grpc.use_local_subchannel_pool": 1, ...options });
      onEnd(() => client.close());
      return client;
    },
    rows: () => [...recorded.rows.values()],
    detail: (id) => recorded.detail(id) as GrpcCall,
    parts: (id) => recorded.parts(id) as readonly GrpcMessagePart[],
    ended: (match) => until(() => [...recorded.rows.values()].find((row) => row.tone !== "pending" && match(row)), 20_000),
    stop: running.stop,
  };
}

afterEach(async () => {
  for (let release = releases.pop(); release; release = releases.pop()) await release();
});
