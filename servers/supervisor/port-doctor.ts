import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { readdir, readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import type { PortTransport } from "../../contract/service.ts";

export interface PortHolder {
  readonly name: string;
  readonly pid: number;
  /** The process to stop, where that is another one: a Backlot starts its services again. */
  readonly parent?: number;
}

/** "node (pid 4711)": the process to stop. */
export const holderText = (holder: PortHolder | undefined): string =>
  holder ? `${holder.name} (pid ${holder.parent ?? holder.pid})` : "another program";

const run = promisify(execFile);
const toolTimeoutMs = 3_000;

/** The process that holds the port; undefined if there is none or the system does not report it. */
export async function portHolder(
  port: number,
  transport: PortTransport = "tcp",
  platform: NodeJS.Platform = process.platform,
): Promise<PortHolder | undefined> {
  try {
    switch (platform) {
      case "linux":
        return await linuxHolder(port, transport);
      case "win32":
        return await windowsHolder(port, transport);
      default:
        return await lsofHolder(port, transport);
    }
  } catch {
    // The holder's name is optional: without it the message is shorter.
    return undefined;
  }
}

/** True when both loopback addresses (or all addresses) are free. */
export async function isPortFree(port: number, openToLan: boolean, transport: PortTransport = "tcp"): Promise<boolean> {
  const hosts = openToLan ? ["0.0.0.0", "::"] : ["127.0.0.1", "::1"];
  const canBind = transport === "tcp" ? canListen : canReceive;
  for (const host of hosts) if (!(await canBind(port, host))) return false;
  return true;
}

export interface NextPortOptions {
  readonly openToLan?: boolean;
  /** Transports for which it has to be free. */
  readonly transports?: readonly PortTransport[];
  readonly reserved?: ReadonlySet<number>;
  /** Whether to find an even port of which the next one is free and not reserved as well. */
  readonly isPair?: boolean;
}

const mostTried = 200;

/** The first free port above `port` that is not in `reserved`; undefined if 200 such ports are taken. */
export async function nextFreePort(
  port: number,
  { openToLan = false, transports = ["tcp"], reserved = new Set(), isPair = false }: NextPortOptions = {},
): Promise<number | undefined> {
  const step = isPair ? 2 : 1;
  const first = port + step - (isPair ? port % 2 : 0);
  for (let candidate = first, tried = 0; candidate + step - 1 <= 65_535 && tried < mostTried; candidate += step) {
    const ports = isPair ? [candidate, candidate + 1] : [candidate];
    if (ports.some((one) => reserved.has(one))) continue;
    tried++;
    const free = await Promise.all(ports.flatMap((one) => transports.map((transport) => isPortFree(one, openToLan, transport))));
    if (free.every(Boolean)) return candidate;
  }
  return undefined;
}

const isUsable = (error: NodeJS.ErrnoException) => error.code !== "EADDRINUSE" && error.code !== "EACCES";

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(isUsable(error)));
    server.listen({ port, host, ipv6Only: host.includes(":"), exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function canReceive(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const isIpv6 = host.includes(":");
    const socket = createSocket({ type: isIpv6 ? "udp6" : "udp4", ipv6Only: isIpv6 });
    socket.once("error", (error: NodeJS.ErrnoException) => socket.close(() => resolve(isUsable(error))));
    socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve(true)));
  });
}

// linux/net/tcp_states.h: TCP_LISTEN, and TCP_CLOSE for a UDP socket without a peer.
const boundState: Readonly<Record<PortTransport, string>> = { tcp: "0A", udp: "07" };

async function linuxHolder(port: number, transport: PortTransport): Promise<PortHolder | undefined> {
  const inodes = new Set<string>();
  for (const table of [`/proc/net/${transport}`, `/proc/net/${transport}6`]) {
    const text = await readFile(table, "utf8").catch(() => "");
    for (const line of text.split("\n").slice(1)) {
      const columns = line.trim().split(/\s+/);
      const localPort = Number.parseInt(columns[1]?.split(":")[1] ?? "", 16);
      if (localPort === port && columns[3] === boundState[transport] && columns[9]) inodes.add(`socket:[${columns[9]}]`);
    }
  }
  if (inodes.size === 0) return undefined;
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // Processes of other users cannot be read.
    const descriptors = await readdir(`/proc/${entry}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${entry}/fd/${descriptor}`).catch(() => "");
      if (inodes.has(target)) return await linuxProcess(entry);
    }
  }
  return undefined;
}

async function linuxProcess(pid: string): Promise<PortHolder> {
  const [name, command] = await Promise.all([readFile(`/proc/${pid}/comm`, "utf8"), readFile(`/proc/${pid}/cmdline`, "utf8")]);
  // Backlot's own entries, run by whichever Node or Electron.
  const entry = /\/servers\/(backlot|service-process)\.(?:ts|cjs)\0/.exec(command)?.[1];
  if (entry) return { name: "another Backlot", pid: Number(pid), ...(entry === "service-process" && (await linuxParent(pid))) };
  // The system shows a process by the name of its main thread, which Node sets.
  const shown = name.trim() === "MainThread" ? path.basename(await readlink(`/proc/${pid}/exe`)) : name.trim();
  return { name: shown, pid: Number(pid) };
}

async function linuxParent(pid: string): Promise<Pick<PortHolder, "parent">> {
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]);
  return parent > 1 ? { parent } : {};
}

async function lsofHolder(port: number, transport: PortTransport): Promise<PortHolder | undefined> {
  const which = transport === "tcp" ? [`-iTCP:${port}`, "-sTCP:LISTEN"] : [`-iUDP:${port}`];
  const { stdout } = await run("lsof", ["-nP", ...which, "-Fpc"], { timeout: toolTimeoutMs });
  return parseLsof(stdout);
}

export function parseLsof(output: string): PortHolder | undefined {
  const pid = /^p(\d+)$/m.exec(output)?.[1];
  const name = /^c(.+)$/m.exec(output)?.[1];
  return pid && name ? { name, pid: Number(pid) } : undefined;
}

async function windowsHolder(port: number, transport: PortTransport): Promise<PortHolder | undefined> {
  const { stdout } = await run("netstat", ["-ano", "-p", transport.toUpperCase()], { timeout: toolTimeoutMs });
  const pid = pidInNetstat(stdout, port, transport);
  if (pid === undefined) return undefined;
  const tasks = await run("tasklist", ["/FI", `PID eq ${pid}`, "/FO", "CSV", "/NH"], { timeout: toolTimeoutMs });
  const name = /^"([^"]+)"/.exec(tasks.stdout.trim())?.[1];
  return name ? { name, pid } : undefined;
}

/** Parses `netstat -ano`: a line of UDP has no state column. */
export function pidInNetstat(output: string, port: number, transport: PortTransport): number | undefined {
  for (const line of output.split(/\r?\n/)) {
    const [protocol, local, , ...rest] = line.trim().split(/\s+/);
    if (protocol?.toLowerCase() !== transport || !local?.endsWith(`:${port}`)) continue;
    const pid = transport === "udp" ? rest[0] : rest[0] === "LISTENING" ? rest[1] : undefined;
    if (pid) return Number(pid);
  }
  return undefined;
}
