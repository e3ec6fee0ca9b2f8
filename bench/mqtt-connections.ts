import type { BenchOptions } from "./bench-options.ts";
import { inOrderOfRound, progress, sleep, times, watchOtherLoad } from "./harness.ts";
import { type CompiledLoad, cpuWhile } from "./load/compiled-load.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { backlot, type MqttBroker, mosquitto, mqttBrokers } from "./peers/mqtt-brokers.ts";
import { memoryOf } from "./process-tree.ts";
import { Samples } from "./samples.ts";

/** Connects as a multiple of mosquitto's per CPU second; at most so many kB for an idle connection and ms between two messages. */
const floors = { connects: 0.5, idleKilobytes: 9, gapMs: 100 };
const connectingAtOnce = 64;
/** One of the subscribers stops reading. */
const frozenCase = { subscribers: 100, perSecond: 250, payloadBytes: 4_096 };

interface FrozenFigures {
  /** Between two messages, of those who read. */
  readonly longestGapMs: number;
  /** The longest pause of the load generator itself: no gap can be shorter. */
  readonly longestTurnMs: number;
  readonly delivered: number;
  readonly expected: number;
}

const columns = {
  connects: "connects per CPU second",
  kilobytes: "kB per idle connection",
  gap: "longest gap, ms",
  share: "delivered, %",
  behind: "more MiB behind the frozen client",
} as const;

/** What connections cost, and what one that stops reading costs the others. */
export async function measureConnections(options: BenchOptions, load: CompiledLoad): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const durations = options.quick ? { settleSeconds: 2, frozenSeconds: 5 } : { settleSeconds: 6, frozenSeconds: 8 };
  const idle = options.quick ? 2_000 : 10_000;
  const samples = new Samples();
  const otherLoad = watchOtherLoad();
  const programs = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const contender of inOrderOfRound(mqttBrokers, round)) {
      for (const name of await measureOne(contender, load, { idle, ...durations }, samples)) programs.add(name);
    }
    progress(`Connections: round ${round + 1} of ${rounds} is done.`);
  }
  const rows = [...programs].map((name) => [name, ...Object.keys(columns).map((what) => figure(samples.median(what, name)))]);
  const connects = samples.ratio("connects", backlot.name, mosquitto.name);
  const perConnection = samples.median("kilobytes", backlot.name) ?? Number.NaN;
  const gap = samples.median("gap", backlot.name) ?? Number.NaN;
  const judged = [
    ["connects per CPU second, × mosquitto", connects.toFixed(2), `≥ ${floors.connects}`, verdict(connects >= floors.connects)],
    ["kB per idle connection", figure(perConnection), `≤ ${floors.idleKilobytes}`, verdict(perConnection <= floors.idleKilobytes)],
    ["longest gap beside a frozen client, ms", figure(gap), `< ${floors.gapMs}`, verdict(gap < floors.gapMs)],
  ];
  const { subscribers, perSecond, payloadBytes } = frozenCase;
  return [
    "**Connections**",
    markdownTable(["broker", ...Object.values(columns)], rows),
    markdownTable(["Backlot, MQTT service", "measured", "target", ""], judged),
    `${times(rounds, "round")}, ${count(idle)} connections, ${connectingAtOnce} at a time; then, with one of ${subscribers} subscribers frozen, ${count(perSecond)} messages of ${count(payloadBytes)} bytes a second for ${durations.frozenSeconds} s, in which the load itself was away for ${figure(samples.median("turn", backlot.name))} ms at the longest. What Backlot's memory grows by meanwhile is mostly V8's young generation (semi-spaces of 16 MB), which any load fills; at most 1 MiB waits for the frozen client. ${otherLoad()}`,
  ].join("\n\n");
}

interface Extent {
  readonly idle: number;
  readonly settleSeconds: number;
  readonly frozenSeconds: number;
}

/** Started anew, since memory is measured. Gives the names of the programs it consists of. */
async function measureOne(contender: MqttBroker, load: CompiledLoad, extent: Extent, samples: Samples): Promise<readonly string[]> {
  const { idle, settleSeconds, frozenSeconds } = extent;
  const broker = await contender.start();
  const version = contender.versions.at(-1)!;
  const residentMebibytes = () => broker.parts.map(({ pids }) => memoryOf(pids()).residentMebibytes);
  /** Of each part, from one moment to the other. */
  const note = (what: string, before: readonly number[], after: readonly number[], scale: number) => {
    for (const [index, { name }] of broker.parts.entries()) samples.add(what, name, (after[index]! - before[index]!) * scale);
  };

  const before = residentMebibytes();
  const { cpu } = await cpuWhile(broker.parts, load, ["connect", broker.port, version, idle, connectingAtOnce], async () => {
    await sleep(settleSeconds * 1_000);
    note("kilobytes", before, residentMebibytes(), 1_048.576 / idle);
  });
  for (const [index, { name }] of broker.parts.entries()) samples.add("connects", name, idle / cpu[index]!);

  // The connections end.
  await sleep(1_000);
  const { subscribers, perSecond, payloadBytes } = frozenCase;
  const frozen = ["frozen", broker.port, version, subscribers, perSecond, payloadBytes, frozenSeconds];
  const begun = residentMebibytes();
  const { figures } = await cpuWhile<FrozenFigures>(broker.parts, load, frozen, () => note("behind", begun, residentMebibytes(), 1));
  samples.add("gap", contender.name, figures.longestGapMs);
  samples.add("turn", contender.name, figures.longestTurnMs);
  samples.add("share", contender.name, (figures.delivered / figures.expected) * 100);
  await broker.stop();
  return broker.parts.map(({ name }) => name);
}
