import type { ParamsOf, ResultOf } from "../contract/operation.ts";
import type { MqttActions } from "../contract/services/mqtt.ts";
import { startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import { type ControlSocket, openControlSocket } from "./control-socket.ts";
import { chromiumPackage, installMissing } from "./debian-packages.ts";
import { freePort, median, percentile, progress, sleep, startProcess, watchOtherLoad } from "./harness.ts";
import type { PublishFigures } from "./load/paced-publishes.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";
import { openDashboardPage } from "./page-dashboard.ts";
import { cpuSeconds, memoryOf, processTree } from "./process-tree.ts";

/** MiB of both processes together, and ms of a page of the tree. */
const targets = { residentMebibytes: 500, childrenMs: 20 };
const topics = 100_000;
const messagesPerSecond = 5_000;
const connections = 8;
/** Collecting what is garbage waits for a rest of 5 s. */
const restMs = 20_000;

/** By name: a level's page, or a search. Half of the topics stand below `devices`. */
const questions: Readonly<Record<string, ParamsOf<MqttActions["topic.children"]>>> = {
  "the top": {},
  "first page of 50,000": { topic: "devices", limit: 100 },
  "page in the middle of 50,000": { topic: "devices", offset: 25_000, limit: 100 },
  "a level of 100": { topic: "plant/3/line/7/sensor", limit: 100 },
};

export async function mqttTreeBench(options: BenchOptions): Promise<string> {
  const seconds = options.seconds ?? (options.quick ? 5 : 60);
  const withPage = installMissing([chromiumPackage]).length === 0;
  const otherLoad = watchOtherLoad();
  const backlot = await startBacklot({
    services: ["mqtt"],
    port: await freePort(),
    flags: ["--mqtt-tls=false", "--mqtt-web-socket=false"],
  });
  const control = await openControlSocket(backlot.dashboardUrl);
  const browser = withPage ? await openDashboardPage(backlot.dashboardUrl, "mqtt/live", "MQTT") : undefined;
  // Where there is no page: what it would listen to.
  if (!browser) for (const topic of ["traffic/mqtt", "view/mqtt"] as const) control.subscribe(topic, () => {});
  const service = backlot.servicePid();
  const all = () => processTree(backlot.pid);
  const memory = () => ({ service: memoryOf([service]).residentMebibytes, all: memoryOf(all()) });
  try {
    await sleep(2_000);
    const idle = memory();
    progress(`${count(messagesPerSecond)} messages a second on ${count(topics)} topics for ${seconds} s ...`);
    const cpuBefore = cpuSeconds([service]);
    const load = startProcess({
      command: process.execPath,
      args: [
        `${import.meta.dirname}/load/paced-publishes.ts`,
        ...[new URL(backlot.url).port, messagesPerSecond, connections, topics, seconds].map(String),
      ],
    });
    let output = "";
    load.child.stdout?.on("data", (chunk: Buffer) => {
      output += chunk;
    });
    const asked = await askUntil(control, load.ended);
    const busy = memory();
    const cpu = cpuSeconds([service]) - cpuBefore;
    const sent = JSON.parse(output) as PublishFigures;
    await sleep(restMs);
    const rested = memory();
    const figures = await act(control, "topic.children", {});
    const rows = [
      ["idle", idle],
      [`with ${count(topics)} topics, at the end of the load`, busy],
      [`after ${restMs / 1_000} s of rest`, rested],
    ] as const;
    const resident = busy.all.residentMebibytes;
    const slowest = Math.max(...Object.keys(questions).map((name) => median(asked.get(name) ?? [])));
    return [
      `The page is ${browser ? `Chromium ${browser.version().split(".", 1)[0]}, headless, on the MQTT Live page` : "a client of the control protocol without a page"}.`,
      markdownTable(
        ["memory, MiB", "MQTT service", "both processes", "both, shared pages in parts"],
        rows.map(([name, { service: one, all: both }]) => [name, ...[one, both.residentMebibytes, both.proportionalMebibytes].map(figure)]),
      ),
      markdownTable(
        ["a page of the tree, read over the control socket", "median ms", "p95 ms"],
        [...asked].map(([name, times]) => [name, figure(median(times)), figure(percentile(times, 0.95))]),
      ),
      `Both processes take ${figure(resident)} MiB (target: under ${targets.residentMebibytes}, ${verdict(resident < targets.residentMebibytes)}); the slowest of the levels' pages comes in ${figure(slowest)} ms (median) (target: under ${targets.childrenMs}, ${verdict(slowest < targets.childrenMs)}). The service took ${figure((cpu / sent.seconds) * 100)} % of a core.`,
      `${count(sent.sent)} messages in ${figure(sent.seconds)} s on ${connections} connections; the tree's top then had ${count(figures.nodes.reduce((sum, node) => sum + node.count, 0))}. The generator's clock was ${figure(sent.latestTickMs)} ms late at worst. ${otherLoad()}`,
    ].join("\n\n");
  } finally {
    await browser?.close();
    control.close();
    await backlot.stop();
  }
}

/** Milliseconds of the answers, by question; the first half, in which the topics come, does not count. */
async function askUntil(control: ControlSocket, ended: Promise<unknown>): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const time = async (name: string, ask: () => Promise<unknown>) => {
    const askedAt = performance.now();
    await ask();
    times.set(name, [...(times.get(name) ?? []), performance.now() - askedAt]);
  };
  while (!isOver) {
    for (const [name, params] of Object.entries(questions)) await time(name, () => act(control, "topic.children", params));
    await time("a search of all topics", () => act(control, "topic.search", { filter: "sensor/77", limit: 100 }));
    await sleep(500);
  }
  return new Map([...times].map(([name, all]) => [name, all.slice(Math.floor(all.length / 2))]));
}

async function act<Name extends keyof MqttActions>(
  control: ControlSocket,
  action: Name,
  params: ParamsOf<MqttActions[Name]>,
): Promise<ResultOf<MqttActions[Name]>> {
  return (await control.call("service.action", { id: "mqtt", action, params })) as ResultOf<MqttActions[Name]>;
}
