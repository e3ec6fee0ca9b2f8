import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { hasPostgres, startPostgres } from "../test/support/real-servers.ts";
import type { BenchOptions } from "./bench-options.ts";
import { installMissing, wrkPackage } from "./debian-packages.ts";
import {
  freePort,
  inOrderOfRound,
  loadCore,
  median,
  progress,
  runToEnd,
  type StartedProcess,
  serverCore,
  sleep,
  startProcess,
  times,
  waitForHttp,
  watchOtherLoad,
} from "./harness.ts";
import { parseWrk, wrkConnections } from "./load/wrk.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { cpuSeconds, processTree } from "./process-tree.ts";

/** CPU of a POST with Node 24 and FULL; growth of totals from one size to ten times as many rows; a page at 90 % offset. */
const targets = { postMicroseconds: 130, timesExpressP99: 2, growth: 1.5, deepPageMs: 10 };

export async function eventsBench(options: BenchOptions): Promise<string> {
  if (installMissing([wrkPackage]).length > 0) throw new Error("Without wrk there is nothing to load the servers with.");
  const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-bench-events-"));
  try {
    return [await ingest(options, folder), await reads(options, folder)].join("\n\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly server: StartedProcess;
  readonly pids: () => readonly number[];
}

async function startPeer(name: string, file: string, database: string, otherPid?: number): Promise<Contender> {
  const port = await freePort();
  const server = startProcess({
    command: process.execPath,
    args: [path.join(import.meta.dirname, "peers", file), String(port), database],
    core: serverCore,
    env: { NODE_ENV: "production" },
  });
  const url = `http://127.0.0.1:${port}`;
  await waitForHttp(`${url}/stats`, server);
  return { name, url, server, pids: () => [server.pid, ...(otherPid === undefined ? [] : processTree(otherPid))] };
}

async function ingest(options: BenchOptions, folder: string): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 5);
  const seconds = options.seconds ?? (options.quick ? 2 : 4);
  const postgres = hasPostgres() ? await startPostgres() : undefined;
  const backlot = "Backlot, SQLite, group commit, FULL";
  const express = "Express, SQLite, a FULL transaction each";
  const contenders = [
    await startPeer(backlot, "events-service.ts", path.join(folder, "group.db")),
    await startPeer(express, "events-sqlite.ts", path.join(folder, "single.db")),
    ...(postgres
      ? [
          await startPeer("Backlot, PostgreSQL, group commit", "events-service.ts", postgres.url, postgres.pid),
          await startPeer("Express, PostgreSQL, an INSERT each", "events-postgres.ts", postgres.url, postgres.pid),
        ]
      : []),
  ];
  const otherLoad = watchOtherLoad();
  for (const { url } of contenders) await postFor(url, options.quick ? 1 : 2);
  const samples = new Map(
    contenders.map(({ name }) => [name, [] as { microseconds: number; perSecond: number; p50Ms: number; p99Ms: number; errors: number }[]]),
  );
  for (let round = 0; round < rounds; round++) {
    for (const { name, url, pids } of inOrderOfRound(contenders, round)) {
      const before = cpuSeconds(pids());
      const result = await postFor(url, seconds);
      await sleep(500);
      samples.get(name)?.push({ ...result, microseconds: ((cpuSeconds(pids()) - before) * 1e6) / result.requests });
    }
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  for (const { server } of contenders) await server.stop();
  await postgres?.stop();
  const own = median(samples.get(backlot)!.map(({ microseconds }) => microseconds));
  const p99 = (name: string) => median(samples.get(name)!.map(({ p99Ms }) => p99Ms));
  const timesP99 = p99(backlot) / p99(express);
  const rows = [...samples].map(([name, of]) => {
    const middle = (pick: (sample: (typeof of)[number]) => number) => median(of.map(pick));
    const microseconds = middle((sample) => sample.microseconds);
    return [
      name,
      figure(microseconds),
      (microseconds / own).toFixed(2),
      figure(middle((sample) => sample.perSecond)),
      figure(middle((sample) => sample.p50Ms)),
      figure(middle((sample) => sample.p99Ms)),
      count(of.reduce((sum, { errors }) => sum + errors, 0)),
    ];
  });
  return [
    `**POST /events**, each answer after its event is durable\n\n${markdownTable(["server", "µs CPU per POST", "× Backlot", "events/s on one core", "p50 ms", "p99 ms", "errors"], rows)}`,
    `A durable POST takes ${figure(own)} µs of CPU (target: at most ${targets.postMicroseconds}, ${verdict(own <= targets.postMicroseconds)}); its p99 is ${timesP99.toFixed(2)} × that of Express with a transaction each (target: at most ${targets.timesExpressP99}, ${verdict(timesP99 <= targets.timesExpressP99)}).`,
    `${times(rounds, "round")} of ${seconds} s, ${wrkConnections} connections, medians; PostgreSQL's processes are counted with their client's. ${otherLoad()}`,
  ].join("\n\n");
}

async function postFor(url: string, seconds: number) {
  const script = path.join(import.meta.dirname, "load/post-event.lua");
  const args = ["-t1", "-c", String(wrkConnections), "-d", `${seconds}s`, "--timeout", "10s", "--latency", "-s", script, `${url}/events`];
  return parseWrk(await runToEnd({ command: "wrk", args, core: loadCore }));
}

const busyDevice = "0b6f3c1e-5d0a-4a53-9a0e-000000000000";

async function reads(options: BenchOptions, folder: string): Promise<string> {
  const sizes = options.quick ? [10_000, 100_000] : [100_000, 1_000_000, 10_000_000];
  const repeats = options.quick ? 5 : 21;
  const measured = new Map<string, number[]>();
  for (const size of sizes) {
    const file = path.join(folder, `read-${size}.db`);
    progress(`Making ${count(size)} events ...`);
    await runToEnd({ command: process.execPath, args: [path.join(import.meta.dirname, "load/fill-events.ts"), file, String(size)] });
    const { url, server } = await startPeer("Backlot", "events-service.ts", file);
    const total = async (query: string) => ((await (await fetch(`${url}/events?limit=0${query}`)).json()) as { total: number }).total;
    const [rejected, ofDevice] = [await total("&outcome=rejected"), await total(`&device_id=${busyDevice}`)];
    const cases = {
      "/stats": "/stats",
      "total only (limit=0)": "/events?limit=0",
      "first page": "/events?limit=100",
      "page at 90 % offset": `/events?limit=100&offset=${Math.floor(size * 0.9)}`,
      "page at 90 % offset, one outcome": `/events?limit=100&outcome=rejected&offset=${Math.floor(rejected * 0.9)}`,
      "page at 90 % offset, busiest device": `/events?limit=100&device_id=${busyDevice}&offset=${Math.floor(ofDevice * 0.9)}`,
      "the same place by cursor": `/events?limit=100&after=${Math.floor(size * 0.1)}`,
    };
    for (const [name, target] of Object.entries(cases)) {
      const took: number[] = [];
      for (let repeat = 0; repeat < repeats; repeat++) {
        const startedAt = performance.now();
        await (await fetch(url + target)).arrayBuffer();
        took.push(performance.now() - startedAt);
      }
      measured.set(name, [...(measured.get(name) ?? []), median(took)]);
    }
    await server.stop();
    rmSync(file, { force: true });
  }
  const growth = (values: readonly number[]) => values.at(-1)! / values.at(-2)!;
  const rows = [...measured].map(([name, values]) => [name, ...values.map(figure), growth(values).toFixed(2)]);
  const flat = Math.max(growth(measured.get("/stats")!), growth(measured.get("total only (limit=0)")!));
  const deep = measured.get("page at 90 % offset")!.at(-1)!;
  return [
    `**Reading**, ms from request to whole answer, medians of ${repeats}\n\n${markdownTable(["answer", ...sizes.map((size) => `${count(size)} rows`), "growth of the last step"], rows)}`,
    `/stats and totals grow ${flat.toFixed(2)} × in the last step (target: at most ${targets.growth}, ${verdict(flat <= targets.growth)}); the page at 90 % offset takes ${figure(deep)} ms (target: under ${targets.deepPageMs}, ${verdict(deep < targets.deepPageMs)}).`,
  ].join("\n\n");
}
