import type { RateSample } from "../contract/traffic/row.ts";
import type { AttachedDashboard, ClickTimes } from "./attached-dashboard.ts";
import { type BacklotProgram, startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import { type ControlSocket, openControlSocket } from "./control-socket.ts";
import { chromiumPackage, installMissing } from "./debian-packages.ts";
import { type FloodResult, floodReport, type StopTimes } from "./flood-report.ts";
import { freePort, progress, type StartedProcess, sleep, startProcess, times, watchOtherLoad } from "./harness.ts";
import { openPageDashboard } from "./page-dashboard.ts";
import { cpuSeconds, memoryOf, processTree } from "./process-tree.ts";
import { openSocketDashboard } from "./socket-dashboard.ts";

const usualRate = 5_000;
const connections = 32;
const sampleMs = 1_000;
/** After the load: for the last batches, and for the page to read again what was left out. */
const settleMs = 2_000;

export interface LoadFigures {
  readonly sent: number;
  readonly answered: number;
  /** Unanswered when their connection was closed. */
  readonly lost: number;
  readonly seconds: number;
  /** Longest time between two ticks of its clock: whether the generator itself kept pace. */
  readonly latestTickMs: number;
}

export async function dashboardBench(options: BenchOptions): Promise<string> {
  const requestsPerSecond = options.rate ?? usualRate;
  const seconds = options.seconds ?? (options.quick ? 5 : 60);
  const stops = options.rounds ?? (options.quick ? 1 : 5);
  const withPage = installMissing([chromiumPackage]).length === 0;

  const otherLoad = watchOtherLoad();
  const backlot = await startBacklot({ services: ["http"], port: await freePort() });
  const control = await openControlSocket(backlot.dashboardUrl);
  const dashboard = await (withPage ? openPageDashboard : openSocketDashboard)(backlot.dashboardUrl);
  const witness = await openSocketDashboard(backlot.dashboardUrl);
  try {
    await sleep(settleMs);
    progress(`${requestsPerSecond} requests a second for ${seconds} s ...`);
    const flood = await runFlood({ backlot, control, dashboard, witness, seconds, requestsPerSecond });
    progress(`Stop under that load, ${times(stops, "time")} each way ...`);
    await witness.close();
    const stopTimes = await runStops({ backlot, control, dashboard, stops, requestsPerSecond });
    return floodReport({ dashboard: dashboard.name, requestsPerSecond, connections, flood, stopTimes, otherLoad: otherLoad() });
  } finally {
    await dashboard.close();
    control.close();
    await backlot.stop();
  }
}

interface Parts {
  readonly backlot: BacklotProgram;
  readonly control: ControlSocket;
  readonly dashboard: AttachedDashboard;
}

const startLoad = (backlot: BacklotProgram, requestsPerSecond: number, seconds: number): StartedProcess =>
  startProcess({
    command: process.execPath,
    args: [
      `${import.meta.dirname}/load/paced-requests.ts`,
      ...[new URL(backlot.url).port, requestsPerSecond, connections, seconds].map(String),
    ],
  });

async function runFlood(parts: Parts & { witness: AttachedDashboard; seconds: number; requestsPerSecond: number }): Promise<FloodResult> {
  const { backlot, control, dashboard, witness, seconds, requestsPerSecond } = parts;
  const service = backlot.servicePid();
  const groups: readonly (() => readonly number[])[] = [() => [service], () => processTree(backlot.pid), dashboard.pids];
  const readCpu = () => groups.map((pids) => cpuSeconds(pids()));
  const before = await control.call("traffic.read", { id: "http", limit: 1 });
  await dashboard.page?.frames();
  const cpuBefore = readCpu();
  const begunAt = performance.now();

  const load = startLoad(backlot, requestsPerSecond, seconds);
  let output = "";
  load.child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  const most = { backlotResident: 0, backlotProportional: 0, dashboardProportional: 0 };
  const sampler = setInterval(() => {
    const memory = memoryOf(processTree(backlot.pid));
    most.backlotResident = Math.max(most.backlotResident, memory.residentMebibytes);
    most.backlotProportional = Math.max(most.backlotProportional, memory.proportionalMebibytes);
    most.dashboardProportional = Math.max(most.dashboardProportional, memoryOf(dashboard.pids()).proportionalMebibytes);
  }, sampleMs);
  const code = await load.ended;
  clearInterval(sampler);
  if (code !== 0) throw new Error(`The load generator ended with code ${code}: ${load.errorText()}`);

  const elapsed = (performance.now() - begunAt) / 1_000;
  const corePercents = readCpu().map((cpu, index) => ((cpu - cpuBefore[index]!) / elapsed) * 100);
  const frames = await dashboard.page?.frames();
  await sleep(settleMs);
  const after = await control.call("traffic.read", { id: "http", limit: 1 });
  const witnessed = await witness.counts();
  return {
    load: JSON.parse(output) as LoadFigures,
    counted: after.total - before.total,
    notRecorded: after.dropped - before.dropped,
    delivered: await dashboard.counts(),
    deliveredInAll: witnessed.updates + witnessed.leftOut,
    frames,
    memory: most,
    corePercents: { service: corePercents[0]!, backlot: corePercents[1]!, dashboard: corePercents[2]! },
  };
}

/** Stop and start again while requests keep coming; by a click in the page, and by a call of the control protocol. */
async function runStops({
  backlot,
  control,
  dashboard,
  stops,
  requestsPerSecond,
}: Parts & { stops: number; requestsPerSecond: number }): Promise<StopTimes> {
  let rate = 0;
  control.subscribe("rate", ({ items }) => {
    for (const sample of items as readonly RateSample[]) if (sample.service === "http") rate = sample.itemsPerSecond;
  });
  const load = startLoad(backlot, requestsPerSecond, 0);
  const rates: number[] = [];
  const underLoad = async () => {
    const deadline = performance.now() + 10_000;
    while (rate < requestsPerSecond * 0.9 && performance.now() < deadline) await sleep(100);
    // A whole second more, so that every stage of the way is busy.
    await sleep(1_000);
    rates.push(rate);
  };
  const clicks: ClickTimes[] = [];
  const callMs: number[] = [];
  try {
    for (let stop = 0; stop < stops; stop++) {
      if (dashboard.page) {
        await underLoad();
        clicks.push(await dashboard.page.clickStop());
        await restart(control, () => (rate = 0));
      }
      await underLoad();
      const askedAt = performance.now();
      await control.call("service.stop", { id: "http" });
      callMs.push(performance.now() - askedAt);
      await restart(control, () => (rate = 0));
    }
  } finally {
    await load.stop();
  }
  return { clicks, callMs, rates };
}

async function restart(control: ControlSocket, forgetRate: () => void): Promise<void> {
  forgetRate();
  await control.call("service.start", { id: "http" });
}
