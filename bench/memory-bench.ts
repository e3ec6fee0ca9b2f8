import { type BacklotProgram, startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import { chromiumPackage, installMissing } from "./debian-packages.ts";
import { progress, type StartedProcess, sleep, startProcess, watchOtherLoad } from "./harness.ts";
import type { MixedFigures } from "./load/mixed-calls.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { openDashboardPage } from "./page-dashboard.ts";
import { memoryOf, processTree } from "./process-tree.ts";

/** MiB of all processes, shared pages counted in parts. */
const targets = { idleMebibytes: 230, loadedMebibytes: 600, growthMebibytes: 20 };
const callsPerSecond = 600;
const messagesPerSecond = 500;
const topics = 1_000;
const idleMs = 20_000;
const services = ["http", "mqtt", "account", "events"] as const;

interface Reading {
  readonly when: string;
  readonly byProcess: ReadonlyMap<string, number>;
  readonly all: number;
}

/** Memory of all processes with four services: idle, and over ten minutes of mixed load with a dashboard open. */
export async function memoryBench(options: BenchOptions): Promise<string> {
  const seconds = options.seconds ?? (options.quick ? 10 : 600);
  const withPage = installMissing([chromiumPackage]).length === 0;
  const otherLoad = watchOtherLoad();
  const backlot = await startBacklot({ services, flags: ["--events-rate-limits=false", "--mqtt-tls=false", "--mqtt-web-socket=false"] });
  try {
    progress("Waiting for the memory at rest ...");
    await sleep(options.quick ? 2_000 : idleMs);
    const readings = [read(backlot, "idle")];
    const browser = withPage ? await openDashboardPage(backlot.dashboardUrl, "overview", "Overview") : undefined;
    try {
      progress(`${callsPerSecond} calls and ${messagesPerSecond} messages a second for ${seconds} s ...`);
      const load = startLoad(backlot, seconds);
      const steps = [0.1, 0.25, 0.5, 0.75, 1];
      const begunAt = performance.now();
      for (const step of steps) {
        await sleep(Math.max(0, seconds * step * 1_000 - (performance.now() - begunAt)));
        readings.push(read(backlot, `after ${figure((seconds * step) / 60)} min`));
        progress(`${readings.at(-1)?.when}: ${figure(readings.at(-1)?.all)} MiB`);
      }
      const figures = await load;
      return report(readings, figures, Boolean(browser), otherLoad());
    } finally {
      await browser?.close();
    }
  } finally {
    await backlot.stop();
  }
}

function read(backlot: BacklotProgram, when: string): Reading {
  const own = (pid: number) => memoryOf([pid]).proportionalMebibytes;
  const named = services.map((service): [string, number] => [service, own(backlot.servicePid(service))]);
  const byProcess = new Map([["supervisor", own(backlot.pid)], ...named]);
  return { when, byProcess, all: memoryOf(processTree(backlot.pid)).proportionalMebibytes };
}

async function startLoad(backlot: BacklotProgram, seconds: number): Promise<MixedFigures> {
  const folder = `${import.meta.dirname}/load`;
  const started = (script: string, ...args: readonly (string | number)[]): StartedProcess =>
    startProcess({ command: process.execPath, args: [`${folder}/${script}`, ...args.map(String)] });
  const mqttPort = new URL(backlot.urlOf("mqtt")).port;
  const messages = started("paced-publishes.ts", mqttPort, messagesPerSecond, 4, topics, seconds);
  const calls = started(
    "mixed-calls.ts",
    backlot.urlOf("http"),
    backlot.urlOf("account"),
    backlot.urlOf("events"),
    callsPerSecond,
    seconds,
  );
  let output = "";
  calls.child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  const codes = await Promise.all([calls.ended, messages.ended]);
  if (codes.some((code) => code !== 0)) throw new Error(`The load ended: ${calls.errorText()}${messages.errorText()}`);
  return JSON.parse(output) as MixedFigures;
}

function report(readings: readonly Reading[], load: MixedFigures, hasPage: boolean, otherLoad: string): string {
  const names = [...(readings[0]?.byProcess.keys() ?? [])];
  const [idle] = readings;
  const [half, , last] = readings.slice(-3);
  const [idleAll, lastAll, growth] = [idle?.all ?? 0, last?.all ?? 0, (last?.all ?? 0) - (half?.all ?? 0)];
  return [
    markdownTable(
      ["MiB, shared pages in parts", "all processes", ...names],
      readings.map(({ when, all, byProcess }) => [when, figure(all), ...names.map((name) => figure(byProcess.get(name)))]),
    ),
    `Idle ${figure(idleAll)} MiB (target: at most ${targets.idleMebibytes}, ${verdict(idleAll <= targets.idleMebibytes)}); at the end ${figure(lastAll)} MiB (target: at most ${targets.loadedMebibytes}, ${verdict(lastAll <= targets.loadedMebibytes)}); over the second half it grew by ${figure(growth)} MiB (flat is at most ${targets.growthMebibytes}, ${verdict(growth <= targets.growthMebibytes)}).`,
    `${count(load.sent)} calls, ${count(load.answered)} answered, ${count(load.failed)} failed, beside ${messagesPerSecond} MQTT messages a second on ${count(topics)} topics; ${hasPage ? "the dashboard's Overview was open in Chromium" : "no page was open"}. ${otherLoad}`,
  ].join("\n\n");
}
