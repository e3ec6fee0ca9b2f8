import type { BenchOptions } from "./bench-options.ts";
import { compilerPackage, ffmpegPackage, gstRtspServerPackages, installMissing, libcHeadersPackage } from "./debian-packages.ts";
import { inOrderOfRound, progress, sleep, times, watchOtherLoad } from "./harness.ts";
import { type CompiledLoad, compileLoad, cpuWhile } from "./load/compiled-load.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { backlot, gstreamer, type RtspServer } from "./peers/rtsp-servers.ts";
import { memoryOf } from "./process-tree.ts";
import { measurePreview } from "./rtsp-preview.ts";
import { Samples } from "./samples.ts";

type Transport = "tcp" | "udp";

interface PlayFigures {
  readonly playing: number;
  /** Players that got nothing while it was measured. */
  readonly silent: number;
  /** Missing packets. */
  readonly lost: number;
  /** Between a player's first packet and the beginning of the measured period. */
  readonly lostBefore: number;
  readonly megabitsPerSecond: number;
  readonly seconds: number;
  /** Of the load itself. */
  readonly cpuSeconds: number;
  readonly slowestPicturesPerSecond: number;
  readonly firstPictureMs: number;
  readonly firstPictureMs95: number;
}

const compared = { clients: 100, most: { tcp: 0.8, udp: 1 } } as const;
const steps = [1, 20, 100, 300, 1_000] as const;
const mostFirstPictureMs = 150;
const mostMegabytes = 150;
const memoryClients = 300;
const settleSeconds = 2;
const mostStalls = 8;
/** Between two clients that begin. With less, gst-rtsp-server stops more often. */
const peerBeginEachMs = 80;
const beginEachMs = 10;

export async function rtspBench(options: BenchOptions): Promise<string> {
  if (installMissing([compilerPackage, libcHeadersPackage, ffmpegPackage, ...gstRtspServerPackages]).length > 0) {
    throw new Error("gst-rtsp-server is needed as the peer, and a C compiler for the load.");
  }
  const load = compileLoad("rtsp");
  try {
    return [await compareCpu(options, load), await measureSteps(options, load), await measurePreview(options)].join("\n\n");
  } finally {
    load.remove();
  }
}

const args = (port: number, transport: Transport, clients: number, seconds: number, eachMs: number) => [
  ...[port, "stream", transport, clients, eachMs, settleSeconds, seconds],
];

/** CPU for a client's second beside gst-rtsp-server. */
async function compareCpu(options: BenchOptions, load: CompiledLoad): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const seconds = options.seconds ?? (options.quick ? 3 : 10);
  const { clients, most } = compared;
  const cpu = new Samples();
  const first = new Samples();
  const faults: string[] = [];
  const programs = new Set<string>();
  const otherLoad = watchOtherLoad();
  for (let round = 0; round < rounds; round++) {
    for (const transport of ["tcp", "udp"] as const) {
      for (const one of inOrderOfRound([gstreamer, backlot], round)) {
        const { figures, milliseconds, names, stalls } = await cpuOf(one, load, transport, clients, seconds);
        for (const [index, name] of names.entries()) {
          programs.add(name);
          cpu.add(transport, name, milliseconds[index]!);
        }
        first.add(transport, one.name, figures.firstPictureMs);
        if (stalls > 0)
          faults.push(
            `${one.name} over ${transport.toUpperCase()} stopped for all clients in ${times(stalls, "run")}, which were repeated`,
          );
        const missing = clients - figures.playing + figures.silent;
        if (missing > 0 || figures.lost > 0)
          faults.push(`${one.name} over ${transport.toUpperCase()}: ${count(figures.lost)} packets lost, ${missing} clients without any`);
      }
    }
    progress(`CPU of ${clients} clients: round ${round + 1} of ${rounds} is done.`);
  }
  const names = [...programs];
  const rows = (["tcp", "udp"] as const).map((transport) => {
    const ratio = cpu.ratio(transport, backlot.name, gstreamer.name);
    return [
      transport.toUpperCase(),
      ...names.map((name) => figure(cpu.median(transport, name))),
      ratio.toFixed(2),
      figure(most[transport]),
      verdict(ratio <= most[transport]),
      figure(first.median(transport, gstreamer.name)),
      figure(first.median(transport, backlot.name)),
    ];
  });
  return [
    `**CPU for a second of a client, ms, with ${clients} clients**`,
    markdownTable(["", ...names, "× gst-rtsp-server", "at most", "", "first picture, ms: gst-rtsp-server", "Backlot"], rows),
    `${times(rounds, "round")} of ${seconds} s, medians. ${faults.length === 0 ? "No client lost a packet." : `${faults.join("; ")}.`} ${otherLoad()}`,
  ].join("\n\n");
}

