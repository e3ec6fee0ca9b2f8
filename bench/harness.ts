/** What every benchmark is made of: pinned processes that are always ended, medians, alternating order. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsEver, machineCpuSeconds, processTree } from "./process-tree.ts";

export { sleep };

/** Server and load generator never share a core where there are two. */
export const serverCore = 0;
export const loadCore = 1;

export const hasProc = (): boolean => existsSync("/proc/self/smaps_rollup");

/** Full path of a program on the PATH. */
export const findProgram = (name: string): string | undefined =>
  (process.env.PATH ?? "")
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find((file) => path.isAbsolute(file) && existsSync(file));

const pinning = os.availableParallelism() > 1 && findProgram("taskset") !== undefined;

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Undefined leaves the core to the system. */
  readonly core?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Where stderr goes: a file's descriptor; by default it is kept for error messages. */
  readonly stderr?: number;
  readonly stdin?: "pipe";
  /** Of its own; removed when it has ended. */
  readonly folder?: string;
}

export interface StartedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** What it wrote to stderr, shortened. */
  errorText(): string;
  /** Resolves with the exit code once it has ended. */
  readonly ended: Promise<number | null>;
  /** SIGTERM, and after a grace SIGKILL for all that is left below it. */
  stop(): Promise<void>;
}

/** Each with its folder. */
const started = new Map<number, string | undefined>();

export function startProcess(options: ProcessOptions): StartedProcess {
  const { command, args, core } = options;
  const pinned = core !== undefined && pinning;
  const child = spawn(pinned ? "taskset" : command, pinned ? ["-c", String(core), command, ...args] : [...args], {
    env: { ...process.env, ...options.env },
    stdio: [options.stdin ?? "ignore", "pipe", options.stderr ?? "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`Cannot run ${command}.`);
  started.set(pid, options.folder);
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = (errors + chunk).slice(-4_000);
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve)).finally(() => {
    started.delete(pid);
    removeFolder(options.folder);
  });
  return {
    pid,
    child,
    errorText: () => errors,
    ended,
    async stop() {
      const pids = processTree(pid);
      child.kill("SIGTERM");
      await Promise.race([ended, sleep(5_000)]);
      for (const one of pids) if (one !== pid || child.exitCode === null) kill(one);
      await ended;
    },
  };
}

/** For the last moment of this process. */
export function releaseAll(): void {
  for (const [root, folder] of started) {
    for (const pid of processTree(root)) kill(pid);
    removeFolder(folder);
  }
}

function removeFolder(folder: string | undefined) {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

function kill(pid: number) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Runs to the end and gives its stdout; an exit code other than 0 throws. */
export async function runToEnd(options: ProcessOptions): Promise<string> {
  const running = startProcess(options);
  let output = "";
  running.child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  const code = await running.ended;
  if (code !== 0) throw new Error(`${options.command} ended with code ${code}: ${running.errorText()}${output}`);
  return output;
}

/** Waits until a GET is answered at all; throws when the server ends first or never answers. */
export async function waitForHttp(url: string, server: StartedProcess): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    if (server.child.exitCode !== null) throw new Error(`The server of ${url} ended: ${server.errorText()}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer) {
      await answer.arrayBuffer();
      return;
    }
    await sleep(100);
  }
  throw new Error(`${url} was not answered in 30 s. ${server.errorText()}`);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Reversed every other round, so that no server always runs after the same one. */
export const inOrderOfRound = <Item>(items: readonly Item[], round: number): readonly Item[] =>
  round % 2 === 0 ? items : items.toReversed();

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const times = (number: number, one: string): string => `${number} ${one}${number === 1 ? "" : "s"}`;

export const progress = (text: string): void => void process.stderr.write(`${text}\n`);

/** How much of the machine other programs used meanwhile: above a few percent the results are unreliable. */
export function watchOtherLoad(): () => string {
  const read = () => ({ at: performance.now(), machine: machineCpuSeconds(), ours: cpuSecondsEver(processTree(process.pid)) });
  const before = read();
  return () => {
    const after = read();
    const others = after.machine - before.machine - (after.ours - before.ours);
    const share = others / ((after.at - before.at) / 1_000) / os.availableParallelism();
    return `Other programs used ${Math.max(0, share * 100).toFixed(0)} % of the machine meanwhile.`;
  };
}

/** What the figures were measured on. */
export function machineLine(): string {
  const cpus = os.cpus();
  const model = cpus[0]?.model.trim() || os.arch();
  const pinned = pinning ? "" : " Nothing was pinned to a core: that needs two cores and taskset.";
  return `Measured with Node ${process.versions.node} on ${cpus.length} × ${model}, Linux ${os.release().split(".", 2).join(".")}.${pinned}`;
}
