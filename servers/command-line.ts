import { parseArgs } from "node:util";
import { type ServiceId, serviceIds } from "../contract/service.ts";
import { checkFlags, configProperties, environmentNames, flagName } from "./core/config/config.ts";
import type { Service } from "./core/service/service.ts";
import { ServiceError, toFailure } from "./core/service/service-error.ts";

/** The parsed command line. */
export interface CommandLine {
  /** "auto": the window if possible, else the dashboard at a URL. */
  readonly shell: "auto" | "desktop" | "browser" | "headless";
  /** Services to start; empty leaves that to the settings and the user. */
  readonly start: readonly ServiceId[];
  /** `start` was given by name: one that cannot start ends a headless run. */
  readonly only: boolean;
  readonly dataDir: string | undefined;
  /** Undefined: 7070, or the next free one. */
  readonly dashboardPort: number | undefined;
  /** Connections to the dashboard that have shown no token. Undefined: 256. */
  readonly dashboardConnections: number | undefined;
  /** MiB that all dashboards leave unread together. Undefined: 128. */
  readonly dashboardUnread: number | undefined;
  /** Of the settings, for this run. */
  readonly profile: string | undefined;
  /** Where the recorded traffic is written at the end. */
  readonly record: string | undefined;
  readonly json: boolean;
  readonly help: boolean;
  readonly version: boolean;
  /** Values of configuration fields as text. */
  readonly flags: Readonly<Partial<Record<ServiceId, Readonly<Record<string, string>>>>>;
}

const programFlags = {
  desktop: { type: "boolean", help: "Open the desktop window, or say why it cannot be opened" },
  browser: { type: "boolean", help: "Serve the dashboard and open it in the system's browser" },
  headless: { type: "boolean", help: "Serve without opening anything: for CI and servers" },
  only: { type: "string", argument: "IDS", help: "Start these services, for example http,mqtt" },
  "start-all": { type: "boolean", help: "Start every service; one that fails does not end the others" },
  "data-dir": { type: "string", argument: "DIR", help: "Where settings and data are kept" },
  profile: { type: "string", argument: "NAME", help: "Use this profile of the settings, for this run" },
  "dashboard-port": {
    type: "string",
    argument: "N",
    help: "Port of the dashboard (7070), at a URL instead of in a window; 0 picks a free one",
  },
  "dashboard-connections": {
    type: "string",
    argument: "N",
    help: "Most connections to the dashboard's port without its token (256), at a URL instead of in a window",
  },
  "dashboard-unread": {
    type: "string",
    argument: "MIB",
    help: "Most MiB that all open dashboards leave unread together (128), at a URL instead of in a window",
  },
  record: {
    type: "string",
    argument: "DIR",
    help: "Write each service's recorded traffic there at the end, as JSON Lines and HAR; without a window",
  },
  json: { type: "boolean", help: "One JSON object a line on stdout; all else on stderr" },
  help: { type: "boolean", help: "Show this text" },
  version: { type: "boolean", help: "Show the version" },
} as const;

/** Parses the arguments after the program's name. Throws USAGE, also for a wrong value of a service that is not started. */
export function parseCommandLine(argv: readonly string[], services: readonly Service[]): CommandLine {
  const serviceFlags = services.flatMap((service) =>
    configProperties(service).map(([field, property]) => ({
      service,
      field,
      boolean: property.type === "boolean",
      flag: flagName(service, field).slice(2),
    })),
  );
  let values: Record<string, string | boolean | readonly string[] | undefined>;
  try {
    ({ values } = parseArgs({
      args: withBooleanValues(
        argv,
        serviceFlags.flatMap(({ boolean, flag }) => (boolean ? [flag] : [])),
      ),
      options: {
        ...Object.fromEntries(Object.entries(programFlags).map(([name, { type }]) => [name, { type, multiple: name === "only" }])),
        ...Object.fromEntries(serviceFlags.map(({ flag }) => [flag, { type: "string" as const }])),
      },
      strict: true,
      allowPositionals: false,
    }) as { values: typeof values });
  } catch (cause) {
    throw usage(parseProblem((cause as Error).message), cause);
  }
  const text = (name: string) => (typeof values[name] === "string" ? values[name] : undefined);
  const parseCount = (name: string, least: number, most: number): number | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    const count = Number(given);
    if (!/^\d+$/.test(given) || count < least || count > most) throw usage(`--${name} takes ${least} to ${most}, not "${given}"`);
    return count;
  };

  const shells = (["desktop", "browser", "headless"] as const).filter((name) => values[name] === true);
  if (shells.length > 1) throw usage(`--${shells.join(" and --")} exclude each other`);
  const notDesktop = (["json", "dashboard-port", "dashboard-connections", "dashboard-unread", "record"] as const).find(
    (name) => values[name] !== undefined,
  );
  if (shells[0] === "desktop" && notDesktop) throw usage(`--desktop and --${notDesktop} exclude each other`);
  const only = (values.only as readonly string[] | undefined)?.join(",");
  if (only !== undefined && values["start-all"]) throw usage("--only and --start-all exclude each other");

  // As of a variable that is not set: the folder would be the one that Backlot was started in.
  if (text("profile") === "") throw usage("--profile names no profile");
  for (const name of ["data-dir", "record"]) if (text(name) === "") throw usage(`--${name} names no folder`);

  const flags: Partial<Record<ServiceId, Record<string, string>>> = {};
  for (const { service, field, flag } of serviceFlags) {
    const value = text(flag);
    if (value !== undefined) flags[service.id] = { ...flags[service.id], [field]: value };
  }
  for (const service of services) {
    try {
      checkFlags(service, flags[service.id] ?? {});
    } catch (error) {
      throw usage(toFailure(error).message, error);
    }
  }
  return {
    shell: shells[0] ?? "auto",
    start: values["start-all"] ? services.map(({ id }) => id) : only === undefined ? [] : parseIds(only, services),
    only: only !== undefined,
    dataDir: text("data-dir"),
    dashboardPort: parseCount("dashboard-port", 0, 65_535),
    dashboardConnections: parseCount("dashboard-connections", 1, 100_000),
    dashboardUnread: parseCount("dashboard-unread", 1, 100_000),
    profile: text("profile"),
    record: text("record"),
    json: values.json === true,
    help: values.help === true,
    version: values.version === true,
    flags,
  };
}