/** A shared medium of gst-rtsp-server stops now and then while clients come over TCP, and serves nobody any more: such a run is repeated. */
async function cpuOf(one: RtspServer, load: CompiledLoad, transport: Transport, clients: number, seconds: number) {
  for (let stalls = 0; ; stalls++) {
    const server = await one.start();
    await sleep(500);
    const { figures, cpu } = await cpuWhile<PlayFigures>(
      server.parts,
      load,
      args(server.port, transport, clients, seconds, peerBeginEachMs),
    );
    await server.stop();
    const hasStalled = figures.silent > figures.playing / 2 || figures.playing === 0;
    if (hasStalled && stalls < mostStalls) continue;
    const milliseconds = cpu.map((value) => (value * 1e3) / (figures.seconds * Math.max(1, figures.playing)));
    return { figures, milliseconds, names: server.parts.map(({ name }) => name), stalls };
  }
}

/** Backlot alone with more and more clients: what is lost, and where the core is full. */
async function measureSteps(options: BenchOptions, load: CompiledLoad): Promise<string> {
  const seconds = options.seconds ?? (options.quick ? 3 : 10);
  const clientSteps = options.quick ? steps.filter((clients) => clients <= 100) : steps;
  const rows: string[][] = [];
  const missed: string[] = [];
  const otherLoad = watchOtherLoad();
  for (const transport of ["tcp", "udp"] as const) {
    for (const clients of clientSteps) {
      // Started anew, since memory is measured.
      const server = await backlot.start();
      await sleep(500);
      let megabytes = 0;
      const { figures, cpu } = await cpuWhile<PlayFigures>(
        server.parts,
        load,
        args(server.port, transport, clients, seconds, beginEachMs),
        () => {
          megabytes = memoryOf(server.parts[0]!.pids()).residentMebibytes * 1.048_576;
        },
      );
      await server.stop();
      const name = `${count(clients)}, ${transport.toUpperCase()}`;
      const lost = figures.lost + figures.lostBefore;
      const share = (100 * cpu[0]!) / figures.seconds;
      const without = clients - figures.playing + figures.silent;
      const isFull = share > 95;
      if (lost > 0 || without > 0)
        missed.push(`${name}: ${count(lost)} packets lost, ${without} clients without any${isFull ? ", the core is full" : ""}`);
      if (figures.firstPictureMs > mostFirstPictureMs) missed.push(`${name}: the first picture after ${figure(figures.firstPictureMs)} ms`);
      if (clients === memoryClients && megabytes > mostMegabytes) missed.push(`${name}: ${figure(megabytes)} MB`);
      rows.push([
        name,
        count(lost),
        figure(figures.firstPictureMs),
        figure(figures.firstPictureMs95),
        figure(figures.slowestPicturesPerSecond),
        figure(figures.megabitsPerSecond),
        `${share.toFixed(0)} %`,
        `${((100 * figures.cpuSeconds) / figures.seconds).toFixed(0)} %`,
        figure(megabytes),
      ]);
      progress(`${name} is done.`);
    }
  }
  const columns = ["clients", "packets lost", "first picture, ms: median", "95 %", "pictures/s of the slowest", "Mbit/s"];
  return [
    "**Backlot with more clients**",
    markdownTable([...columns, "CPU of the service", "of the load", "memory, MB"], rows),
    missed.length === 0
      ? `No packet is lost, the first picture is there within ${mostFirstPictureMs} ms at the median, and ${memoryClients} clients take less than ${mostMegabytes} MB.`
      : `Missed: ${missed.join("; ")}.`,
    `${seconds} s each; the service was started anew for each line. ${otherLoad()}`,
  ].join("\n\n");
}
