import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Resident memory in bytes of each running process, by pid. */
export async function residentBytes(pids: readonly number[], platform: NodeJS.Platform = process.platform): Promise<Map<number, number>> {
  const result = new Map<number, number>();
  if (platform === "linux") {
    for (const pid of pids) {
      // In kibibytes, where `statm` counts in pages, which are not 4 KiB everywhere (arm64: 16 or 64).
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
      const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
      if (kibibytes > 0) result.set(pid, kibibytes * 1_024);
    }
    return result;
  }
  if (platform === "win32") {
    // tasklist takes a second of CPU: only our own process is measured.
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
