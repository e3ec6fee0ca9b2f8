import { type BacklotProgram, startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import { type ControlSocket, openControlSocket } from "./control-socket.ts";
import { gunicornPackage, httpbinPackage, installMissing, wrkPackage } from "./debian-packages.ts";
import {
  freePort,
  inOrderOfRound,
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
import { runWrk, type WrkResult, wrkConnections } from "./load/wrk.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { cpuSeconds, memoryOf, processTree } from "./process-tree.ts";

const methods = ["GET", "POST"] as const;
type Method = (typeof methods)[number];

/** Backlot goes on recording what came last for a moment; that belongs to the price of those requests. */
const settleMs = 1_000;
const targets = { timesExpress: { GET: 1.3, POST: 1.2 }, timesHttpbin: 0.2, timesExpressP99: 2 };

interface Contender {
  readonly name: string;
  readonly server: StartedProcess;
  readonly url: Readonly<Record<Method, string>>;
  /** The parts whose CPU is measured, each with the processes that make it up. */
  readonly parts: readonly { readonly name: string; pids(): readonly number[] }[];
}

interface Sample extends WrkResult {
  /** Microseconds of CPU per request, for each part of the contender. */
  readonly microseconds: readonly number[];
}

export async function httpBench(options: BenchOptions): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 2 : 7);
  const seconds = options.seconds ?? (options.quick ? 2 : 5);
  const missing = installMissing([wrkPackage, gunicornPackage, httpbinPackage]);
  if (missing.includes(wrkPackage)) throw new Error("wrk is needed to generate the load.");

  const backlot = await startBacklot({ services: ["http"], port: await freePort(), core: serverCore });
  const control = await openControlSocket(backlot.dashboardUrl);
  const statusBody = await (await fetch(`${backlot.url}/`)).text();
  const contenders = [
    await nodePeer("node:http, bare", ["node-http.ts"], statusBody),
    await nodePeer("Express 5, bare", ["express.ts"], statusBody),
    await nodePeer("Express 5, ETags off", ["express.ts", "no-etag"], statusBody),
    backlotContender(backlot),
    ...(missing.length === 0 ? [await httpbin()] : []),
  ];
  const otherLoad = watchOtherLoad();
  for (const contender of contenders) {
    for (const method of methods) await runWrk({ url: contender.url[method], method, seconds: options.quick ? 1 : 3 });
  }
  const recordedBefore = await recorded(control);
  const samples = new Map(contenders.map((contender) => [contender, { GET: [] as Sample[], POST: [] as Sample[] }]));
  for (let round = 0; round < rounds; round++) {
    for (const contender of inOrderOfRound(contenders, round)) {
      for (const method of methods) samples.get(contender)?.[method].push(await measure(contender, method, seconds));
    }
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  const recordedAfter = await recorded(control);
  const memory = memoryOf(processTree(backlot.pid));
  control.close();
  for (const { server } of contenders) await server.stop();

  const tables = methods.map((method) => {
    const what = method === "GET" ? "GET / (httpbin: GET /get)" : "POST /api/echo with 1 KiB of JSON (httpbin: POST /post)";
    return `**${what}**\n\n${table(method, samples)}`;
  });
  const rows = recordedAfter.total - recordedBefore.total;
  const lost = recordedAfter.dropped - recordedBefore.dropped;
  return [
    ...tables,
    targetsLine(samples),
    `${times(rounds, "round")} of ${seconds} s, ${wrkConnections} connections, medians; in brackets the lowest and the highest. ${otherLoad()}`,
    `Of ${count(rows)} requests to Backlot at full load, ${count(rows - lost)} were sent to the supervisor's store and ${count(lost)} were counted as left out. All its processes together: ${figure(memory.proportionalMebibytes)} MiB.`,
  ].join("\n\n");
}

async function recorded(control: ControlSocket) {
  return await control.call("traffic.read", { id: "http", limit: 1 });
}

async function nodePeer(name: string, [file, ...args]: readonly [string, ...string[]], statusBody: string): Promise<Contender> {
  const port = await freePort();
  const server = startProcess({
    command: process.execPath,
    args: [`${import.meta.dirname}/peers/${file}`, String(port), ...args],
    core: serverCore,
    env: { NODE_ENV: "production", BENCH_STATUS_BODY: statusBody },
  });
  const url = { GET: `http://127.0.0.1:${port}/`, POST: `http://127.0.0.1:${port}/api/echo` };
  await waitForHttp(url.GET, server);
  return { name, server, url, parts: [{ name, pids: () => [server.pid] }] };
}

async function httpbin(): Promise<Contender> {
  const port = await freePort();
  const name = "httpbin under gunicorn";
  const server = startProcess({
    command: "gunicorn",
    args: ["-w", "1", "-k", "gthread", "--threads", "4", "-b", `127.0.0.1:${port}`, "--log-level", "critical", "httpbin:app"],
    core: serverCore,
  });
  const url = { GET: `http://127.0.0.1:${port}/get`, POST: `http://127.0.0.1:${port}/post` };
  await waitForHttp(url.GET, server);
  return { name, server, url, parts: [{ name, pids: () => processTree(server.pid) }] };
}

function backlotContender(backlot: BacklotProgram): Contender {
  const service = backlot.servicePid();
  return {
    name: "Backlot",
    server: backlot,
    url: { GET: `${backlot.url}/`, POST: `${backlot.url}/api/echo` },
    parts: [
      { name: "Backlot, HTTP service", pids: () => [service] },
      { name: "Backlot, all processes", pids: () => processTree(backlot.pid) },
    ],
  };
}

async function measure(contender: Contender, method: Method, seconds: number): Promise<Sample> {
  const before = contender.parts.map((part) => cpuSeconds(part.pids()));
  const result = await runWrk({ url: contender.url[method], method, seconds });
  await sleep(settleMs);
  const microseconds = contender.parts.map((part, index) => ((cpuSeconds(part.pids()) - before[index]!) * 1e6) / result.requests);
  return { ...result, microseconds };
}

type Samples = ReadonlyMap<Contender, Readonly<Record<Method, readonly Sample[]>>>;

/** Microseconds of one part in each round. */
function microsecondsOf(samples: Samples, method: Method): ReadonlyMap<string, readonly number[]> {
  return new Map(
    [...samples].flatMap(([contender, of]) =>
      contender.parts.map((part, index) => [part.name, of[method].map((sample) => sample.microseconds[index]!)] as const),
    ),
  );
}

function table(method: Method, samples: Samples): string {
  const microseconds = microsecondsOf(samples, method);
  const express = median(microseconds.get("Express 5, bare")!);
  const rows = [...samples].flatMap(([contender, of]) => {
    const middle = (pick: (sample: Sample) => number) => figure(median(of[method].map(pick)));
    return contender.parts.map(({ name }, index) => {
      const values = microseconds.get(name)!;
      // Requests and times are the contender's, whichever part is looked at.
      const whole =
        index > 0
          ? ["", "", "", ""]
          : [
              middle((sample) => sample.perSecond),
              middle((sample) => sample.p50Ms),
              middle((sample) => sample.p99Ms),
              count(of[method].reduce((sum, sample) => sum + sample.errors, 0)),
            ];
      return [
        name,
        `${figure(median(values))} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`,
        (median(values) / express).toFixed(2),
        ...whole,
      ];
    });
  });
  return markdownTable(["server", "µs CPU per request", "× bare Express", "requests/s on one core", "p50 ms", "p99 ms", "errors"], rows);
}

function targetsLine(samples: Samples): string {
  const of = (method: Method, name: string) => median(microsecondsOf(samples, method).get(name) ?? []);
  const timesExpress = (method: Method) => of(method, "Backlot, HTTP service") / of(method, "Express 5, bare");
  const sentence = (ratio: number, target: number, what: string) =>
    `${ratio.toFixed(2)} × ${what} (target: at most ${target}, ${verdict(ratio <= target)})`;
  const get = [sentence(timesExpress("GET"), targets.timesExpress.GET, "bare Express")];
  if (microsecondsOf(samples, "GET").has("httpbin under gunicorn")) {
    get.push(sentence(of("GET", "Backlot, HTTP service") / of("GET", "httpbin under gunicorn"), targets.timesHttpbin, "httpbin"));
  }
  const p99 = (name: string) =>
    median([...samples].find(([contender]) => contender.name === name)?.[1].GET.map((sample) => sample.p99Ms) ?? []);
  return [
    `GET / with the recorder on takes the service ${get.join(" and ")},`,
    `POST ${sentence(timesExpress("POST"), targets.timesExpress.POST, "bare Express")}.`,
    `The p99 of GET / is ${sentence(p99("Backlot") / p99("Express 5, bare"), targets.timesExpressP99, "bare Express'")}.`,
  ].join(" ");
}
