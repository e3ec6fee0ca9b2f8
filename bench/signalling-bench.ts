import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { BenchOptions } from "./bench-options.ts";
import { inOrderOfRound, loadCore, progress, sleep, startProcess, times, watchOtherLoad } from "./harness.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { backlot, type SignallingDialect, signallingServers } from "./peers/signalling-servers.ts";
import { cpuSeconds, memoryOf } from "./process-tree.ts";
import { Samples } from "./samples.ts";

const relayingClients = 200;
const chatters = { members: 200, perSecond: 50 };
const targets = { idleMebibytes: 150, p99Ms: 50 };
const dialectNames: Readonly<Record<SignallingDialect, string>> = { json: "plain JSON", peerjs: "PeerJS", socketio: "Socket.IO" };

interface ChatFigures {
  readonly deliveries: number;
  readonly expected: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

/** Signals and idle clients beside the servers that others use, and a busy room. */
export async function compareSignalling(options: BenchOptions): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const extent = options.quick
    ? { warmUp: 500, messages: 2_000, idle: 500, seconds: 2 }
    : { warmUp: 20_000, messages: 100_000, idle: 5_000, seconds: 20 };
  const samples = new Samples();
  const chats: ChatFigures[] = [];
  const otherLoad = watchOtherLoad();
  const contenders = signallingServers.flatMap((server) => server.dialects.map((dialect) => ({ server, dialect })));
  const nameOf = ({ server, dialect }: (typeof contenders)[number]) => `${dialectNames[dialect]}: ${server.name}`;
  for (let round = 0; round < rounds; round++) {
    for (const contender of inOrderOfRound(contenders, round)) {
      const { server, dialect } = contender;
      const name = nameOf(contender);
      await withClients(server.start, dialect, relayingClients, async ({ pids, ask }) => {
        await ask(`relay ${extent.warmUp}`);
        const before = cpuSeconds(pids());
        const { messages } = await ask<{ messages: number }>(`relay ${extent.messages}`);
        samples.add("signals", name, messages / (cpuSeconds(pids()) - before));
      });
      await withClients(server.start, dialect, extent.idle, async ({ pids, residentBefore }) => {
        // A process at rest collects its garbage within ten seconds.
        await sleep(options.quick ? 500 : 15_000);
        const { residentMebibytes } = memoryOf(pids());
        samples.add("idle", name, ((residentMebibytes - residentBefore) * 1_024) / extent.idle);
        samples.add("resident", name, residentMebibytes);
      });
    }
    const { members, perSecond } = chatters;
    await withClients(backlot.start, "json", members, async ({ ask }) => {
      chats.push(await ask<ChatFigures>(`chat ${perSecond} ${extent.seconds}`));
    });
    progress(`Signalling: round ${round + 1} of ${rounds} is done.`);
  }
  const rows = contenders.map((contender) => {
    const name = nameOf(contender);
    return [name, figure(samples.median("signals", name)), figure(samples.median("idle", name)), figure(samples.median("resident", name))];
  });
  const resident = samples.median("resident", `${dialectNames.json}: ${backlot.name}`) ?? Number.NaN;
  const worst = chats.reduce((one, other) => (other.p99Ms > one.p99Ms ? other : one));
  const lost = chats.reduce((sum, { expected, deliveries }) => sum + expected - deliveries, 0);
  return [
    "**Signalling**",
    markdownTable(
      ["dialect: server", "signals per CPU second", "KiB per idle client", `MiB with ${count(extent.idle)} idle clients`],
      rows,
    ),
    `${count(extent.idle)} idle clients of plain JSON: the service takes ${figure(resident)} MiB (target: under ${targets.idleMebibytes}, ${verdict(resident < targets.idleMebibytes)}). ` +
      `A room of ${chatters.members} at ${chatters.perSecond} messages a second: p50 ${figure(worst.p50Ms)} ms, p99 ${figure(worst.p99Ms)} ms, longest ${figure(worst.longestMs)} ms of ${count(worst.deliveries)} deliveries in the worst round ` +
      `(target: p99 under ${targets.p99Ms} ms, ${verdict(worst.p99Ms < targets.p99Ms)}); ${count(lost)} lost.`,
    `${times(rounds, "round")} of ${count(extent.messages)} signals between ${relayingClients} clients, medians. ${otherLoad()}`,
  ].join("\n\n");
}

interface Connected {
  readonly residentBefore: number;
  pids(): readonly number[];
  ask<Figures>(task: string): Promise<Figures>;
}

async function withClients(
  start: (typeof backlot)["start"],
  dialect: SignallingDialect,
  clients: number,
  use: (connected: Connected) => Promise<void>,
): Promise<void> {
  const server = await start();
  try {
    const pids = () => server.parts[0]?.pids() ?? [];
    const residentBefore = memoryOf(pids()).residentMebibytes;
    const file = path.join(import.meta.dirname, "load/signalling-clients.ts");
    const args = [file, String(server.port), dialect, String(clients)];
    const load = startProcess({ command: process.execPath, args, core: loadCore, stdin: "pipe" });
    try {
      const lines = createInterface({ input: load.child.stdout! });
      const nextLine = async (): Promise<string> => {
        const line = await Promise.race([once(lines, "line"), load.ended.then(() => [])]);
        if (line[0] === undefined) throw new Error(`The clients of ${dialect} ended: ${load.errorText()}`);
        return String(line[0]);
      };
      await nextLine();
      await use({
        residentBefore,
        pids,
        async ask(task) {
          const answer = nextLine();
          load.child.stdin?.write(`${task}\n`);
          return JSON.parse(await answer);
        },
      });
    } finally {
      await load.stop();
    }
  } finally {
    await server.stop();
  }
}
