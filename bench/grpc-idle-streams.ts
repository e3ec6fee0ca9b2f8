import type { BenchOptions } from "./bench-options.ts";
import { inOrderOfRound, progress, sleep, times } from "./harness.ts";
import { type CompiledLoad, cpuWhile } from "./load/compiled-load.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { backlot, type GrpcServer } from "./peers/grpc-servers.ts";
import { memoryOf } from "./process-tree.ts";
import { Samples } from "./samples.ts";

const streams = 1_000;
/** Many streams of few clients, and one of each. */
const shapes = [
  { name: "10 connections", connections: 10 },
  { name: "1,000 connections", connections: 1_000 },
] as const;
const mostMegabytes = 60;
const settleSeconds = 4;

/** What 1,000 open server streams without messages take. */
export async function measureIdleStreams(options: BenchOptions, load: CompiledLoad, servers: readonly GrpcServer[]): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const before = new Samples();
  const more = new Samples();
  const programs = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const { name: shape, connections } of shapes) {
      for (const one of inOrderOfRound(servers, round)) {
        // Started anew, since memory is measured.
        const server = await one.start();
        const megabytes = () => server.parts.map(({ pids }) => memoryOf(pids()).proportionalMebibytes * 1.048_576);
        await sleep(1_000);
        const atRest = megabytes();
        await cpuWhile(server.parts, load, ["idle", server.port, connections, streams / connections], async () => {
          await sleep(settleSeconds * 1_000);
          for (const [index, value] of megabytes().entries()) {
            const { name } = server.parts[index]!;
            programs.add(name);
            before.add(shape, name, atRest[index]!);
            more.add(shape, name, value - atRest[index]!);
          }
        });
        await server.stop();
      }
    }
    progress(`Idle streams: round ${round + 1} of ${rounds} is done.`);
  }
  const worst = Math.max(...shapes.map(({ name }) => more.median(name, backlot.name) ?? Number.NaN));
  return [
    `**${count(streams)} idle server streams, MB**`,
    markdownTable(
      ["server", "before them", ...shapes.map(({ name }) => `more with them, on ${name}`)],
      [...programs].map((program) => [
        program,
        figure(before.median(shapes[0].name, program)),
        ...shapes.map(({ name }) => figure(more.median(name, program))),
      ]),
    ),
    `${count(streams)} idle server streams take the service's process ${figure(worst)} MB more (target: under ${mostMegabytes}, ${verdict(worst < mostMegabytes)}).`,
    `${times(rounds, "round")}, memory with shared pages counted in parts (PSS), ${settleSeconds} s after the streams' first messages, medians.`,
  ].join("\n\n");
}
