/**
 * One client at a time does its worst to each service of the built program, while another one asks on a fixed schedule. Prints a table, which
 * bench/README.md has too.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { machineLine } from "../../bench/harness.ts";
import { figure, markdownTable } from "../../bench/markdown-table.ts";
import { commandLineOf, processTree } from "../../bench/process-tree.ts";
import { writeResults } from "../../bench/results-file.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { toolOptions } from "../support/tool-options.ts";
import { dashboardLabel } from "./dashboard-control.ts";
import type { Addresses, Bystander, HostileService } from "./hostile-service.ts";
import { hostileTargets } from "./hostile-services.ts";

const askEveryMs = 20;
const holdMs = 1_000;
/** Before the memory after an attack is read. */
const restMs = 1_500;
const targetP99Ms = 100;

interface Measured {
  readonly name: string;
  readonly times: number;
  readonly tookMs: readonly number[];
  readonly failed: number;
  /** Of the event loop of the service, in its own processor time. */
  readonly longestTurnMs: number;
  readonly mebibytes: { readonly before: number; readonly peak: number; readonly after: number };
}

const usage = `Usage: npm run hostile -- [options]

  --minutes N    of all attacks together (10)
  --seed N       of what is random (1)
  --only ID,…    the targets (${Object.keys(hostileTargets).join(",")})
  --match TEXT   the attacks whose names have it
  --write        put the table into bench/README.md
`;

const root = path.resolve(import.meta.dirname, "../..");

