import type { BenchOptions } from "./bench-options.ts";
import { compilerPackage, installMissing, libcHeadersPackage, mosquittoPackage } from "./debian-packages.ts";
import { inOrderOfRound, median, progress, sleep, times, watchOtherLoad } from "./harness.ts";
import { compileMqttLoad, type MqttLoad } from "./load/mqtt-load.ts";
import { count, figure, markdownTable } from "./markdown-table.ts";
import { aedes, backlot, type MqttVersion, mosquitto, type StartedMqttBroker } from "./peers/mqtt-brokers.ts";
import { cpuSeconds, memoryOf } from "./process-tree.ts";

/** Messages and connects as multiples of mosquitto's; kB of memory per idle connection; ms between two messages at worst. */
const targets = { connects: 0.25, idleKilobytes: 9, gapMs: 100 };
const payloadBytes = 100;
/** Messages under way. */
const window = 200;
const connectingAtOnce = 64;
/** One of them stops reading. */
const frozenCase = { subscribers: 100, perSecond: 250, payloadBytes: 4_096 };

interface Shape {
  readonly publishers: number;
  readonly subscribers: number;
  readonly target: number;
}
const shapes: readonly Shape[] = [
  { publishers: 1, subscribers: 1, target: 3 },
  { publishers: 50, subscribers: 1, target: 2.5 },
  { publishers: 1, subscribers: 100, target: 10 },
];
const versionName = (version: MqttVersion) => (version === 5 ? "5.0" : "3.1.1");
const caseName = ({ publishers, subscribers }: Shape, version: MqttVersion, qos: number) =>
  `${publishers} → ${subscribers}, QoS ${qos}, ${versionName(version)}`;
const cases = shapes.flatMap((shape) =>
  ([4, 5] as const).flatMap((version) => [0, 1].map((qos) => ({ ...shape, version, qos, name: caseName(shape, version, qos) }))),
);
const brokers = [mosquitto, aedes, backlot];

/** By what was measured, then by the part of a broker that it was measured of. */
class Samples {
  private readonly values = new Map<string, number[]>();

  add(what: string, part: string, value: number): void {
    const key = `${what}\n${part}`;
    this.values.set(key, [...(this.values.get(key) ?? []), value]);
  }

  median(what: string, part: string): number | undefined {
    const values = this.values.get(`${what}\n${part}`);
    return values && median(values);
  }
}

export async function mqttBench(options: BenchOptions): Promise<string> {
  if (installMissing([mosquittoPackage, compilerPackage, libcHeadersPackage]).length > 0) {
    throw new Error("Without mosquitto there is nothing to compare with, without a compiler no load.");
  }
  const load = compileMqttLoad();
  try {
    return [await messages(options, load), await connections(options, load)].join("\n\n");
  } finally {
    load.remove();
  }
}

/** CPU seconds of each part while the load runs. */
async function measured<Figures>(
  broker: StartedMqttBroker,
  load: MqttLoad,
  args: readonly (string | number)[],
  whileItStays: () => void | Promise<void> = () => {},
) {
  const read = () => broker.parts.map((part) => cpuSeconds(part.pids()));
  let before: readonly number[] = [];
  let after: readonly number[] = [];
  const figures = await load.run<Figures>(args, {
    onBegin() {
      before = read();
    },
    async onEnd() {
      after = read();
      await whileItStays();
    },
  });
  return { figures, cpu: after.map((seconds, index) => seconds - before[index]!) };
}

async function messages(options: BenchOptions, load: MqttLoad): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const seconds = options.seconds ?? (options.quick ? 1 : 3);
  const samples = new Samples();
  const otherLoad = watchOtherLoad();
  const started = new Map<string, StartedMqttBroker>();
  for (const broker of brokers) started.set(broker.name, await broker.start());
  for (let round = 0; round < rounds; round++) {
    for (const { name: what, version, qos, publishers, subscribers } of cases) {
      const contenders = brokers.filter(({ versions }) => versions.includes(version));
      for (const { name } of inOrderOfRound(contenders, round)) {
        const broker = started.get(name)!;
        const args = ["flow", broker.port, version, qos, publishers, subscribers, window, payloadBytes, seconds / 2, seconds];
        const { figures, cpu } = await measured<{ delivered: number }>(broker, load, args);
        for (const [index, part] of broker.parts.entries()) samples.add(what, part.name, figures.delivered / cpu[index]!);
      }
    }
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  const parts = [...started.values()].flatMap((broker) => broker.parts.map(({ name }) => name));
  for (const broker of started.values()) await broker.stop();
  const judged = cases.map(({ name, target }) => ({ name, target, ratio: ratioOf(samples, name) }));
  const rows = judged.map(({ name, ratio, target }) => [
    name,
    ...parts.map((part) => figure(samples.median(name, part))),
    `${ratio.toFixed(2)}${ratio >= target ? "" : " (missed)"}`,
    String(target),
  ]);
  const missed = judged.filter(({ ratio, target }) => ratio < target);
  return [
    `**Messages delivered per second of the broker's CPU**\n\n${markdownTable(["case", ...parts, "× mosquitto", "floor"], rows)}`,
    missed.length === 0
      ? "Every floor is reached."
      : `${missed.length} of ${judged.length} floors are missed: ${missed.map(({ name, ratio, target }) => `${name} (${ratio.toFixed(2)} of ${target})`).join("; ")}.`,
    `${times(rounds, "round")} of ${seconds} s, ${payloadBytes} bytes, ${window} messages under way, medians. ${otherLoad()}`,
  ].join("\n\n");
}

