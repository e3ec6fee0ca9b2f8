import type { BenchOptions } from "./bench-options.ts";
import { inOrderOfRound, progress, times, watchOtherLoad } from "./harness.ts";
import { type CompiledLoad, cpuWhile } from "./load/compiled-load.ts";
import { figure, markdownTable, verdict } from "./markdown-table.ts";
import { backlot, type MqttVersion, mosquitto, mqttBrokers } from "./peers/mqtt-brokers.ts";
import type { StartedServer } from "./peers/started-server.ts";
import { Samples } from "./samples.ts";

const payloadBytes = 100;
/** Messages in flight. */
const window = 200;

/** `floor` is a multiple of mosquitto's messages per CPU second. */
const shapes = [
  { publishers: 1, subscribers: 1, floor: 3 },
  { publishers: 50, subscribers: 1, floor: 2.5 },
  { publishers: 1, subscribers: 100, floor: 10 },
] as const;
const versions: readonly { readonly version: MqttVersion; readonly title: string }[] = [
  { version: 4, title: "3.1.1" },
  { version: 5, title: "5.0" },
];
const cases = shapes.flatMap((shape) =>
  versions.flatMap(({ version, title }) =>
    [0, 1].map((qos) => ({ ...shape, version, qos, name: `${shape.publishers} → ${shape.subscribers}, QoS ${qos}, ${title}` })),
  ),
);

interface FlowFigures {
  readonly delivered: number;
  /** Of the load itself. */
  readonly cpuSeconds: number;
}

/** Messages delivered per second of the broker's CPU, by number of publishers and subscribers, QoS and version. */
export async function measureMessages(options: BenchOptions, load: CompiledLoad): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const seconds = options.seconds ?? (options.quick ? 1 : 2);
  const samples = new Samples();
  const loadShares = new Samples();
  const otherLoad = watchOtherLoad();
  const started = new Map<string, StartedServer>();
  for (const broker of mqttBrokers) started.set(broker.name, await broker.start());
  for (let round = 0; round < rounds; round++) {
    for (const { name: what, version, qos, publishers, subscribers } of cases) {
      const contenders = mqttBrokers.filter((broker) => broker.versions.includes(version));
      for (const { name } of inOrderOfRound(contenders, round)) {
        const broker = started.get(name)!;
        const args = ["flow", broker.port, version, qos, publishers, subscribers, window, payloadBytes, seconds / 2, seconds];
        const { figures, cpu } = await cpuWhile<FlowFigures>(broker.parts, load, args);
        for (const [index, part] of broker.parts.entries()) samples.add(what, part.name, figures.delivered / cpu[index]!);
        loadShares.add(what, name, figures.cpuSeconds / cpu[0]!);
      }
    }
    progress(`Messages: round ${round + 1} of ${rounds} is done.`);
  }
  const programs = [...started.values()].flatMap((broker) => broker.parts.map(({ name }) => name));
  for (const broker of started.values()) await broker.stop();

  const judged = cases.map(({ name, floor }) => {
    const ratio = samples.ratio(name, backlot.name, mosquitto.name);
    return { name, floor, ratio, reached: ratio >= floor };
  });
  const rows = judged.map(({ name, ratio, floor, reached }) => [
    name,
    ...programs.map((program) => figure(samples.median(name, program))),
    ratio.toFixed(2),
    figure(floor),
    verdict(reached),
    figure(loadShares.median(name, backlot.name)),
  ]);
  const missed = judged.filter(({ reached }) => !reached);
  return [
    "**Messages delivered per second of the broker's CPU**",
    markdownTable(["case", ...programs, "× mosquitto", "target", "", "CPU of the load, × Backlot's"], rows),
    missed.length === 0
      ? `All ${judged.length} targets are reached.`
      : `${missed.length} of ${judged.length} targets are missed: ${missed.map(({ name, ratio, floor }) => `${name} (${ratio.toFixed(2)} of ${floor})`).join("; ")}.`,
    `${times(rounds, "round")} of ${seconds} s, ${payloadBytes} bytes, ${window} messages in flight, medians. ${otherLoad()}`,
  ].join("\n\n");
}
