import { connect, type Socket } from "node:net";
import { afterEach } from "vitest";
import type { Endpoint } from "../../contract/service.ts";
import type { Detail, DetailPart } from "../../contract/traffic/detail.ts";
import type { HttpExchange } from "../../contract/traffic/http.ts";
import { type LogEntry, readLogs } from "../../servers/core/service/log.ts";
import { runService } from "../../servers/core/service/run-service.ts";
import type { Counters } from "../../servers/core/service/service.ts";
import { httpService } from "../../servers/http/http-service.ts";
import { checkLeaks } from "../support/check-leaks.ts";
import { createRecorded, type Row } from "../support/records.ts";
import { until } from "../support/until.ts";

checkLeaks();

export interface HttpUnderTest {
  readonly port: number;
  readonly url: string;
  readonly endpoints: readonly Endpoint[];
  readonly logs: readonly LogEntry[];
  readonly views: ReadonlyMap<string, unknown>;
  counters(): Counters | undefined;
  act<Result = unknown>(name: string, params?: unknown): Promise<Result>;
  /** The newest row and detail of each exchange, by row id. */
  rows(): Row[];
  detail(id: number): HttpExchange;
  anyDetail(id: number): Detail | undefined;
  parts(id: number): readonly DetailPart[];
  /** Waits for an ended row that matches. */
  ended(match: (row: Row) => boolean): Promise<Row>;
  stop(): Promise<void>;
}

const releases: (() => unknown)[] = [];

/** The service on a free port, stopped after the test. */
export async function startHttp(config: Record<string, unknown> = {}, certificatesDir?: string): Promise<HttpUnderTest> {
  const recorded = createRecorded();
  const logs: LogEntry[] = [];
  const views = new Map<string, unknown>();
  let counters: Counters | undefined;
  const running = await runService(httpService, {
    config: { port: 0, ...config },
    dataDir: "unused",
    ...(certificatesDir && { certificatesDir }),
    onBatch(batch) {
      recorded.add(batch);
      logs.push(...readLogs(batch.logs));
      setImmediate(() => running.outbox.ack(batch.seq));
    },
    onView: (name, value) => void views.set(name, value),
    onCounters: (value) => {
      counters = value;
    },
  });
  const url = running.endpoints[0]?.url ?? "";
  const service: HttpUnderTest = {
    url,
    endpoints: running.endpoints,
    port: Number(new URL(url).port),
    logs,
    views,
    counters: () => counters,
    act: async <Result>(name: string, params: unknown = {}) => (await running.act(name, params)) as Result,
    rows: () => [...recorded.rows.values()],
    anyDetail: (id) => recorded.detail(id),
    parts: (id) => recorded.parts(id),
    detail: (id) => recorded.detail(id) as HttpExchange,
    ended: (match) => until(() => [...recorded.rows.values()].find((row) => row.tone !== "pending" && match(row))),
    stop: running.stop,
  };
  releases.push(running.stop);
  return service;
}

/** Runs after the test, last registered first. */
export const onEnd = (release: () => unknown): void => void releases.push(release);

export { until };

export interface RawConnection {
  readonly socket: Socket;
  /** All that came so far. */
  text(): string;
  send(bytes: string | Uint8Array): void;
  /** Resolves with all of it once the server has closed. */
  closed(): Promise<string>;
  /** Resolves once what came matches. */
  received(pattern: RegExp): Promise<string>;
}

export async function rawConnection(port: number, first?: string | Uint8Array): Promise<RawConnection> {
  const socket = connect({ port, host: "127.0.0.1" });
  onEnd(() => socket.destroy());
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  const over = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const text = () => Buffer.concat(chunks).toString("latin1");
  if (first !== undefined) socket.write(first);
  return {
    socket,
    text,
    send: (bytes) => void socket.write(bytes),
    async closed() {
      await over;
      return text();
    },
    received: (pattern) => until(() => (pattern.test(text()) ? text() : undefined)),
  };
}

/** One request as raw text on a connection of its own; everything that came back. */
export async function raw(port: number, request: string | Uint8Array): Promise<string> {
  return (await rawConnection(port, request)).closed();
}

afterEach(async () => {
  for (let release = releases.pop(); release; release = releases.pop()) await release();
});
