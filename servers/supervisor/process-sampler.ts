import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const pageBytes = 4_096;

/** Resident memory in bytes of each process that still lives, by pid. */
export async function residentBytes(pids: readonly number[], platform: NodeJS.Platform = process.platform): Promise<Map<number, number>> {
  const result = new Map<number, number>();
  if (platform === "linux") {
    for (const pid of pids) {
      const statm = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
      const pages = Number(statm.split(" ")[1]);
      if (pages > 0) result.set(pid, pages * pageBytes);
    }
    return result;
  }
  if (platform === "win32") {
    // tasklist takes a second of CPU: our own process has to do.
    result.set(process.pid, process.memoryUsage.rss());
    return result;
  }
  const { stdout } = await run("ps", ["-o", "pid=,rss=", "-p", pids.join(",")], { timeout: 2_000 }).catch(() => ({ stdout: "" }));
  for (const line of stdout.split("\n")) {
    const [pid, kibibytes] = line.trim().split(/\s+/).map(Number);
    if (pid && kibibytes) result.set(pid, kibibytes * 1_024);
  }
  return result;
}
