import { parseArgs } from "node:util";

export const benchNames = ["http", "sse", "dashboard", "events", "account", "mqtt", "mqtt-tree", "memory"] as const;
export type BenchName = (typeof benchNames)[number];

export interface BenchOptions {
  readonly name: BenchName;
  /** Undefined leaves the number to the benchmark. */
  readonly rounds: number | undefined;
  /** Length of one run; undefined leaves it to the benchmark. */
  readonly seconds: number | undefined;
  /** Short runs that show the tool works; their figures mean little. */
  readonly quick: boolean;
  /** Put the tables into bench/README.md as well. */
  readonly write: boolean;
}

export const usage = `Usage: npm run bench -- ${benchNames.join("|")} [--rounds N] [--seconds N] [--quick] [--write]

  http       CPU per request beside node:http, Express and httpbin
  sse        1,000 clients with 10 events a second each, beside two plain servers
  dashboard  5,000 requests a second with a dashboard open: losses, memory, time to stop
  events     CPU of a durable POST beside plain servers; reading 100 thousand to 10 million events
  account    CPU of a Bearer and a Basic call beside Express without and with a check of the token
  mqtt       messages per CPU second beside mosquitto and Aedes; connects, memory, a client that stops reading
  mqtt-tree  100,000 topics and 5,000 messages a second with the page open: memory, and how quick the tree is
  memory     all processes with four services, idle and over ten minutes of mixed load

  --rounds N   how often each measurement is repeated
  --seconds N  length of one run
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
      quick: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const [asked, ...rest] = positionals;
  const name = benchNames.find((known) => known === asked);
  if (!name) throw new Error(asked === undefined ? "Which benchmark?" : `There is no benchmark "${asked}".`);
  if (rest.length > 0) throw new Error(`One benchmark at a time: "${rest.join(" ")}" is too much.`);
  return {
    name,
    rounds: wholeNumber("rounds", values.rounds),
    seconds: wholeNumber("seconds", values.seconds),
    quick: values.quick,
    write: values.write,
  };
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`--${name} takes a whole number from 1 on, not "${text}".`);
  return Number(text);
}
