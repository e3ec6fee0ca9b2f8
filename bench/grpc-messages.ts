import type { BenchOptions } from "./bench-options.ts";
import { inOrderOfRound, progress, times, watchOtherLoad } from "./harness.ts";
import { type CompiledLoad, cpuWhile } from "./load/compiled-load.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { backlot, type GrpcServer, grpcio, grpcJs } from "./peers/grpc-servers.ts";
import type { StartedServer } from "./peers/started-server.ts";
import { Samples } from "./samples.ts";

const connections = 4;
const messagesPerCall = 1_000;
/** Messages under way in a stream of both directions. */
const window = 16;

/** By number, so that compilers of code while it runs have seen as much of it on a busy machine. */
const warmUpMessages = 30_000;

/** The floors are multiples of the messages per CPU second of bare grpc-js and of Python. */
const patterns = [
  { name: "unary", argument: "unary", calls: 16, ofGrpcJs: 0.95, ofPython: 1.3 },
  { name: "server stream", argument: "server", calls: 4, ofGrpcJs: 0.95, ofPython: 5 },
  { name: "client stream", argument: "client", calls: 4, ofGrpcJs: 0.95, ofPython: 5 },
  { name: "both directions", argument: "bidi", calls: 4, ofGrpcJs: 0.95, ofPython: 5 },
] as const;

interface FlowFigures {
  readonly messages: number;
  readonly calls: number;
  readonly errors: number;
  readonly seconds: number;
  /** Of the load itself. */
  readonly cpuSeconds: number;
}

/** Messages per second of the server's CPU, by pattern of the method. */
export async function measureMessages(options: BenchOptions, load: CompiledLoad, servers: readonly GrpcServer[]): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 5);
  const seconds = options.seconds ?? (options.quick ? 1 : 2);
  const samples = new Samples();
  const coreUse = new Samples();
  const otherLoad = watchOtherLoad();
  const started = new Map<GrpcServer, StartedServer>();
  for (const server of servers) started.set(server, await server.start());
  for (let round = 0; round < rounds; round++) {
    for (const { name: what, argument, calls } of patterns) {
      for (const one of inOrderOfRound(servers, round)) {
        const server = started.get(one)!;
        const args = [
          "flow",
          server.port,
          argument,
          connections,
          calls,
          messagesPerCall,
          window,
          round === 0 ? warmUpMessages : warmUpMessages / 10,
          seconds,
        ];
        const { figures, cpu } = await cpuWhile<FlowFigures>(server.parts, load, args);
        if (figures.errors > 0) throw new Error(`${one.name} failed ${figures.errors} calls of ${what}.`);
        for (const [index, part] of server.parts.entries()) samples.add(what, part.name, figures.messages / cpu[index]!);
        coreUse.add(what, one.name, (figures.cpuSeconds / figures.seconds) * 100);
      }
    }
    progress(`Messages: round ${round + 1} of ${rounds} is done.`);
  }
  const programs = [...started.values()].flatMap((server) => server.parts.map(({ name }) => name));
  for (const server of started.values()) await server.stop();

  const rows = patterns.map(({ name }) => [
    name,
    ...programs.map((program) => figure(samples.median(name, program))),
    figure(Math.max(...servers.map((server) => coreUse.median(name, server.name) ?? 0))),
  ]);
  const judged = patterns.flatMap(({ name, ofGrpcJs, ofPython }) =>
    [
      { base: grpcJs, floor: ofGrpcJs },
      { base: grpcio, floor: ofPython },
    ].flatMap(({ base, floor }) => {
      if (!servers.includes(base)) return [];
      const ratio = samples.ratio(name, backlot.name, base.name);
      return [[`${name}, × ${base.name}`, ratio.toFixed(2), `≥ ${floor}`, verdict(ratio >= floor)]];
    }),
  );
  return [
    "**Messages per second of the server's CPU**",
    markdownTable(["pattern", ...programs, "% of a core the load took at most"], rows),
    markdownTable([backlot.name, "measured", "target", ""], judged),
    `${times(rounds, "round")} of ${seconds} s, ${connections} connections with 16 unary calls or 4 streams of ${count(messagesPerCall)} messages each, medians. ${otherLoad()}`,
  ].join("\n\n");
}
