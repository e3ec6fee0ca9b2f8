import path from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import type { BenchOptions } from "./bench-options.ts";
import { loadCore, percentile, progress, runToEnd, sleep, times } from "./harness.ts";
import type { CompiledLoad } from "./load/compiled-load.ts";
import { attackNames } from "./load/grpc-attacks.ts";
import { figure, markdownTable } from "./markdown-table.ts";
import type { GrpcServer } from "./peers/grpc-servers.ts";
import { Samples } from "./samples.ts";

const everyMs = 10;
const attackProgram = path.join(import.meta.dirname, "load/grpc-attacks.ts");
/** { name: "bystander" } */
const hello = Buffer.from("0a0962797374616e646572", "hex");
const asIs = (bytes: Buffer): Buffer => bytes;

interface Bystander {
  /** Milliseconds of each answered call. */
  readonly tookMs: readonly number[];
  readonly failed: number;
}

/** Unary calls on a connection of its own, on a fixed schedule, while `load` runs. */
async function bystanderOf(port: number, load: () => Promise<unknown>): Promise<Bystander> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const tookMs: number[] = [];
  let failed = 0;
  let open = 0;
  const call = () => {
    const begunAt = performance.now();
    open++;
    client.makeUnaryRequest("/example.Greeter/SayHello", asIs, asIs, hello, { deadline: Date.now() + 10_000 }, (error) => {
      open--;
      if (error) failed++;
      else tookMs.push(performance.now() - begunAt);
    });
  };
  // The first calls connect and compile.
  for (let count = 0; count < 50; count++) {
    call();
    await sleep(everyMs);
  }
  while (open > 0) await sleep(everyMs);
  tookMs.length = 0;
  const timer = setInterval(call, everyMs);
  await load();
  clearInterval(timer);
  while (open > 0) await sleep(everyMs);
  client.close();
  return { tookMs, failed };
}

/** The latency of a client beside others, and beside attacks. */
export async function measureBystander(options: BenchOptions, load: CompiledLoad, servers: readonly GrpcServer[]): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const seconds = options.seconds ?? (options.quick ? 1 : 4);
  const flow = (port: number, pattern: string, calls: number) =>
    load.run(["flow", port, pattern, 4, calls, 1_000, 16, 3_000, seconds], { onBegin() {}, onEnd() {} });
  const attack = (port: number, name: string) =>
    runToEnd({ command: process.execPath, args: [attackProgram, name, String(port), String(seconds)], core: loadCore });
  const beside: readonly { readonly what: string; readonly run: (port: number) => Promise<unknown> }[] = [
    { what: "alone", run: () => sleep(seconds * 1_000) },
    { what: "unary, 64 at a time", run: (port) => flow(port, "unary", 16) },
    { what: "16 server streams", run: (port) => flow(port, "server", 4) },
    { what: "16 streams in both directions", run: (port) => flow(port, "bidi", 4) },
    ...attackNames.map((name) => ({ what: `attack: ${name}`, run: (port: number) => attack(port, name) })),
  ];
  const p50 = new Samples();
  const p99 = new Samples();
  let failed = 0;
  for (const server of servers) {
    const { port, stop } = await server.start();
    for (let round = 0; round < rounds; round++) {
      for (const { what, run } of beside) {
        const bystander = await bystanderOf(port, () => run(port));
        failed += bystander.failed;
        if (bystander.failed > 0) progress(`${bystander.failed} calls of the bystander failed: ${server.name}, ${what}.`);
        p50.add(what, server.name, percentile(bystander.tookMs, 0.5));
        p99.add(what, server.name, percentile(bystander.tookMs, 0.99));
      }
    }
    await stop();
    progress(`Bystander: ${server.name} is done.`);
  }
  const cell = (what: string, { name }: GrpcServer) => `${figure(p50.median(what, name))} / ${figure(p99.median(what, name))}`;
  return [
    "**A bystander's unary calls, ms (p50 / p99)**",
    markdownTable(
      ["beside it", ...servers.map(({ name }) => name)],
      beside.map(({ what }) => [what, ...servers.map((server) => cell(what, server))]),
    ),
    `One call each ${everyMs} ms on a connection of its own, ${times(rounds, "round")} of ${seconds} s, medians; ${failed === 0 ? "all calls were answered" : `**${failed} calls failed**`}.`,
  ].join("\n\n");
}
