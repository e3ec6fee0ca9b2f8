import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { Endpoint } from "../../contract/service.ts";
import { serviceNodeOptions } from "../../servers/supervisor/spawner.ts";
import { projectRoot } from "../support/start-backlot.ts";

export interface SpawnedBroker {
  readonly child: ChildProcess;
  readonly port: number;
  /** By label. */
  readonly urls: Readonly<Record<string, string>>;
  readonly logs: string[];
}

/** In a process of its own, which is gone after the test; `openFiles` is the system's limit for it. */
export async function spawnBroker(dataDir: string, config: Record<string, unknown>, openFiles?: number): Promise<SpawnedBroker> {
  const command = [
    process.execPath,
    ...serviceNodeOptions,
    path.join(projectRoot, "test/mqtt/run-broker.ts"),
    dataDir,
    JSON.stringify(config),
  ];
  const limited = openFiles === undefined ? command : ["sh", "-c", `ulimit -n ${openFiles} && exec "$@"`, "sh", ...command];
  const [program = "", ...args] = limited;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  // Listening before the wait: several lines may come at once.
  const logs: string[] = [];
  lines.on("line", (line) => logs.push(line));
  await once(lines, "line");
  const first = logs.shift() ?? "";
  const urls = Object.fromEntries((JSON.parse(first) as Endpoint[]).map(({ label, url }) => [label, url]));
  return { child, port: Number(new URL(urls.MQTT ?? "").port), urls, logs };
}
