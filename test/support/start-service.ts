import { onTestFinished } from "vitest";
import type { Operations, ParamsOf, ResultOf } from "../../contract/operation.ts";
import type { SampleViews } from "../../contract/sample-traffic.ts";
import type { Endpoint } from "../../contract/service.ts";
import type { Detail, DetailPart } from "../../contract/traffic/detail.ts";
import type { ServiceBatch } from "../../servers/core/service/link.ts";
import { type LogEntry, readLogs } from "../../servers/core/service/log.ts";
import { type RunningService, type RunOptions, runService } from "../../servers/core/service/run-service.ts";
import type { Counters, Service } from "../../servers/core/service/service.ts";
import { createRecorded, type Row } from "./records.ts";
import { temporaryDir } from "./temporary-dir.ts";
import { until } from "./until.ts";

/** What the contract of a service says, for `startService`. */
export interface ServiceContract {
  readonly actions: Operations;
  readonly views: SampleViews;
  /** The kinds of detail that a test reads, and of parts. */
  readonly detail?: Detail;
  readonly part?: DetailPart;
}
type DetailOf<Contract extends ServiceContract> = Contract extends { readonly detail: infer One } ? One : Detail;
type PartOf<Contract extends ServiceContract> = Contract extends { readonly part: infer One } ? One : DetailPart;

/** Calls an action; parameters without which it works may be left out. */
export type Act<Actions extends Operations> = <Name extends keyof Actions & string>(
  name: Name,
  ...params: Record<string, never> extends ParamsOf<Actions[Name]> ? [params?: ParamsOf<Actions[Name]>] : [params: ParamsOf<Actions[Name]>]
) => Promise<ResultOf<Actions[Name]>>;

/** The newest value of each view. */
export interface ShownViews<Views> extends Iterable<readonly [name: string, value: unknown]> {
  get<Name extends keyof Views & string>(name: Name): Views[Name] | undefined;
  has(name: keyof Views & string): boolean;
}

export interface ServiceUnderTest<Contract extends ServiceContract> {
  readonly running: RunningService;
  readonly endpoints: readonly Endpoint[];
  /** Of the endpoint with this label; empty if there is none. */
  urlOf(label: string): string;
  readonly dataDir: string;
  readonly logs: readonly LogEntry[];
  readonly views: ShownViews<Contract["views"]>;
  counters(): Counters | undefined;
  readonly act: Act<Contract["actions"]>;
  /** The newest row of each entry, in their order. */
  rows(): Row[];
  detail(id: number): DetailOf<Contract>;
  parts(id: number): readonly PartOf<Contract>[];
  /** Waits for an ended row that matches. */
  ended(match: (row: Row) => boolean): Promise<Row>;
  stop(): Promise<void>;
}

export interface StartOptions
  extends Partial<
    Pick<
      RunOptions,
      | "config"
      | "dataDir"
      | "certificatesDir"
      | "mode"
      | "services"
      | "onView"
      | "onProgress"
      | "onCounters"
      | "onStream"
      | "readKept"
      | "firstRowId"
    >
  > {
  readonly onBatch?: (batch: ServiceBatch) => void;
}

/** Runs after the test, last registered first. */
export const onEnd = (release: () => unknown): void => onTestFinished(async () => void (await release()));

/** A service in this process, and all that it hands over; stopped after the test. Ports are chosen by `config`: 0 for any. */
export async function startService<Contract extends ServiceContract>(
  service: Service,
  { onBatch, onView, onCounters, ...options }: StartOptions = {},
): Promise<ServiceUnderTest<Contract>> {
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
    onCounters(value, at, clockMs) {
      counters = value;
      onCounters?.(value, at, clockMs);
    },
  });
  const running = await starting;
  onEnd(running.stop);
  return {
    running,
    dataDir,
    logs,
    endpoints: running.endpoints,
    views: views as ShownViews<Contract["views"]>,
    urlOf: (label) => running.endpoints.find((endpoint) => endpoint.label === label)?.url ?? "",
    counters: () => counters,
    act: async (name, params = {} as never) => (await running.act(name, params)) as never,
    rows: () => [...recorded.rows.values()],
    detail: (id) => recorded.detail(id) as DetailOf<Contract>,
    parts: (id) => recorded.parts(id) as PartOf<Contract>[],
    ended: (match) => until(() => [...recorded.rows.values()].find((row) => row.tone !== "pending" && match(row))),
    stop: running.stop,
  };
}
