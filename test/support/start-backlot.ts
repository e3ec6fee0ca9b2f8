import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { Endpoint } from "../../contract/service.ts";
import { createEventLog, type EventLog } from "./event-log.ts";
import { type OnEnd, temporaryDir } from "./temporary-dir.ts";

export const projectRoot = path.resolve(import.meta.dirname, "../..");
/** The built programs: they start in a third of the time that their sources need. */
export const builtServers = path.join(projectRoot, "dist/servers");

/** A line that `--json` prints. */
export type JsonLine =
  | { readonly type: "ready"; readonly dashboard: string; readonly failed?: readonly string[] }
  | { readonly type: "recorded"; readonly service: string; readonly file: string; readonly items: number; readonly leftOut?: number }
  | {
      readonly type: "failed";
      readonly services?: readonly string[];
      readonly failure: { readonly code: string; readonly message: string; readonly hint: string };
    }
  | {
      readonly type: "status";
      readonly service: string;
      readonly state: string;
      readonly endpoints?: readonly Endpoint[];
      readonly failure?: { readonly code: string; readonly message: string; readonly hint: string };
    };

export interface BacklotRun {
  readonly child: ChildProcess;
  readonly lines: EventLog<JsonLine>;
  readonly stderr: () => string;
  readonly stdout: () => string;
  /** Settles with code or signal when it has ended and its output is read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  ready(): Promise<{ readonly dashboard: string; readonly failed?: readonly string[] }>;
  state(service: string, state: string): Promise<Extract<JsonLine, { type: "status" }>>;
  kill(signal: NodeJS.Signals): void;
}

export interface StartOptions {
  /** Beside the inherited ones, of which all that a service would read are left out. */
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  /** Files that its processes may open. */
  readonly openFiles?: number;
  /** Module that is run; by default the built program. */
  readonly entry?: string;
  /** When it ends; by default after the test. */
  readonly onEnd?: OnEnd;
}

/** `headlessHttp` and what the test adds. */
export const headlessHttp = ["--headless", "--json", "--dashboard-port", "0", "--only", "http", "--http-port", "0"];

/** Runs Backlot as a child, with a data folder of its own; ended after the test, or when `onEnd` says so, whatever happens. */
export function startBacklot(args: readonly string[] = headlessHttp, options: StartOptions = {}): BacklotRun {
  const entry = options.entry ?? path.join(builtServers, "backlot.cjs");
  const onEnd = options.onEnd ?? onTestFinished;
  const dataDir = options.dataDir ?? temporaryDir(onEnd);
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => ["PATH", "HOME", "TMPDIR", "TEMP", "SystemRoot", "NODE_COMPILE_CACHE"].includes(name)),
  );
  const command = [process.execPath, entry, "--data-dir", dataDir, ...args] as const;
  const within = options.openFiles === undefined ? [] : ["sh", "-c", `ulimit -n ${options.openFiles} && exec "$0" "$@"`];
  const [program, ...parameters] = [...within, ...command] as [string, ...string[]];
  const child = spawn(program, parameters, {
    cwd: projectRoot,
    env: { ...inherited, NODE_NO_WARNINGS: "1", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines = createEventLog<JsonLine>();
  let stdout = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    stdout += `${line}\n`;
    if (args.includes("--json")) lines.add(JSON.parse(line) as JsonLine);
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code: code as number | null, signal: signal as string | null }));
  onEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    const hardEnd = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(hardEnd);
  });
  return {
    child,
    lines,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    async ready() {
      const line = await Promise.race([
        lines.until(({ type }) => type === "ready"),
        ended.then(({ code }) => Promise.reject(new Error(`ended with ${code} before it was ready: ${stderr}`))),
      ]);
      return line as Extract<JsonLine, { type: "ready" }>;
    },
    state: async (service, state) =>
      (await lines.until((line) => line.type === "status" && line.service === service && line.state === state)) as Extract<
        JsonLine,
        { type: "status" }
      >,
    kill: (signal) => void child.kill(signal),
  };
}
