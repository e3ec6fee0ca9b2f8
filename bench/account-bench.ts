import { startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import { installMissing, wrkPackage } from "./debian-packages.ts";
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
import { cpuSeconds, processTree } from "./process-tree.ts";

/** As in the HTTP benchmark: what came last is still being recorded for a moment. */
const settleMs = 1_000;
const targets = { timesVerify: 1.2, timesVerifyP99: 2 };
const sample = { username: "api@example.com", password: "backlot-demo" };

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly authorization?: string;
  pids(): readonly number[];
  /** All processes of the program, where there are more. */
  all?(): readonly number[];
}

interface Sample extends WrkResult {
  readonly microseconds: number;
  readonly allMicroseconds: number | undefined;
}

/** `GET /details` with a token and with Basic, beside Express without a check and Express that checks only the token. */
export async function accountBench(options: BenchOptions): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 2 : 5);
  const seconds = options.seconds ?? (options.quick ? 2 : 5);
  if (installMissing([wrkPackage]).length > 0) throw new Error("wrk is needed to generate the load.");

  const backlot = await startBacklot({ services: ["account"], port: await freePort(), core: serverCore });
  const service = backlot.servicePid();
  const { token } = (await (await fetch(`${backlot.url}/login`, { method: "POST", body: new URLSearchParams(sample) })).json()) as {
    token: string;
  };
  const basic = `Basic ${Buffer.from(`${sample.username}:${sample.password}`).toString("base64")}`;
  const details = await (await fetch(`${backlot.url}/details`, { headers: { Authorization: basic } })).text();
  const own = { url: `${backlot.url}/details`, pids: () => [service], all: () => processTree(backlot.pid) };
  const bare = await peer("Express 5, bare", details);
  const verify = await peer("Express 5, jsonwebtoken.verify", details, "verify");
  const contenders: readonly Contender[] = [
    bare.contender,
    verify.contender,
    { name: "Backlot, Bearer", authorization: `Bearer ${token}`, ...own },
    { name: "Backlot, Basic", authorization: basic, ...own },
  ];
  for (const contender of contenders) await requireSame(contender, details);
  const otherLoad = watchOtherLoad();
  for (const { url, authorization } of contenders) {
    await runWrk({ url, method: "GET", seconds: options.quick ? 1 : 3, ...(authorization !== undefined && { authorization }) });
  }
  const samples = new Map(contenders.map((contender) => [contender, [] as Sample[]]));
  for (let round = 0; round < rounds; round++) {
    for (const contender of inOrderOfRound(contenders, round)) samples.get(contender)?.push(await measure(contender, seconds));
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  for (const server of [backlot, bare.server, verify.server]) await server.stop();

  return [
    `**GET /details**\n\n${table(samples)}`,
    targetsLine(samples),
    `${times(rounds, "round")} of ${seconds} s, ${wrkConnections} connections, medians; in brackets the lowest and the highest. ${otherLoad()}`,
  ].join("\n\n");
}

async function peer(
  name: string,
  details: string,
  ...args: readonly string[]
): Promise<{ readonly server: StartedProcess; readonly contender: Contender }> {
  const port = await freePort();
  const server = startProcess({
    command: process.execPath,
    args: [`${import.meta.dirname}/peers/account-express.ts`, String(port), ...args],
    core: serverCore,
    env: { NODE_ENV: "production", BENCH_DETAILS_BODY: details },
  });
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}/details`;
  await waitForHttp(args.length > 0 ? `${origin}/token` : url, server);
  if (args.length === 0) return { server, contender: { name, url, pids: () => [server.pid] } };
  const { token } = (await (await fetch(`${origin}/token`)).json()) as { token: string };
  return { server, contender: { name, url, authorization: `Bearer ${token}`, pids: () => [server.pid] } };
}

/** Whoever refused would be fast. */
async function requireSame({ name, url, authorization }: Contender, details: string): Promise<void> {
  const response = await fetch(url, authorization === undefined ? {} : { headers: { Authorization: authorization } });
  const body = await response.text();
  if (response.status !== 200 || body.length !== details.length) throw new Error(`${name} answered ${response.status}: ${body}`);
}

async function measure({ url, authorization, pids, all }: Contender, seconds: number): Promise<Sample> {
  const before = cpuSeconds(pids());
  const allBefore = all && cpuSeconds(all());
  const result = await runWrk({ url, method: "GET", seconds, ...(authorization !== undefined && { authorization }) });
  await sleep(settleMs);
  const each = (spent: number) => (spent * 1e6) / result.requests;
  const microseconds = each(cpuSeconds(pids()) - before);
  return { ...result, microseconds, allMicroseconds: all && allBefore !== undefined ? each(cpuSeconds(all()) - allBefore) : undefined };
}

type Samples = ReadonlyMap<Contender, readonly Sample[]>;

const microsecondsOf = (samples: Samples, name: string): number =>
  median([...samples].find(([contender]) => contender.name === name)?.[1].map((sample) => sample.microseconds) ?? []);

function table(samples: Samples): string {
  const bare = microsecondsOf(samples, "Express 5, bare");
  const rows = [...samples].map(([{ name }, of]) => {
    const spent = of.map((sample) => sample.microseconds);
    const middle = (pick: (sample: Sample) => number) => figure(median(of.map(pick)));
    const all = of.flatMap(({ allMicroseconds }) => (allMicroseconds === undefined ? [] : [allMicroseconds]));
    return [
      name,
      `${figure(median(spent))} (${figure(Math.min(...spent))}–${figure(Math.max(...spent))})`,
      count(Math.round(1e6 / median(spent))),
      (median(spent) / bare).toFixed(2),
      all.length > 0 ? figure(median(all)) : "",
      middle((sample) => sample.perSecond),
      middle((sample) => sample.p99Ms),
      count(of.reduce((sum, sample) => sum + sample.errors, 0)),
    ];
  });
  return markdownTable(
    ["server", "µs CPU per call", "calls per CPU second", "× bare Express", "µs, all processes", "calls/s on one core", "p99 ms", "errors"],
    rows,
  );
}

function targetsLine(samples: Samples): string {
  const verify = "Express 5, jsonwebtoken.verify";
  const p99 = (name: string) => median([...samples].find(([contender]) => contender.name === name)?.[1].map(({ p99Ms }) => p99Ms) ?? []);
  const sentence = (ratio: number, target: number) =>
    `${ratio.toFixed(2)} × Express with jsonwebtoken.verify (target: at most ${target}, ${verdict(ratio <= target)})`;
  const cpu = sentence(microsecondsOf(samples, "Backlot, Bearer") / microsecondsOf(samples, verify), targets.timesVerify);
  return `A Bearer call takes the service ${cpu}; its p99 is ${sentence(p99("Backlot, Bearer") / p99(verify), targets.timesVerifyP99)}.`;
}
