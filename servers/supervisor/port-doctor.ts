import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { promisify } from "node:util";

export interface PortHolder {
  readonly name: string;
  readonly pid: number;
}

const run = promisify(execFile);
const toolTimeoutMs = 3_000;

/** Which process listens on the TCP port; undefined where nobody does or the system does not tell. */
export async function portHolder(port: number, platform: NodeJS.Platform = process.platform): Promise<PortHolder | undefined> {
  try {
    switch (platform) {
      case "linux":
        return await linuxHolder(port);
      case "win32":
        return await windowsHolder(port);
      default:
        return await lsofHolder(port);
    }
  } catch {
    // Naming the holder is a courtesy: a system that refuses leaves the message shorter.
    return undefined;
  }
}

/** True when both loopback addresses (or all addresses) are free. */
export async function isPortFree(port: number, openToLan: boolean): Promise<boolean> {
  const hosts = openToLan ? ["0.0.0.0", "::"] : ["127.0.0.1", "::1"];
  for (const host of hosts) if (!(await canListen(port, host))) return false;
  return true;
}

/** The first free port above `port`, leaving out those in `taken`; undefined when the next 200 are all used. */
export async function nextFreePort(port: number, openToLan: boolean, taken: ReadonlySet<number> = new Set()): Promise<number | undefined> {
  for (let candidate = port + 1; candidate <= Math.min(port + 200, 65_535); candidate++) {
    if (!taken.has(candidate) && (await isPortFree(candidate, openToLan))) return candidate;
  }
  return undefined;
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE" && error.code !== "EACCES"));
    server.listen({ port, host, ipv6Only: host.includes(":"), exclusive: true }, () => server.close(() => resolve(true)));
  });
}

const listenState = "0A"; // linux/net/tcp_states.h: TCP_LISTEN

async function linuxHolder(port: number): Promise<PortHolder | undefined> {
  const inodes = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const text = await readFile(table, "utf8").catch(() => "");
    for (const line of text.split("\n").slice(1)) {
      const columns = line.trim().split(/\s+/);
      const localPort = Number.parseInt(columns[1]?.split(":")[1] ?? "", 16);
      if (localPort === port && columns[3] === listenState && columns[9]) inodes.add(`socket:[${columns[9]}]`);
    }
  }
  if (inodes.size === 0) return undefined;
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // Other users' processes cannot be looked into.
    const descriptors = await readdir(`/proc/${entry}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${entry}/fd/${descriptor}`).catch(() => "");
      if (inodes.has(target)) return { name: await linuxName(entry), pid: Number(entry) };
    }
  }
  return undefined;
}

async function linuxName(pid: string): Promise<string> {
  const name = (await readFile(`/proc/${pid}/comm`, "utf8")).trim();
  // Node calls its main thread so, and the system shows a process by the name of its main thread.
  return name === "MainThread" ? path.basename(await readlink(`/proc/${pid}/exe`)) : name;
}

async function lsofHolder(port: number): Promise<PortHolder | undefined> {
  const { stdout } = await run("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"], { timeout: toolTimeoutMs });
  const pid = /^p(\d+)$/m.exec(stdout)?.[1];
  const name = /^c(.+)$/m.exec(stdout)?.[1];
  return pid && name ? { name, pid: Number(pid) } : undefined;
}

async function windowsHolder(port: number): Promise<PortHolder | undefined> {
  const { stdout } = await run("netstat", ["-ano", "-p", "TCP"], { timeout: toolTimeoutMs });
  const line = stdout.split(/\r?\n/).find((candidate) => {
    const columns = candidate.trim().split(/\s+/);
    return columns[1]?.endsWith(`:${port}`) && columns[3] === "LISTENING";
  });
  const pid = line?.trim().split(/\s+/)[4];
  if (!pid) return undefined;
  const tasks = await run("tasklist", ["/FI", `PID eq ${pid}`, "/FO", "CSV", "/NH"], { timeout: toolTimeoutMs });
  const name = /^"([^"]+)"/.exec(tasks.stdout.trim())?.[1];
  return name ? { name, pid: Number(pid) } : undefined;
}
