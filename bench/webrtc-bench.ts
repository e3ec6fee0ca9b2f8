import type { BenchOptions } from "./bench-options.ts";
import { coturnPackage, installMissing } from "./debian-packages.ts";
import { freePort, inOrderOfRound, loadCore, progress, runToEnd, startProcess, times, watchOtherLoad } from "./harness.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { backlot, coturn, type TurnServerProgram, turnUser } from "./peers/turn-servers.ts";
import { cpuSeconds, droppedDatagrams } from "./process-tree.ts";
import { Samples } from "./samples.ts";
import { compareSignalling } from "./signalling-bench.ts";

const clients = 50;
const messageBytes = 1_000;
/** Between two messages of a client: as packets of sound. */
const intervalMs = 20;
/** Before it is measured: code is compiled while it is used. */
const warmUpMessages = 100;
const targets = { least: 0.5, wanted: 1 };

/** How turnutils_uclient is told to relay. */
const modes: Readonly<Record<string, readonly string[]>> = {
  "UDP, channels": [],
  "UDP, indications": ["-s"],
  "TCP, channels": ["-t"],
};

interface Run {
  readonly sent: number;
  readonly received: number;
  /** Datagrams that the server's own sockets had no room for; the rest was lost by the load. */
  readonly dropped: number;
  readonly cpu: number;
}

export async function webrtcBench(options: BenchOptions): Promise<string> {
  if (installMissing([coturnPackage]).length > 0) throw new Error("coturn is needed as the peer and as the load.");
  return [await compareRelays(options), await compareSignalling(options)].join("\n\n");
}

/** Bytes that a server takes and passes on per second of its CPU. */
async function compareRelays(options: BenchOptions): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const messages = options.quick ? 100 : 500;
  const samples = new Samples();
  const lost = new Map<string, { messages: number; dropped: number }>();
  const otherLoad = watchOtherLoad();
  for (let round = 0; round < rounds; round++) {
    for (const mode of Object.keys(modes)) {
      for (const server of inOrderOfRound([coturn, backlot], round)) {
        const { sent, received, dropped, cpu } = await measure(server, modes[mode] ?? [], messages);
        // What comes back has passed the relay twice.
        samples.add(mode, server.name, (2 * received * messageBytes) / cpu / 1e6);
        const key = `${mode}\n${server.name}`;
        const before = lost.get(key) ?? { messages: 0, dropped: 0 };
        lost.set(key, { messages: before.messages + sent - received, dropped: before.dropped + dropped });
      }
    }
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  const rows = Object.keys(modes).flatMap((mode) =>
    [coturn, backlot].map(({ name }) => {
      const megabytes = samples.median(mode, name) ?? Number.NaN;
      const ratio = samples.ratio(mode, name, coturn.name);
      return [
        `${mode}: ${name}`,
        figure(megabytes),
        figure(messageBytes / megabytes),
        ratio.toFixed(2),
        count(lost.get(`${mode}\n${name}`)?.messages ?? 0),
        count(lost.get(`${mode}\n${name}`)?.dropped ?? 0),
      ];
    }),
  );
  const channels = samples.ratio("UDP, channels", backlot.name, coturn.name);
  const ours = (which: "messages" | "dropped") =>
    Object.keys(modes).reduce((sum, mode) => sum + (lost.get(`${mode}\n${backlot.name}`)?.[which] ?? 0), 0);
  return [
    "**Relays**",
    markdownTable(["relay", "MB per CPU second", "µs CPU per message", "× coturn", "lost messages", "of these by the server"], rows),
    `Over UDP by channels ${channels.toFixed(2)} × coturn's bytes per CPU second (target: at least ${targets.least}, ${verdict(channels >= targets.least)}; wanted: ${targets.wanted}, ${verdict(channels >= targets.wanted)}). ` +
      `Of ${clients} clients the server lost ${count(ours("dropped"))} messages (target: none, ${verdict(ours("dropped") === 0)}), and the load ${count(ours("messages") - ours("dropped"))}.`,
    `${times(rounds, "round")} of ${count(clients * messages)} messages in each direction, ${clients} clients, medians. ${otherLoad()}`,
  ].join("\n\n");
}

async function measure(program: TurnServerProgram, flags: readonly string[], messages: number): Promise<Run> {
  const server = await program.start();
  const peerPort = await freePort();
  const peer = startProcess({ command: "turnutils_peer", args: ["-L", "127.0.0.1", "-p", String(peerPort)], core: loadCore });
  try {
    const pids = () => server.parts[0]?.pids() ?? [];
    const load = (each: number): Promise<string> => {
      const options: Readonly<Record<string, string | number>> = {
        ...{ "-u": turnUser.name, "-w": turnUser.password, "-p": server.port, "-e": "127.0.0.1", "-r": peerPort },
        ...{ "-m": clients, "-n": each, "-l": messageBytes, "-z": intervalMs },
      };
      const args = [...flags, "-c", ...Object.entries(options).flatMap(([flag, value]) => [flag, String(value)]), "127.0.0.1"];
      return runToEnd({ command: "turnutils_uclient", args, core: loadCore });
    };
    await load(warmUpMessages);
    const before = cpuSeconds(pids());
    const drops = watchDrops(pids);
    const output = await load(messages);
    const cpu = cpuSeconds(pids()) - before;
    const dropped = drops();
    const [, sent, received] = [...output.matchAll(/tot_send_msgs=(\d+), tot_recv_msgs=(\d+)/g)].at(-1) ?? [];
    if (sent === undefined) throw new Error(`turnutils_uclient says nothing of its messages: ${output.slice(-1_000)}`);
    return { sent: Number(sent), received: Number(received), dropped, cpu };
  } finally {
    await peer.stop();
    await server.stop();
  }
}

/** Counts what the server's UDP sockets drop; relays are closed at the end of the load, so it looks every second. */
function watchDrops(pids: () => readonly number[]): () => number {
  const highest = new Map<string, number>();
  const before = new Map<string, number>();
  const look = (into: Map<string, number>) => {
    for (const pid of pids()) for (const [inode, drops] of droppedDatagrams(pid)) into.set(inode, drops);
  };
  look(before);
  const timer = setInterval(() => look(highest), 1_000);
  return () => {
    clearInterval(timer);
    look(highest);
    return [...highest].reduce((sum, [inode, drops]) => sum + drops - (before.get(inode) ?? 0), 0);
  };
}
