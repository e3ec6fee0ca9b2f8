import { once } from "node:events";
import { createInterface } from "node:readline";
import { startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import {
  freePort,
  inOrderOfRound,
  loadCore,
  median,
  progress,
  type StartedProcess,
  serverCore,
  sleep,
  startProcess,
  times,
  waitForHttp,
  watchOtherLoad,
} from "./harness.ts";
import { count, figure, markdownTable } from "./markdown-table.ts";
import { cpuSeconds, memoryOf, processTree } from "./process-tree.ts";

const clients = 1_000;
const eventsPerSecond = 10;
const settleMs = 2_000;

/** What the clients saw in one period. */
export interface SsePeriod {
  readonly open: number;
  readonly events: number;
  readonly seconds: number;
  /** From the server's timestamp to the client's reading of it. */
  readonly p50AgeMs: number;
  readonly p99AgeMs: number;
}

interface Part {
  readonly name: string;
  pids(): readonly number[];
}

interface Started {
  readonly server: StartedProcess;
  readonly port: number;
  readonly parts: readonly Part[];
}

interface Sample {
  readonly period: SsePeriod;
  readonly corePercent: number;
  readonly microsecondsPerEvent: number;
  readonly mebibytes: number;
  readonly kibibytesPerClient: number;
}

/** Started anew for each round, since memory is measured as well. */
const contenders: readonly { readonly target: string; start(): Promise<Started> }[] = [
  { target: "/api/stream", start: () => peer("node:http, one ticker for all", "sse-node-http.ts") },
  { target: "/api/stream", start: () => peer("Express 5, a timer per client", "sse-express.ts") },
  { target: "/api/stream?count=0&duration=100ms", start: backlot },
];

export async function sseBench(options: BenchOptions): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 5);
  const seconds = options.seconds ?? (options.quick ? 3 : 10);
  const samples = new Map<string, Sample[]>();
  const otherLoad = watchOtherLoad();
  for (let round = 0; round < rounds; round++) {
    for (const contender of inOrderOfRound(contenders, round)) {
      const started = await contender.start();
      const measured = await measure(started, contender.target, seconds);
      for (const [name, sample] of measured) samples.set(name, [...(samples.get(name) ?? []), sample]);
      await started.server.stop();
    }
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  // The first round began in the order of `contenders`, and a Map keeps it.
  const rows = [...samples].map(([name, all]) => {
    const middle = (pick: (sample: Sample) => number) => figure(median(all.map(pick)));
    return [
      name,
      count(Math.min(...all.map(({ period }) => period.open))),
      middle(({ period }) => period.events / period.seconds),
      middle(({ corePercent }) => corePercent),
      middle(({ microsecondsPerEvent }) => microsecondsPerEvent),
      middle(({ mebibytes }) => mebibytes),
      middle(({ kibibytesPerClient }) => kibibytesPerClient),
      middle(({ period }) => period.p50AgeMs),
      middle(({ period }) => period.p99AgeMs),
    ];
  });
  const columns = [
    ...["server", "clients", "events/s", "% of a core", "µs CPU per event"],
    ...["MiB", "KiB per client", "delay p50 ms", "delay p99 ms"],
  ];
  return [
    markdownTable(columns, rows),
    `${times(rounds, "round")} of ${seconds} s, ${count(clients)} clients, ${eventsPerSecond} events a second each, medians. ${otherLoad()}`,
  ].join("\n\n");
}

async function peer(name: string, file: string): Promise<Started> {
  const port = await freePort();
  const server = startProcess({
    command: process.execPath,
    args: [`${import.meta.dirname}/peers/${file}`, String(port)],
    core: serverCore,
    env: { NODE_ENV: "production" },
  });
  await waitForHttp(`http://127.0.0.1:${port}/`, server);
  return { server, port, parts: [{ name, pids: () => [server.pid] }] };
}

async function backlot(): Promise<Started> {
  const server = await startBacklot({ services: ["http"], port: await freePort(), core: serverCore });
  const service = server.servicePid();
  const parts = [
    { name: "Backlot, HTTP service", pids: () => [service] },
    { name: "Backlot, all processes", pids: () => processTree(server.pid) },
  ];
  return { server, port: Number(new URL(server.url).port), parts };
}

async function measure({ parts, port }: Started, target: string, seconds: number): Promise<readonly (readonly [string, Sample])[]> {
  const idle = parts.map((part) => memoryOf(part.pids()).proportionalMebibytes);
  const load = startProcess({
    command: process.execPath,
    args: [`${import.meta.dirname}/load/sse-clients.ts`, String(port), target, String(clients)],
    core: loadCore,
    stdin: "pipe",
  });
  const failed = load.ended.then((code) => {
    throw new Error(`The clients ended with code ${code}: ${load.errorText()}`);
  });
  // Stopping the clients at the end is no failure.
  failed.catch(() => {});
  const lines = createInterface({ input: load.child.stdout! });
  await Promise.race([once(lines, "line"), failed]);
  const endPeriod = async () => {
    load.child.stdin?.write("\n");
    const [line] = (await Promise.race([once(lines, "line"), failed])) as [string];
    return JSON.parse(line) as SsePeriod;
  };
  await sleep(settleMs);
  await endPeriod();
  const before = parts.map((part) => cpuSeconds(part.pids()));
  await sleep(seconds * 1_000);
  const period = await endPeriod();
  const samples = parts.map((part, index) => {
    const cpu = cpuSeconds(part.pids()) - before[index]!;
    const mebibytes = memoryOf(part.pids()).proportionalMebibytes;
    const sample: Sample = {
      period,
      corePercent: (cpu / period.seconds) * 100,
      microsecondsPerEvent: (cpu / period.events) * 1e6,
      mebibytes,
      kibibytesPerClient: ((mebibytes - idle[index]!) * 1_024) / clients,
    };
    return [part.name, sample] as const;
  });
  await load.stop();
  return samples;
}
