import { parseArgs } from "node:util";
import { type BenchName, benches, benchNames } from "./benches.ts";

export interface BenchOptions {
  readonly name: BenchName;
  /** Undefined leaves the number to the benchmark. */
  readonly rounds: number | undefined;
  /** Length of one run; undefined leaves it to the benchmark. */
  readonly seconds: number | undefined;
  /** Of a benchmark under a paced load: requests a second; undefined leaves it to the benchmark. */
  readonly rate: number | undefined;
  /** Short runs that show the tool works; their figures mean little. */
  readonly quick: boolean;
  /** Put the tables into bench/README.md as well; of a `rate`, into a section of its own. */
  readonly write: boolean;
}

export const usage = `Usage: npm run bench -- ${benchNames.join("|")} [--rounds N] [--seconds N] [--rate N] [--quick] [--write]

${benchNames.map((name) => `  ${name.padEnd(10)} ${benches[name].summary}`).join("\n")}

  --rounds N   how often each measurement is repeated
  --seconds N  length of one run
  --rate N     requests a second of the load on the dashboard (README.md has a section for 20000)
  --quick      short runs, to see that it works
  --write      put the results into bench/README.md
`;

/** Throws an Error whose message is meant for the user. */
export function parseBenchOptions(argv: readonly string[]): BenchOptions | "help" {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      seconds: { type: "string" },
      rate: { type: "string" },
      quick: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const [asked, ...rest] = positionals;
  const name = benchNames.find((known) => known === asked);
  if (!name) throw new Error(asked === undefined ? "Which benchmark?" : `There is no benchmark "${asked}".`);
  if (rest.length > 0) throw new Error(`Only one benchmark at a time: unexpected "${rest.join(" ")}".`);
  return {
    name,
    rounds: wholeNumber("rounds", values.rounds),
    seconds: wholeNumber("seconds", values.seconds),
    rate: wholeNumber("rate", values.rate),
    quick: values.quick,
    write: values.write,
  };
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`--${name} needs a whole number of 1 or more, not "${text}".`);
  return Number(text);
}
