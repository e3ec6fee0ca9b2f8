/** Entry of Backlot without Electron: the browser shell, and the headless one. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import packageJson from "../package.json" with { type: "json" };
import { services } from "./catalog.ts";
import { helpText, parseCommandLine } from "./command-line.ts";
import { createConsoleOutput, keepFromBlocking, readToEnd } from "./console-output.ts";
import { collectAtRest, garbageCollector } from "./core/service/collect-at-rest.ts";
import { toFailure } from "./core/service/service-error.ts";
import { dataDirOf } from "./create-run.ts";
import { openBrowser } from "./open-browser.ts";
import { runBacklot } from "./run-backlot.ts";
import { nodeSpawner } from "./supervisor/spawner.ts";

async function main(argv: readonly string[]): Promise<number> {
  const commandLine = parseCommandLine(argv, services);
  if (commandLine.help) {
    process.stdout.write(helpText(services));
    return 0;
  }
  if (commandLine.version) {
    process.stdout.write(`${packageJson.version}\n`);
    return 0;
  }
  const collect = garbageCollector();
  if (collect) collectAtRest({ collect });
  const output = createConsoleOutput({ json: commandLine.json, stdout: process.stdout, stderr: process.stderr });
  const here = path.dirname(fileURLToPath(import.meta.url));
  const ending = endOnSignals();
  const opensBrowser = commandLine.shell === "browser" && hasDisplay();
  let opening: Promise<() => Promise<void>> | undefined;
  const code = await runBacklot({
    commandLine,
    spawner: nodeSpawner(path.join(here, `service-process${path.extname(fileURLToPath(import.meta.url))}`)),
    version: packageJson.version,
    environment: process.env,
    // Run from source, the built dashboard is in dist; built, it is beside us.
    dashboardDir: path.resolve(here, import.meta.url.endsWith(".ts") ? "../dist/renderer" : "../renderer"),
    output: {
      ...output,
      ready(dashboard, failed) {
        output.ready(dashboard, failed);
        if (opensBrowser) opening = openBrowser(dashboard, dataDirOf({ commandLine, environment: process.env }));
      },
    },
    signal: AbortSignal.any([ending, unwritable.signal]),
  });
  const removePage = await opening;
  await removePage?.();
  return code;
}

/** The first signal stops everything in order; a further one, a second or more later, exits at once. */
function endOnSignals(): AbortSignal {
  const ending = new AbortController();
  let askedAt = 0;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      // One Ctrl+C arrives several times: from the terminal, from npm and from the launcher.
      if (ending.signal.aborted && performance.now() - askedAt > 1_000) process.exit(130);
      if (!ending.signal.aborted) askedAt = performance.now();
      ending.abort();
    });
  }
  return ending.signal;
}

const hasDisplay = () => process.platform !== "linux" || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);

const outputs = [process.stdout, process.stderr];
/** Aborted when the JSON lines are lost. */
const unwritable = new AbortController();
for (const stream of outputs) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // A closed stdout (EPIPE) must not end the services: nobody waits for its lines. A full disk's reader does.
    if (stream !== process.stdout || error.code === "EPIPE" || !process.argv.includes("--json") || unwritable.signal.aborted) return;
    process.stderr.write(`The JSON lines cannot be written to stdout: ${error.message}\n`);
    unwritable.abort();
  });
  keepFromBlocking(stream);
}

async function exit(code: number): Promise<never> {
  await readToEnd(outputs);
  process.exit(code);
}

main(process.argv.slice(2)).then(
  (code) => exit(code === 0 && unwritable.signal.aborted ? 1 : code),
  (error) => {
    const failure = toFailure(error);
    const { code } = failure;
    // Wrong arguments were not parsed: whoever reads JSON lines gets one.
    const json = process.argv.includes("--json");
    createConsoleOutput({ json, stdout: process.stdout, stderr: process.stderr }).failed(failure);
    if (code === "INTERNAL" && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return exit(code === "USAGE" || code.startsWith("SERVICE_") ? 2 : 1);
  },
);
