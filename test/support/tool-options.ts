import { type ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The options of a developer's tool. Prints its usage and ends the process for `--help` (status 0) and what it does not know (status 2). */
export function toolOptions<const T extends Options>(usage: string, options: T) {
  try {
    if (!process.argv.includes("--help")) return parseArgs({ options }).values;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}
