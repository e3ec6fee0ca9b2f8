import path from "node:path";
import { onTestFinished } from "vitest";
import type { ServiceId, ServiceStatus } from "../../contract/service.ts";
import { type LogEntry, readLogs } from "../../servers/core/service/log.ts";
import { createManagedService, type ManagedService } from "../../servers/supervisor/managed-service.ts";
import type { ServiceTiming } from "../../servers/supervisor/managed-service-options.ts";
import { nodeSpawner } from "../../servers/supervisor/spawner.ts";
import { createEventLog, type EventLog } from "../support/event-log.ts";
import { rowsOfBatch } from "../support/records.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { fixtureService } from "./fixture-service.ts";

export const fixtureSpawner = nodeSpawner(path.join(import.meta.dirname, "fixture-process.ts"));

export interface Managed {
  readonly managed: ManagedService;
  readonly statuses: EventLog<ServiceStatus>;
  readonly logs: EventLog<LogEntry>;
  readonly rows: EventLog<{ readonly id: number }>;
  readonly output: EventLog<string>;
  readonly gone: EventLog<boolean>;
  /** For the next start. */
  config: Record<string, unknown>;
  readonly states: () => readonly string[];
  /** Of the running process. */
  readonly pid: () => number;
}

/** A fixture service in a process of its own; stopped after the test. */
export function manage(options: { id?: ServiceId; config?: Record<string, unknown>; timing?: Partial<ServiceTiming> } = {}): Managed {
  const statuses = createEventLog<ServiceStatus>();
  const logs = createEventLog<LogEntry>();
  const rows = createEventLog<{ readonly id: number }>();
  const output = createEventLog<string>();
  const gone = createEventLog<boolean>();
  const dataDir = temporaryDir();
  const result: Managed = {
    managed: createManagedService({
      mode: "serve",
      service: fixtureService(options.id ?? "http"),
      spawner: fixtureSpawner,
      config: () => result.config,
      dataDir,
      certificatesDir: path.join(dataDir, "certificates"),
      firstRowId: () => 1,
      explain: async (failure) => failure,
      onStatus: statuses.add,
      readKept: () => new Uint8Array(),
      onBatch(batch) {
        for (const entry of readLogs(batch.logs)) logs.add(entry);
        for (const row of rowsOfBatch(batch)) rows.add(row);
      },
      onView: () => {},
      onCounters: () => {},
      onOutput: output.add,
      onGone: gone.add,
      timing: { firstBackOffMs: 10, ...options.timing },
    }),
    statuses,
    logs,
    rows,
    output,
    gone,
    config: options.config ?? {},
    states: () => statuses.items.map(({ state }) => state),
    pid() {
      const { status } = result.managed;
      if (status.state !== "running") throw new Error(`it is ${status.state}`);
      return status.pid;
    },
  };
  onTestFinished(() => result.managed.stop());
  return result;
}
