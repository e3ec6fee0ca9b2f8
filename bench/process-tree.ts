/** CPU time and memory of a process and all below it, from /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** USER_HZ: the kernel's unit of CPU time towards programs, 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

/** The process and its descendants. */
export function processTree(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? readStat(Number(name))?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    found.push(pid);
    waiting.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** Seconds of CPU that these processes have used so far. */
export const cpuSeconds = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + (readStat(pid)?.cpuSeconds ?? 0), 0);

/** Of the process's main thread so far, finer than the ticks of `cpuSeconds`. */
export const cpuNanoseconds = (pid: number): number => Number(readOrEmpty(`/proc/${pid}/schedstat`).split(" ")[0] ?? 0);

/** As `cpuSeconds`, with what descendants used that have ended and were waited for. */
export const cpuSecondsEver = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + (readStat(pid)?.cpuSeconds ?? 0) + (readStat(pid)?.endedChildrenCpuSeconds ?? 0), 0);

export interface Memory {
  readonly residentMebibytes: number;
  /** Shared pages counted in parts, so that a sum over processes is what they take together. */
  readonly proportionalMebibytes: number;
}

export function memoryOf(pids: readonly number[]): Memory {
  let resident = 0;
  let proportional = 0;
  for (const pid of pids) {
    const text = readOrEmpty(`/proc/${pid}/smaps_rollup`);
    resident += Number(/^Rss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
    proportional += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return { residentMebibytes: resident / 1_024, proportionalMebibytes: proportional / 1_024 };
}

/** Datagrams that the UDP sockets of a process had no room for, by the inode of the socket, as long as that is open. */
export function droppedDatagrams(pid: number): ReadonlyMap<string, number> {
  const own = new Set(socketInodes(pid));
  const dropped = new Map<string, number>();
  for (const file of ["/proc/net/udp", "/proc/net/udp6"])
    for (const line of readOrEmpty(file).split("\n").slice(1)) {
      // proc(5): the tenth field is the inode, the last one the number of drops.
      const fields = line.trim().split(/\s+/);
      const inode = fields[9] ?? "";
      if (own.has(inode)) dropped.set(inode, Number(fields.at(-1)));
    }
  return dropped;
}

function socketInodes(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => linkOf(`/proc/${pid}/fd/${name}`).match(/^socket:\[(\d+)\]$/)?.[1] ?? []);
  } catch {
    return [];
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}

export const commandLineOf = (pid: number): string => readOrEmpty(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();

/** Seconds of CPU that the whole machine has spent working since it was started. */
export function machineCpuSeconds(): number {
  // proc(5): user nice system idle iowait irq softirq steal
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = readOrEmpty("/proc/stat")
    .split("\n", 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softIrq) / ticksPerSecond;
}

interface Stat {
  readonly parent: number;
  readonly cpuSeconds: number;
  readonly endedChildrenCpuSeconds: number;
}

function readStat(pid: number): Stat | undefined {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  if (text === "") return undefined;
  // The name, in parentheses, may hold spaces and parentheses of its own: fields begin after the last one, with the state.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const seconds = (one: number, other: number) => (Number(fields[one]) + Number(fields[other])) / ticksPerSecond;
  return { parent: Number(fields[1]), cpuSeconds: seconds(11, 12), endedChildrenCpuSeconds: seconds(13, 14) };
}

/** A process may end between any two reads. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
