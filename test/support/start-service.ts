import { onTestFinished } from "vitest";
import type { Endpoint } from "../../contract/service.ts";
import type { Detail, DetailPart } from "../../contract/traffic/detail.ts";
import type { ServiceBatch } from "../../servers/core/service/link.ts";
import { type LogEntry, readLogs } from "../../servers/core/service/log.ts";
import { type RunningService, type RunOptions, runService } from "../../servers/core/service/run-service.ts";
import type { Counters, Service } from "../../servers/core/service/service.ts";
import { createRecorded, type Row } from "./records.ts";
import { temporaryDir } from "./temporary-dir.ts";
import { until } from "./until.ts";

export interface ServiceUnderTest<OneDetail extends Detail = Detail, OnePart extends DetailPart = DetailPart> {
  readonly running: RunningService;
  readonly endpoints: readonly Endpoint[];
  /** Of the endpoint with this label; empty if there is none. */
  urlOf(label: string): string;
  readonly dataDir: string;
  readonly logs: readonly LogEntry[];
  /** The newest value of each view. */
  readonly views: ReadonlyMap<string, unknown>;
  counters(): Counters | undefined;
  act<Result = unknown>(name: string, params?: unknown): Promise<Result>;
  /** The newest row of each entry, in their order. */
  rows(): Row[];
  detail(id: number): OneDetail;
  parts(id: number): readonly OnePart[];
  /** Waits for an ended row that matches. */
  ended(match: (row: Row) => boolean): Promise<Row>;
  stop(): Promise<void>;
}

export interface StartOptions
  extends Partial<Pick<RunOptions, "config" | "dataDir" | "certificatesDir" | "mode" | "onView" | "onCounters">> {
  readonly onBatch?: (batch: ServiceBatch) => void;
}

/** Runs after the test, last registered first. */
export const onEnd = (release: () => unknown): void => onTestFinished(async () => void (await release()));

/** A service in this process, and all that it hands over; stopped after the test. Ports are chosen by `config`: 0 for any. */
export async function startService<OneDetail extends Detail = Detail, OnePart extends DetailPart = DetailPart>(
  service: Service,
  { onBatch, onView, onCounters, ...options }: StartOptions = {},
): Promise<ServiceUnderTest<OneDetail, OnePart>> {
  const dataDir = options.dataDir ?? temporaryDir();
  const recorded = createRecorded();
  const logs: LogEntry[] = [];
  const views = new Map<string, unknown>();
  let counters: Counters | undefined;
  const starting = runService(service, {
    ...options,
    dataDir,
    onBatch(batch) {
      recorded.add(batch);
      logs.push(...readLogs(batch.logs));
      onBatch?.(batch);
      // The first ones come before it has started, also if it fails to.
      starting.then(
        ({ outbox }) => setImmediate(() => outbox.ack(batch.seq)),
        () => {},
      );
    },
    onView(name, value) {
      views.set(name, value);
      onView?.(name, value);
    },
    onCounters(value, at) {
      counters = value;
      onCounters?.(value, at);
    },
  });
  const running = await starting;
  onEnd(running.stop);
  return {
    ...{ running, dataDir, logs, views, endpoints: running.endpoints },
    urlOf: (label) => running.endpoints.find((endpoint) => endpoint.label === label)?.url ?? "",
    counters: () => counters,
    act: async <Result>(name: string, params: unknown = {}) => (await running.act(name, params)) as Result,
    rows: () => [...recorded.rows.values()],
    detail: (id) => recorded.detail(id) as OneDetail,
    parts: (id) => recorded.parts(id) as OnePart[],
    ended: (match) => until(() => [...recorded.rows.values()].find((row) => row.tone !== "pending" && match(row)), 15_000),
    stop: running.stop,
  };
}
