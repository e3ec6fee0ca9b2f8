/** Measurements of Backlot beside its peers: `npm run bench -- http|sse|dashboard|events|account|mqtt|mqtt-tree|memory`; method and results are in README.md. */
import { accountBench } from "./account-bench.ts";
import { type BenchName, type BenchOptions, parseBenchOptions, usage } from "./bench-options.ts";
import { dashboardBench } from "./dashboard-bench.ts";
import { eventsBench } from "./events-bench.ts";
import { hasProc, machineLine, releaseAll } from "./harness.ts";
import { httpBench } from "./http-bench.ts";
import { memoryBench } from "./memory-bench.ts";
import { mqttBench } from "./mqtt-bench.ts";
import { mqttTreeBench } from "./mqtt-tree-bench.ts";
import { writeResults } from "./results-file.ts";
import { sseBench } from "./sse-bench.ts";

/** Each resolves with its results as Markdown. */
const benches: Readonly<Record<BenchName, (options: BenchOptions) => Promise<string>>> = {
  http: httpBench,
  sse: sseBench,
  dashboard: dashboardBench,
  events: eventsBench,
  account: accountBench,
  mqtt: mqttBench,
  "mqtt-tree": mqttTreeBench,
  memory: memoryBench,
};

async function main(argv: readonly string[]): Promise<number> {
  let options: BenchOptions | "help";
  try {
    options = parseBenchOptions(argv);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (options === "help") {
    process.stdout.write(usage);
    return 0;
  }
  if (!hasProc()) {
    process.stderr.write("The benchmarks read CPU time and memory from /proc: they run on Linux only.\n");
    return 1;
  }
  const results = `${await benches[options.name](options)}\n\n${machineLine()}\n`;
  process.stdout.write(`\n${results}`);
  if (options.write) writeResults(options.name, results);
  return 0;
}

process.once("exit", releaseAll);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
