import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { UtilityProcess, utilityProcess } from "electron";
import type { FromService } from "../servers/core/service/link.ts";
import { type Spawner, serviceEnvironment, serviceNodeOptions } from "../servers/supervisor/spawner.ts";

/** How long an ended process's last output may take to arrive. */
const lastOutputMs = 200;

/** `entry` is the built `service-process` module, in the app's archive or beside it. */
export const createUtilitySpawner =
  (fork: typeof utilityProcess.fork, entry: string): Spawner =>
  (service) => {
    const child = fork(entry, [service], {
      stdio: "pipe",
      serviceName: `backlot-${service}`,
      execArgv: [...serviceNodeOptions],
      env: serviceEnvironment(process.env),
    });
    const outputs = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const outputEnded = Promise.all(outputs.map((stream) => once(stream, "end")));
    let ended = false;
    return {
      get pid() {
        return ended ? undefined : child.pid;
      },
      post: (message) => {
        if (!ended) child.postMessage(message);
      },
      onMessage: (listener) => child.on("message", (message) => listener(message as FromService)),
      onOutput: (listener) => {
        for (const stream of outputs) stream.setEncoding("utf8").on("data", listener);
      },
      onExit: (listener) => {
        child.once("exit", (code) => {
          ended = true;
          void Promise.race([outputEnded, delay(lastOutputMs)]).then(
            () => listener(code),
            () => listener(code),
          );
        });
      },
      kill: () => kill(child),
    };
  };

/** UtilityProcess.kill sends SIGTERM, which a process in an endless loop never handles. */
function kill(child: UtilityProcess): void {
  if (child.pid === undefined) {
    child.kill();
    return;
  }
  try {
    process.kill(child.pid, "SIGKILL");
  } catch {
    // It has ended in the meantime.
  }
}
