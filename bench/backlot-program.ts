import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type StartedProcess, startProcess } from "./harness.ts";
import { commandLineOf, processTree } from "./process-tree.ts";

export interface BacklotProgram extends StartedProcess {
  /** Of the first service's first port: "http://127.0.0.1:8080". */
  readonly url: string;
  urlOf(service: BenchService): string;
  /** With the token. */
  readonly dashboardUrl: string;
  /** A service's process, the first one's where none is named; it changes with each start of the service. */
  servicePid(service?: BenchService): number;
}

const entry = path.resolve(import.meta.dirname, "../dist/servers/backlot.cjs");

export type BenchService = "http" | "account" | "mqtt" | "events" | "grpc" | "rtsp" | "webrtc";

export interface BacklotOptions {
  readonly services: readonly [BenchService, ...BenchService[]];
  /** Of the first service; the others get any free one. */
  readonly port?: number;
  /** More of the command line. */
  readonly flags?: readonly string[];
  readonly core?: number;
}

/** The built program as CI runs it: headless, recorder and request log on, its log going to a file. */
export async function startBacklot({ services, port = 0, flags = [], core }: BacklotOptions): Promise<BacklotProgram> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-bench-"));
  const logFile = path.join(folder, "stderr.log");
  const log = openSync(logFile, "w");
  const running = startProcess({
    command: process.execPath,
    args: [
      // As `npm start` runs it.
      "--max-semi-space-size=4",
      "--heap-growing-percent=50",
      "--expose-gc",
      entry,
      ...["--headless", "--json", "--only", services.join(",")],
      ...services.flatMap((service, index) => [`--${service}-port`, String(index === 0 ? port : 0)]),
      ...["--dashboard-port", "0", "--data-dir", path.join(folder, "data")],
      ...flags,
    ],
    ...(core !== undefined && { core }),
    stderr: log,
    env: { LOG_LEVEL: "info" },
    folder,
  });
  closeSync(log);
  const errorText = () => readFileSync(logFile, "utf8").slice(-4_000);

  const urls = new Map<string, string>();
  const dashboardUrl = await new Promise<string>((resolve, reject) => {
    createInterface({ input: running.child.stdout! }).on("line", (line) => {
      const said = JSON.parse(line) as { type: string; service?: string; dashboard?: string; endpoints?: { url: string }[] };
      const url = said.endpoints?.[0]?.url;
      if (said.service && url) urls.set(said.service, url.replace(/\/$/, ""));
      if (said.type === "ready" && said.dashboard) resolve(said.dashboard);
    });
    running.child.once("exit", (code) => reject(new Error(`Backlot ended with code ${code}: ${errorText()}`)));
  });
  function urlOf(service: BenchService): string {
    const url = urls.get(service);
    if (!url) throw new Error(`The ${service} service did not start: ${errorText()}`);
    return url;
  }
  return {
    ...running,
    errorText,
    url: urlOf(services[0]),
    urlOf,
    dashboardUrl,
    servicePid(service = services[0]) {
      const pid = processTree(running.pid).find(
        (one) => commandLineOf(one).endsWith(` ${service}`) && commandLineOf(one).includes("service-process"),
      );
      if (pid === undefined) throw new Error(`The ${service} service has no process.`);
      return pid;
    },
  };
}