const ratioOf = (samples: Samples, what: string): number =>
  (samples.median(what, backlot.name) ?? Number.NaN) / (samples.median(what, mosquitto.name) ?? Number.NaN);

async function connections(options: BenchOptions, load: MqttLoad): Promise<string> {
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const idle = options.quick ? 2_000 : 10_000;
  const settleSeconds = options.quick ? 2 : 8;
  const frozenSeconds = options.quick ? 5 : 12;
  const samples = new Samples();
  const otherLoad = watchOtherLoad();
  const names = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const contender of inOrderOfRound(brokers, round)) {
      // Anew for each round, since memory is measured.
      const broker = await contender.start();
      const kilobytes = () => broker.parts.map((part) => memoryOf(part.pids()).residentMebibytes * 1_048.576);
      const { subscribers, perSecond } = frozenCase;
      const version = contender.versions.at(-1)!;
      const frozen = ["frozen", broker.port, version, subscribers, perSecond, frozenCase.payloadBytes, frozenSeconds];
      const before = kilobytes();
      let held: readonly number[] = [];
      const { cpu } = await measured(broker, load, ["connect", broker.port, version, idle, connectingAtOnce], async () => {
        await sleep(settleSeconds * 1_000);
        held = kilobytes();
      });
      for (const [index, { name }] of broker.parts.entries()) {
        names.add(name);
        samples.add("connects", name, idle / cpu[index]!);
        samples.add("kilobytes", name, (held[index]! - before[index]!) / idle);
      }
      await sleep(1_000);
      const peak = broker.parts.map(({ pids }) => memoryOf(pids()).residentMebibytes);
      const { figures } = await measured<{ longestGapMs: number; delivered: number; expected: number }>(broker, load, frozen, () => {
        for (const [index, { name, pids }] of broker.parts.entries()) {
          samples.add("frozen memory", name, memoryOf(pids()).residentMebibytes - peak[index]!);
        }
      });
      samples.add("gap", contender.name, figures.longestGapMs);
      samples.add("share", contender.name, (figures.delivered / figures.expected) * 100);
      await broker.stop();
    }
    progress(`Round ${round + 1} of ${rounds} is done.`);
  }
  const rows = [...names].map((name) => [
    name,
    ...["connects", "kilobytes", "gap", "share", "frozen memory"].map((what) => figure(samples.median(what, name))),
  ]);
  const [connects, perConnection, gap] = [
    ratioOf(samples, "connects"),
    samples.median("kilobytes", backlot.name)!,
    samples.median("gap", backlot.name)!,
  ];
  const verdict = (reached: boolean) => (reached ? "reached" : "missed");
  return [
    `**Connections**\n\n${markdownTable(["broker", "connects per CPU second", "kB per idle connection", "longest gap, ms", "delivered, %", "more MiB behind the frozen client"], rows)}`,
    `Connects are ${connects.toFixed(2)} × mosquitto's (floor: ${targets.connects}, ${verdict(connects >= targets.connects)}); an idle connection takes ${figure(perConnection)} kB (at most ${targets.idleKilobytes}, ${verdict(perConnection <= targets.idleKilobytes)}); with one client of ${frozenCase.subscribers} frozen the others' longest gap is ${figure(gap)} ms (under ${targets.gapMs}, ${verdict(gap < targets.gapMs)}).`,
    `${times(rounds, "round")}, ${count(idle)} connections, ${connectingAtOnce} at a time; then ${count(frozenCase.perSecond)} messages of ${count(frozenCase.payloadBytes)} bytes a second for ${frozenSeconds} s. ${otherLoad()}`,
  ].join("\n\n");
}
