import path from "node:path";
import type { ServiceId } from "../contract/service.ts";
import type { CommandLine } from "./command-line.ts";
import type { ConsoleOutput, FailedService } from "./console-output.ts";
import { type ControlServer, startControlServer } from "./control-server.ts";
import { ServiceError, toFailure } from "./core/service/service-error.ts";
import { createRun, dataDirOf, type RunParts } from "./create-run.ts";
import { checkDashboard } from "./dashboard-files.ts";
import { openDashboardSecret } from "./dashboard-secret.ts";
import { checkRecordFolder, recordTraffic } from "./record-traffic.ts";
import { holderText, nextFreePort, portHolder } from "./supervisor/port-doctor.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";

/** Default port of the dashboard. */
const dashboardPort = 7_070;

export interface BacklotOptions extends Omit<RunParts, "shell"> {
  readonly commandLine: CommandLine;
  readonly dashboardDir: string;
  readonly output: ConsoleOutput;
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
}

/**
 * Backlot without a window of its own, until `signal`: starts what was asked for, serves the dashboard, says so.
 * Resolves with the exit code: 0 after the signal, 1 when a service named by `--only` cannot start, and after the signal
 * when a service that was asked for is failed or traffic could not be written.
 */
export async function runBacklot(options: BacklotOptions): Promise<number> {
  const { commandLine, output } = options;
  await checkDashboard(options.dashboardDir);
  const folder = commandLine.record === undefined ? undefined : path.resolve(commandLine.record);
  if (folder !== undefined) await checkRecordFolder(folder);
  const supervisor = await createRun({ ...options, shell: "browser" });
  let server: ControlServer | undefined;
  let failed: readonly FailedService[];
  try {
    supervisor.onLog(output.logs);
    server = await serve(options, supervisor);
    supervisor.onStatus(output.status);
    failed = await runServices(supervisor, server.url, options);
  } finally {
    await supervisor.close();
    await server?.close();
  }
  const unwritten =
    folder === undefined ? undefined : await recordTraffic(supervisor, folder, askedOf(supervisor, commandLine), output.recorded);
  // For a person who ends it, a service that failed is nothing new.
  const counted = commandLine.shell === "headless" ? failed : [];
  const failure = counted[0]?.failure ?? unwritten;
  if (!failure) return 0;
  if (unwritten && failure !== unwritten) output.say(`${unwritten.code}: ${unwritten.message}`);
  output.failed(failure, counted.length > 0 ? counted.map(({ id }) => id) : undefined);
  return 1;
}

/** Until the signal, or until a service that was named in a headless run has failed for good. Resolves with those that have. */
async function runServices(
  supervisor: Supervisor,
  dashboard: string,
  { commandLine, output, signal }: BacklotOptions,
): Promise<readonly FailedService[]> {
  const ended = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const named = commandLine.only && commandLine.shell === "headless";
  const asked = askedOf(supervisor, commandLine);
  const failedNow = () =>
    supervisor
      .views()
      .flatMap(({ id, status }) =>
        asked.includes(id) && status.state === "failed" && !status.retryAt ? [{ id, failure: status.failure }] : [],
      );
  const starts = asked.map(async (id): Promise<FailedService[]> => {
    try {
      await supervisor.start(id);
      return [];
    } catch (error) {
      return [failedNow().find((one) => one.id === id) ?? { id, failure: toFailure(error) }];
    }
  });
  const failed = await Promise.race([Promise.all(starts).then((each) => each.flat()), ended]);
  // A signal during the start is an end like any other.
  if (!failed || signal.aborted) return failedNow();
  if (named && failed.length > 0) return failed;
  output.ready(dashboard, failed);

  // A named service that fails later ends the run as well, so that CI does not wait for it.
  const gaveUp = new Promise<void>((resolve) => {
    if (named) supervisor.onStatus(() => failedNow().length > 0 && resolve());
  });
  await Promise.race([ended, gaveUp]);
  return failedNow();
}

const askedOf = (supervisor: Supervisor, { start }: CommandLine): readonly ServiceId[] =>
  start.length > 0 ? start : supervisor.settings.startAtLaunch.filter((id) => isBuilt(supervisor, id));

const isBuilt = (supervisor: Supervisor, id: ServiceId) => supervisor.views().some((view) => view.id === id && view.built);

/** On the port asked for, which must be free; by default on 7070 or the next free one. */
async function serve(options: BacklotOptions, { attach, claimExport, log }: Supervisor): Promise<ControlServer> {
  const { dashboardDir, commandLine, output } = options;
  const secret = await openDashboardSecret(dataDirOf(options), log.warning);
  const asked = commandLine.dashboardPort;
  for (let port = asked ?? dashboardPort; ; ) {
    try {
      const server = await startControlServer({
        port,
        dashboardDir,
        secret,
        attach,
        claimExport,
        mostWithoutToken: commandLine.dashboardConnections,
        unreadBytes: commandLine.dashboardUnread === undefined ? undefined : commandLine.dashboardUnread * (1 << 20),
      });
      if (asked === undefined && port !== dashboardPort) output.say(`Port ${dashboardPort} is taken: the dashboard is on ${port}.`);
      return server;
    } catch (error) {
      // Another Backlot that starts at the same time may take this port too: then the next one is tried.
      const next = asked === undefined && toFailure(error).code === "PORT_IN_USE" ? await nextFreePort(port) : undefined;
      if (next === undefined) throw await dashboardError(error);
      port = next;
    }
  }
}

async function dashboardError(error: unknown): Promise<unknown> {
  const { code, port } = toFailure(error);
  if (code !== "PORT_IN_USE" || port === undefined) return error;
  const by = holderText(await portHolder(port));
  return new ServiceError(
    "PORT_IN_USE",
    `Port ${port}, for the dashboard, is taken by ${by}`,
    "Choose another with --dashboard-port, or 0 for any.",
    {
      cause: error,
      port,
    },
  );
}
