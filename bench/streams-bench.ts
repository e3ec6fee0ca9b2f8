import { createInterface } from "node:readline";
import { type BacklotProgram, startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import {
  freePort,
  inOrderOfRound,
  loadCore,
  median,
  progress,
  runToEnd,
  serverCore,
  startProcess,
  times,
  watchOtherLoad,
} from "./harness.ts";
import { figure, markdownTable } from "./markdown-table.ts";
import { cpuNanoseconds } from "./process-tree.ts";

const tenths = 10;
const warmUpMessages = 30_000;

interface Run {
  /** µs CPU per message, of each tenth. */
  readonly service: readonly number[];
  readonly supervisor: readonly number[];
}

/** What `load/record-exchanges.ts` prints. */
export interface RecordingCost {
  readonly name: string;
  /** µs CPU of the thread per exchange. */
  readonly writeMicros: number;
  readonly storeMicros: number;
  readonly bytes: number;
  /** How long one batch kept the thread, by the clock: thread's CPU time moves in steps of milliseconds. */
  readonly p50BatchMs: number;
  readonly p99BatchMs: number;
}

const streams = [
  { name: "WebSocket, 64 bytes echoed", kind: "websocket" },
  { name: "Server-sent events", kind: "sse" },
] as const;

/** A long stream costs the same per message at its end as at its beginning; and what recording one exchange costs. */
export async function streamsBench(options: BenchOptions): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 5);
  const messages = options.quick ? 10_000 : 100_000;
  const otherLoad = watchOtherLoad();
  const runs = new Map<string, Run[]>();
  for (let round = 0; round < rounds; round++) {
    for (const { name, kind } of inOrderOfRound(streams, round)) {
      const program = await startBacklot({ services: ["http"], port: await freePort(), core: serverCore });
      runs.set(name, [...(runs.get(name) ?? []), await measure(program, kind, messages)]);
      await program.stop();
    }
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  const costs = JSON.parse(
    await runToEnd({
      command: process.execPath,
      args: [`${import.meta.dirname}/load/record-exchanges.ts`, options.quick ? "20000" : "200000"],
      core: serverCore,
    }),
  ) as readonly RecordingCost[];

  const streamRows = streams.flatMap(({ name }) =>
    (["service", "supervisor"] as const).map((process) => {
      const all = runs.get(name) ?? [];
      const at = (tenth: number) => median(all.map((run) => run[process][tenth] as number));
      const [first, last] = [at(0), at(tenths - 1)];
      const middle = median(all.flatMap((run) => run[process]));
      return [`${name}, ${process}`, figure(first), figure(middle), figure(last), figure(last / first)];
    }),
  );
  return [
    markdownTable(["µs CPU per message", "first tenth", "median", "last tenth", "last / first"], streamRows),
    markdownTable(
      ["recording one exchange", "service: µs CPU", "supervisor: µs CPU", "bytes sent", "ms of a batch, p50", "p99"],
      costs.map((cost) => [
        cost.name,
        figure(cost.writeMicros),
        figure(cost.storeMicros),
        figure(cost.bytes),
        figure(cost.p50BatchMs),
        figure(cost.p99BatchMs),
      ]),
    ),
    `${times(rounds, "round")} of ${messages.toLocaleString("en")} messages in one stream, medians. ${otherLoad()}`,
  ].join("\n\n");
}

/** CPU of both processes for each tenth of one stream; the client says when a tenth has come. */
async function measure(program: BacklotProgram, kind: "websocket" | "sse", messages: number): Promise<Run> {
  const pids = { service: program.servicePid(), supervisor: program.pid };
  const read = () => ({ service: cpuNanoseconds(pids.service), supervisor: cpuNanoseconds(pids.supervisor) });
  // A stream of its own before: the compiler's work would be in the first tenth.
  for await (const _ of follow(program.url, kind, warmUpMessages));
  const marks: ReturnType<typeof read>[] = [];
  for await (const _ of follow(program.url, kind, messages)) marks.push(read());
  const perTenth = (process: "service" | "supervisor") =>
    marks.slice(1).map((mark, index) => (mark[process] - (marks[index]?.[process] ?? 0)) / 1_000 / (messages / tenths));
  return { service: perTenth("service"), supervisor: perTenth("supervisor") };
}

/** Yields before the first message and after each tenth. The client is a process of its own, on the other core. */
async function* follow(url: string, kind: string, messages: number): AsyncGenerator<void> {
  const client = startProcess({
    command: process.execPath,
    args: [`${import.meta.dirname}/load/stream-client.ts`, url, kind, String(messages), String(tenths)],
    core: loadCore,
  });
  for await (const _ of createInterface({ input: client.child.stdout! })) yield;
  if ((await client.ended) !== 0) throw new Error(`The client of the stream failed: ${client.errorText()}`);
}
