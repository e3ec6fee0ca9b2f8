import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { createEventLog, type EventLog } from "../../support/event-log.ts";
import { onEnd } from "../../support/start-service.ts";

export const clientLibraries = ["werift", "node-datachannel"] as const;
export type ClientLibrary = (typeof clientLibraries)[number];

export interface ClientProcess<Report> {
  /** What it has printed. */
  readonly reports: EventLog<Report>;
  write(text: string): void;
  freeze(): void;
}

/**
 * A program of this folder in a process of its own, since both libraries leave timers or threads open. It prints lines of JSON, and is ended after the
 * test.
 */
export function startClient<Report>(
  program: "media-player" | "data-channel-peer",
  library: ClientLibrary,
  ...args: readonly string[]
): ClientProcess<Report> {
  const script = path.join(import.meta.dirname, `${program}.ts`);
  const child = spawn(process.execPath, [script, library, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const reports = createEventLog<Report>();
  createInterface(child.stdout).on("line", (line) => reports.add(JSON.parse(line) as Report));
  onEnd(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { reports, write: (text) => void child.stdin.write(text), freeze: () => void child.kill("SIGSTOP") };
}
