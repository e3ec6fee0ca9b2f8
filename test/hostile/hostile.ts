/**
 * `npm run hostile -- [--minutes N] [--seed N] [--only http,mqtt]`: one client at a time does its worst to each service of the built
 * program, while another one asks on a fixed schedule. Prints a table; docs and figures are in bench/README.md.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { figure, markdownTable } from "../../bench/markdown-table.ts";
import { commandLineOf, memoryOf, processTree } from "../../bench/process-tree.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { Bystander } from "./hostile-service.ts";
import { hostileServices } from "./hostile-services.ts";

const askEveryMs = 20;
const holdMs = 1_000;
/** A client that was answered later counts as failed. */
const targetP99Ms = 100;

interface Measured {
  readonly name: string;
  readonly times: number;
  readonly tookMs: readonly number[];
  readonly failed: number;
  readonly mebibytes: { readonly before: number; readonly peak: number; readonly after: number };
}

const root = path.resolve(import.meta.dirname, "../..");

/** The built program with one service, on any ports. */
async function startProgram(service: string, flags: readonly string[]) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-hostile-"));
  const child = spawn(
    process.execPath,
    [
      ...[path.join(root, "dist/servers/backlot.cjs"), "--headless", "--json", "--only", service, `--${service}-port`, "0"],
      ...["--dashboard-port", "0", "--data-dir", folder, ...flags],
    ],
    { stdio: ["ignore", "pipe", "ignore"], env: { PATH: process.env.PATH ?? "" } },
  );
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`Backlot ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { state, endpoints } = JSON.parse(line) as { state?: string; endpoints?: { url: string }[] };
      if (state === "running") resolve(Number(new URL(endpoints?.[0]?.url ?? "").port));
    });
  });
  const pid = () => processTree(child.pid as number).find((one) => commandLineOf(one).endsWith(`service-process.cjs ${service}`));
  return {
    port,
    /** Undefined if its process ended. */
    pid,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Program = Awaited<ReturnType<typeof startProgram>>;

async function measure(
  program: Program,
  bystander: Bystander,
  name: string,
  seconds: number,
  run: () => Promise<number>,
): Promise<Measured> {
  const tookMs: number[] = [];
  let failed = 0;
  let open = 0;
  const pid = program.pid();
  const mebibytes = () => memoryOf([program.pid() ?? 0]).residentMebibytes;
  const before = mebibytes();
  let peak = before;
  const ask = async () => {
    // It is one client: it does not ask again before it was answered.
    if (open > 0) return;
    open += 1;
    const begunAt = performance.now();
    await bystander.ask().catch(() => {
      failed += 1;
    });
    tookMs.push(performance.now() - begunAt);
    open -= 1;
  };
  const asking = setInterval(() => void ask(), askEveryMs);
  const looking = setInterval(() => {
    peak = Math.max(peak, mebibytes());
  }, 250);
  const times = await run();
  clearInterval(asking);
  while (open > 0) await delay(askEveryMs);
  await delay(Math.min(2_000, seconds * 100));
  clearInterval(looking);
  if (program.pid() !== pid) throw new Error(`The service's process ended during "${name}"`);
  return { name, times, tookMs, failed, mebibytes: { before, peak, after: mebibytes() } };
}

/** In a process of its own, so that the work of the attack does not delay the bystander. */
function attackFor(service: string, name: string, port: number, seconds: number, seed: number): Promise<number> {
  const child: ChildProcess = fork(import.meta.filename, ["attack", service, name, String(port), String(seconds), String(seed)]);
  return new Promise((resolve, reject) => {
    let times = 0;
    child.on("message", (count) => {
      times = count as number;
    });
    child.once("exit", (code) => (code === 0 ? resolve(times) : reject(new Error(`The attack "${name}" ended with ${code}`))));
  });
}

async function runAttack([service = "", name = "", port = "", seconds = "", seed = ""]: readonly string[]): Promise<void> {
  const attack = hostileServices[service]?.attacks[name];
  if (!attack) throw new Error(`There is no attack "${name}" on ${service}`);
  const random = seededRandom(Number(seed));
  const end = performance.now() + Number(seconds) * 1_000;
  let times = 0;
  for (; performance.now() < end; times++) await attack({ port: Number(port), random, holdMs });
  process.send?.(times);
  process.disconnect?.();
}

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((left, right) => left - right)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      seed: { type: "string", default: "1" },
      only: { type: "string", default: Object.keys(hostileServices).join(",") },
    },
  });
  const asked = values.only.split(",").map((id) => {
    const service = hostileServices[id];
    if (!service) throw new Error(`There is no list of attacks on "${id}"; there is one for ${Object.keys(hostileServices).join(", ")}.`);
    return { id, service };
  });
  // Each service also has a time without an attack.
  const runs = asked.reduce((sum, { service }) => sum + Object.keys(service.attacks).length + 1, 0);
  const seconds = Math.max(1, (Number(values.minutes) * 60) / runs);
  const rows: string[][] = [];
  let missed = 0;
  for (const { id, service } of asked) {
    const program = await startProgram(id, service.flags);
    const bystander = await service.openBystander(program.port);
    // The first answers compile.
    for (let count = 0; count < 50; count++) await bystander.ask();
    const names = [undefined, ...Object.keys(service.attacks)];
    for (const name of names) {
      const run =
        name === undefined ? () => delay(seconds * 1_000, 0) : () => attackFor(id, name, program.port, seconds, Number(values.seed));
      const found = await measure(program, bystander, name ?? "alone", seconds, run);
      const p99 = percentile(found.tookMs, 0.99);
      if (found.failed > 0 || p99 > targetP99Ms) missed += 1;
      const { before, peak, after } = found.mebibytes;
      rows.push([
        `${id}: ${found.name}`,
        ...[found.times, percentile(found.tookMs, 0.5), p99, found.failed, before, peak, after].map((value) => figure(value)),
      ]);
      process.stderr.write(`${rows.at(-1)?.join(" | ")}\n`);
    }
    await bystander.close();
    await program.stop();
  }
  const columns = ["attack", "times", "p50, ms", "p99, ms", "failed", "MiB before", "most", "after"];
  process.stdout.write(`${markdownTable(columns, rows)}\n\nSeed ${values.seed}; ${figure(seconds)} s each. `);
  process.stdout.write(missed === 0 ? "All answers came in time.\n" : `${missed} of ${rows.length} missed ${targetP99Ms} ms.\n`);
}

const [, , command, ...rest] = process.argv;
if (command === "attack") await runAttack(rest);
else await main();
