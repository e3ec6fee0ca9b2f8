import type { Failure, ServiceStatus } from "../../contract/service.ts";
import type { ServiceBatch, ServiceMode, StreamFromService } from "../core/service/link.ts";
import type { Counters, Service } from "../core/service/service.ts";
import type { Spawner } from "./spawner.ts";

export interface ManagedServiceOptions {
  readonly service: Service;
  readonly spawner: Spawner;
  readonly mode: ServiceMode;
  /** Awaited before the process is spawned. */
  readonly beforeStart?: () => Promise<void>;
  /** Configuration for the next start; throws CONFIG_INVALID. */
  readonly config: () => Readonly<Record<string, unknown>>;
  /** Whether a process that runs with this configuration is to be replaced by a start; absent where it runs on. */
  readonly isOutdated?: (running: Readonly<Record<string, unknown>>) => boolean;
  readonly dataDir: string;
  readonly certificatesDir: string;
  readonly firstRowId: () => number;
  /** Adds details to a failure to start, for example the program that holds the port. */
  readonly explain: (failure: Failure, config: Readonly<Record<string, unknown>>) => Promise<Failure>;
  readonly onStatus: (status: ServiceStatus, before: ServiceStatus) => void;
  /** The kept records of the service's traffic. */
  readonly readKept: (after: number) => Uint8Array;
  readonly onBatch: (batch: ServiceBatch) => void;
  readonly onView: (name: string, value: unknown, pid: number) => void;
  readonly onCounters: (counters: Counters, at: number, clockMs: number) => void;
  /** Absent for a process that only browses. */
  readonly onStream?: (message: StreamFromService) => void;
  readonly onOutput: (text: string) => void;
  /** The process ended, requested or not: its open rows will never end. */
  readonly onGone: (crashed: boolean) => void;
  readonly timing?: Partial<ServiceTiming>;
}

export interface ServiceTiming {
  /** Timeout of a start, from its begin or from when the process last said what it does. */
  readonly startTimeoutMs: number;
  /** Timeout of a stop; then the process is killed. */
  readonly stopTimeoutMs: number;
  readonly firstBackOffMs: number;
  /** After this time without counters, which a running process sends every second, it counts as not answering. */
  readonly silenceMs: number;
  /** How long the last batches of an ended process may take to be read. */
  readonly lastBatchesMs: number;
}

export const defaultTiming: ServiceTiming = {
  startTimeoutMs: 60_000,
  stopTimeoutMs: 5_000,
  firstBackOffMs: 500,
  silenceMs: 5_000,
  lastBatchesMs: 1_000,
};
