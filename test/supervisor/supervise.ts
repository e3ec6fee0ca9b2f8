import { onTestFinished } from "vitest";
import type { ServiceId, ServiceView } from "../../contract/service.ts";
import { createSupervisor, type Supervisor, type SupervisorOptions } from "../../servers/supervisor/supervisor.ts";
import { createEventLog, type EventLog } from "../support/event-log.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { createTestDashboard, type TestDashboard } from "./dashboard.ts";
import { fixtureServices } from "./fixture-service.ts";
import { fixtureSpawner } from "./manage.ts";

export interface Supervised {
  readonly supervisor: Supervisor;
  readonly dashboard: TestDashboard;
  readonly statuses: EventLog<ServiceView>;
  /** The port on which a running service listens. */
  readonly port: (id: ServiceId) => number;
}

/** A supervisor over the fixture services, with a dashboard; closed after the test. */
export async function supervise(options: Partial<SupervisorOptions> = {}): Promise<Supervised> {
  const supervisor = await createSupervisor({
    services: fixtureServices,
    planned: [{ id: "grpc", title: "gRPC", purpose: "later", ports: [50_051] }],
    spawner: fixtureSpawner,
    dataDir: temporaryDir(),
    shell: "browser",
    version: "0.0.0",
    environment: {},
    flags: {},
    // On a busy machine a process takes its time: what it says last counts in these tests, and those of time limits set them.
    timing: { firstBackOffMs: 10, stopTimeoutMs: 60_000, silenceMs: 60_000, lastBatchesMs: 60_000 },
    // What another one saves is read with the next save, as where both are saved at the same moment.
    settingsLookMs: 600_000,
    ...options,
  });
  const dashboard = createTestDashboard(supervisor.attach);
  const statuses = createEventLog<ServiceView>();
  supervisor.onStatus(statuses.add);
  onTestFinished(async () => {
    dashboard.close();
    await supervisor.close();
  });
  return {
    supervisor,
    dashboard,
    statuses,
    port(id) {
      const status = supervisor.views().find((view) => view.id === id)?.status;
      if (status?.state !== "running") throw new Error(`${id} is ${status?.state}`);
      return Number(new URL(status.endpoints[0]?.url ?? "").port);
    },
  };
}
