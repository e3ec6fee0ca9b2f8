/** Measurements of Backlot beside its peers: `npm run bench -- NAME`; method and results are in README.md. */
import { type BenchOptions, parseBenchOptions, usage } from "./bench-options.ts";
import { benches } from "./benches.ts";
import { hasProc, machineLine, releaseAll } from "./harness.ts";
import { writeResults } from "./results-file.ts";

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
  const results = `${await benches[options.name].run(options)}\n\n${machineLine()}\n`;
  process.stdout.write(`\n${results}`);
  if (options.write) writeResults(options.rate === undefined ? options.name : `${options.name}-${options.rate}`, results);
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
