/** Entry as `servers/backlot.ts`, over the fixture services of the supervisor's tests. */
import path from "node:path";
import { parseCommandLine } from "../../servers/command-line.ts";
import { createConsoleOutput } from "../../servers/console-output.ts";
import { runBacklot } from "../../servers/run-backlot.ts";
import { nodeSpawner } from "../../servers/supervisor/spawner.ts";
import { fixtureServices } from "../supervisor/fixture-service.ts";

const commandLine = parseCommandLine(process.argv.slice(2), fixtureServices);
const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => ending.abort());
process.exit(
  await runBacklot({
    commandLine,
    services: fixtureServices,
    spawner: nodeSpawner(path.join(import.meta.dirname, "../supervisor/fixture-process.ts")),
    version: "0.0.0",
    environment: process.env,
    dashboardDir: process.env.FIXTURE_DASHBOARD ?? "",
    output: createConsoleOutput({ json: commandLine.json, stdout: process.stdout, stderr: process.stderr }),
    signal: ending.signal,
    timing: { firstBackOffMs: 10, stopTimeoutMs: 500 },
  }),
);