/** The built program with one service, on any ports. Of the target "dashboard" it is the program itself that is measured. */
async function startProgram(target: string, { flags, beside = [] }: HostileService) {
  const service = target === "dashboard" ? "http" : target;
  const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-hostile-"));
  const turns = mkdtempSync(path.join(os.tmpdir(), "backlot-turns-"));
  const meter = pathToFileURL(path.join(import.meta.dirname, "turn-meter.ts"));
  meter.searchParams.set("folder", turns);
  const flagsBeside = beside.flatMap((id) => [`--${id}-port`, "0", ...(hostileTargets[id] as HostileService).flags]);
  const child = spawn(
    process.execPath,
    [
      // As `npm start` runs it.
      ...["--max-semi-space-size=4", "--heap-growing-percent=50", "--expose-gc", "--import", meter.href],
      ...[path.join(root, "dist/servers/backlot.cjs"), "--headless", "--json", "--only", [service, ...beside].join(",")],
      ...[`--${service}-port`, "0", "--dashboard-port", "0", "--data-dir", folder, ...flags, ...flagsBeside],
    ],
    { stdio: ["ignore", "pipe", "ignore"], env: { PATH: process.env.PATH ?? "" } },
  );
  process.once("exit", () => child.kill("SIGTERM"));
  const urls: (readonly [label: string, url: string])[] = [];
  await new Promise<void>((resolve, reject) => {
    let why = "";
    child.once("exit", (code) => reject(new Error(`Backlot ended with ${code}. ${why}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const {
        type,
        service: of,
        state,
        endpoints,
        dashboard,
        failure,
      } = JSON.parse(line) as {
        type: string;
        service?: string;
        state?: string;
        endpoints?: { label: string; url: string }[];
        dashboard?: string;
        failure?: { message: string };
      };
      if (failure) why = failure.message;
      if (state === "running" && of === service) urls.push(...(endpoints ?? []).map(({ label, url }) => [label, url] as const));
      if (type === "ready" && dashboard) {
        urls.push([dashboardLabel, dashboard]);
        resolve();
      }
    });
  });
  const pid =
    target === "dashboard"
      ? (child.pid as number)
      : processTree(child.pid as number).find((one) => commandLineOf(one).endsWith(`service-process.cjs ${service}`));
  if (pid === undefined) throw new Error(`The ${service} service did not start`);
  const addresses: Addresses = {
    port: Number(new URL(urls[0]?.[1] ?? "").port),
    urlOf: (label) => urls.find(([one]) => one === label)?.[1] ?? "",
  };
  return {
    addresses,
    urls,
    /** Undefined if its process ended. */
    residentMebibytes: () => residentMebibytes(pid),
    longestTurnMs: (since: number) => longestTurnMs(path.join(turns, String(pid)), since),
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      for (const one of [folder, turns]) rmSync(one, { recursive: true, force: true });
    },
  };
}

/** From /proc/PID/status, which is read faster than what bench/process-tree.ts reads. */
function residentMebibytes(pid: number): number | undefined {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
  } catch {
    return undefined;
  }
}

/** Of those that `turn-meter.ts` has written; a shorter one is 0. */
function longestTurnMs(file: string, since: number): number {
  if (!existsSync(file)) return 0;
  const turns = readFileSync(file, "utf8").trimEnd().split("\n");
  return turns.map((line) => line.split(" ").map(Number)).reduce((most, [at = 0, ms = 0]) => (at >= since ? Math.max(most, ms) : most), 0);
}

type Program = Awaited<ReturnType<typeof startProgram>>;

async function measure(program: Program, bystander: Bystander, name: string, run: () => Promise<number>): Promise<Measured> {
  const tookMs: number[] = [];
  let failed = 0;
  const open = new Set<Promise<void>>();
  const mebibytes = () => {
    const now = program.residentMebibytes();
    if (now === undefined) throw new Error(`The process ended during "${name}"`);
    return now;
  };
  const since = Date.now();
  const before = mebibytes();
  let peak = before;
  function ask(dueAt: number): void {
    const asking = bystander
      .ask()
      .catch(() => {
        failed += 1;
      })
      .then(() => {
        tookMs.push(performance.now() - dueAt);
        open.delete(asking);
      });
    open.add(asking);
  }
  let over = false;
  // It asks on its schedule, whether it was answered or not: one long wait counts for all who would have asked meanwhile.
  async function keepAsking(): Promise<void> {
    for (let dueAt = performance.now(); !over; dueAt += askEveryMs) {
      await delay(Math.max(0, dueAt - performance.now()));
      ask(dueAt);
    }
  }
  async function keepLooking(): Promise<void> {
    while (!over) {
      await delay(100);
      peak = Math.max(peak, mebibytes());
    }
  }
  const watching = Promise.all([keepAsking(), keepLooking()]);
  const times = await run();
  await delay(500);
  over = true;
  await watching;
  await Promise.all(open);
  await delay(restMs);
  return { name, times, tookMs, failed, longestTurnMs: program.longestTurnMs(since), mebibytes: { before, peak, after: mebibytes() } };
}

/** An attack that has begun goes on to its end. */
const mostSecondsOver = 120;

/** In a process of its own, so that the work of the attack does not delay the bystander. */
function attackFor(target: string, name: string, { urls }: Program, seconds: number, seed: number): Promise<number> {
  const child: ChildProcess = fork(import.meta.filename, ["attack", target, name, JSON.stringify(urls), String(seconds), String(seed)]);
  return new Promise((resolve, reject) => {
    let times = 0;
    child.on("message", (count) => {
      times = count as number;
    });
    // Otherwise a connection that an attack has left open would stop the run without a word.
    const late = setTimeout(() => child.kill("SIGKILL"), (seconds + mostSecondsOver) * 1_000);
    child.once("exit", (code, signal) => {
      clearTimeout(late);
      if (code === 0) resolve(times);
      else reject(new Error(`The attack "${name}" ${signal === null ? `ended with ${code}` : "did not end"}`));
    });
  });
}

async function runAttack([target = "", name = "", urls = "", seconds = "", seed = ""]: readonly string[]): Promise<void> {
  const attack = hostileTargets[target]?.attacks[name];
  if (!attack) throw new Error(`There is no attack "${name}" on ${target}`);
  const endpoints = JSON.parse(urls) as Program["urls"];
  const random = seededRandom(Number(seed));
  const addresses: Addresses = {
    port: Number(new URL(endpoints[0]?.[1] ?? "").port),
    urlOf: (label) => endpoints.find(([one]) => one === label)?.[1] ?? "",
  };
  const end = performance.now() + Number(seconds) * 1_000;
  let times = 0;
  for (; performance.now() < end; times++) await attack({ ...addresses, random, holdMs });
  process.send?.(times);
  process.disconnect?.();
}

async function main(): Promise<void> {
  const values = toolOptions(usage, {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: Object.keys(hostileTargets).join(",") },
    match: { type: "string", default: "" },
    write: { type: "boolean", default: false },
  });
  const asked = values.only.split(",").map((id) => {
    const target = hostileTargets[id];
    if (!target) throw new Error(`There is no list of attacks on "${id}"; there is one for ${Object.keys(hostileTargets).join(", ")}.`);
    return { id, target, names: Object.keys(target.attacks).filter((name) => name.includes(values.match)) };
  });
  // Each target also has a time without an attack.
  const runs = asked.reduce((sum, { names }) => sum + names.length + 1, 0);
  const seconds = Math.max(1, (Number(values.minutes) * 60) / runs - (restMs + 500) / 1_000);
  const tables: string[] = [];
  let missed = 0;
  for (const { id, target, names } of asked) {
    const program = await startProgram(id, target);
    const bystander = await target.openBystander(program.addresses);
    // The first answers compile.
    for (let count = 0; count < 50; count++) await bystander.ask();
    const rows: string[][] = [];
    for (const name of [undefined, ...names]) {
      const run = () => (name === undefined ? delay(seconds * 1_000, 0) : attackFor(id, name, program, seconds, Number(values.seed)));
      const { times, tookMs, failed, longestTurnMs, mebibytes } = await measure(program, bystander, name ?? "alone", run);
      const sorted = tookMs.toSorted((left, right) => left - right);
      const p99 = percentile(sorted, 0.99);
      if (failed > 0 || p99 > targetP99Ms) missed += 1;
      const { before, peak, after } = mebibytes;
      const figures = [times, percentile(sorted, 0.5), p99, sorted.at(-1), longestTurnMs, failed].map(figure);
      rows.push([name ?? "alone", ...figures, ...[before, peak, after].map((value) => String(Math.round(value)))]);
      process.stderr.write(`${id}: ${rows.at(-1)?.join(" | ")}\n`);
    }
    tables.push(`**${id}**\n\n${markdownTable(columns, rows)}`);
    await bystander.close();
    await program.stop();
  }
  const verdict = missed === 0 ? "every p99 was within" : `**${missed} of ${runs} missed**`;
  const summary = `Seed ${values.seed}, ${figure(seconds)} s each; ${verdict} ${targetP99Ms} ms, with every question answered.`;
  const results = `${tables.join("\n\n")}\n\n${summary} ${machineLine()}\n`;
  process.stdout.write(results);
  if (values.write) writeResults("hostile", results);
}

const columns = ["attack", "times", "p50, ms", "p99, ms", "max, ms", "longest turn, ms", "failed", "MiB before", "most", "after"];
const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

const [, , command, ...rest] = process.argv;
if (command === "attack") await runAttack(rest);
else await main();