/** Of a message of `parseArgs`, what was wrong, in one line. */
function parseProblem(message: string): string {
  const ambiguous = /^Option '(--[\w-]+)' argument is ambiguous/.exec(message)?.[1];
  if (ambiguous) return `${ambiguous} has no value; one that begins with a dash is written ${ambiguous}=-1`;
  return message.split(". ")[0] ?? "unknown option";
}

/** `--http-open-to-lan` alone means true: a boolean field takes its value only after "=" or as true/false. */
function withBooleanValues(argv: readonly string[], booleans: readonly string[]): string[] {
  return argv.map((argument, index) => {
    const next = argv[index + 1]?.toLowerCase();
    const hasValue = next !== undefined && /^(true|false|1|0|yes|no|on|off)$/.test(next);
    return booleans.includes(argument.slice(2)) && !hasValue ? `${argument}=true` : argument;
  });
}

function parseIds(text: string, services: readonly Service[]): ServiceId[] {
  const names = text
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  if (names.length === 0) throw usage("--only names no service");
  return [...new Set(names)].map((name) => {
    const id = serviceIds.find((candidate) => candidate === name);
    if (!id)
      throw new ServiceError(
        "SERVICE_UNKNOWN",
        `There is no service "${name}"`,
        `The services are ${services.map((service) => service.id).join(", ")}.`,
      );
    if (!services.some((service) => service.id === id)) {
      throw new ServiceError(
        "SERVICE_NOT_BUILT",
        `${id} is not in this version of Backlot yet`,
        `The services are ${services.map((service) => service.id).join(", ")}.`,
      );
    }
    return id;
  });
}

const usage = (problem: string, cause?: unknown) => new ServiceError("USAGE", problem, "See npm start -- --help.", { cause });

/** The help text, in which every field of every service has its flag and variables. */
export function helpText(services: readonly Service[]): string {
  const row = (left: string, right: string) => `  ${left.padEnd(34)} ${right}`;
  const lines = ["Backlot: stand-in backends that show their traffic live.", "", "Usage: npm start -- [options]", ""];
  for (const [name, flag] of Object.entries(programFlags)) {
    lines.push(row(`--${name}${"argument" in flag ? ` ${flag.argument}` : ""}`, flag.help));
  }
  for (const service of services) {
    lines.push("", `${service.title} (default < settings < environment < flag)`);
    for (const [field, property] of configProperties(service)) {
      const variables = environmentNames(service, property).join(", ");
      const fallback = property.default === undefined ? "" : ` [${[property.default].flat().join(",")}]`;
      lines.push(row(`${flagName(service, field)} ${variables ? `(${variables})` : ""}`, `${property.title ?? field}${fallback}`));
    }
  }
  lines.push(
    "",
    "Exit codes without a window:",
    row("0", "Ended by SIGINT or SIGTERM (npm itself ends with the code of the signal that it gets)"),
    row(
      "1",
      "A service named by --only could not start (headless), or one of --start-all is failed at the end, or --record cannot be written",
    ),
    row("2", "Wrong arguments"),
    '  With --json the last line of a run that ends with another code than 0 is {"type":"failed",…}.',
  );
  return `${lines.join("\n")}\n`;
}
