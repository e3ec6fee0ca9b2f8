/**
 * Loaded into the attacked program by `--import`, with `?folder=`: writes the processor time of each long turn of the event loop to a file that has the name
 * of its process. On a shared machine others wait for the turn, and besides for programs that have nothing to do with it.
 */
import { appendFileSync } from "node:fs";
import path from "node:path";

const tickMs = 5;
const leastMs = 10;
const file = path.join(new URL(import.meta.url).searchParams.get("folder") ?? ".", String(process.pid));

let last = process.threadCpuUsage();
setInterval(() => {
  const now = process.threadCpuUsage();
  const usedMs = (now.user + now.system - last.user - last.system) / 1_000;
  last = now;
  if (usedMs >= leastMs) appendFileSync(file, `${Date.now()} ${Math.round(usedMs)}\n`);
}, tickMs).unref();
