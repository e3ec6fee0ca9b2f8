import { fork } from "node:child_process";
import type { ServiceId } from "../../contract/service.ts";
import type { FromService, ToService } from "../core/service/link.ts";

/** A service's process, independent of how it was spawned. */
export interface ServiceProcess {
  /** Undefined until it is spawned and after it ended. */
  readonly pid: number | undefined;
  post(message: ToService): void;
  onMessage(listener: (message: FromService) => void): void;
  /** Output on stdout or stderr. */
  onOutput(listener: (text: string) => void): void;
  /** Called once with the exit code, or null after a signal. */
  onExit(listener: (code: number | null) => void): void;
  /** Kills it (SIGKILL). */
  kill(): void;
}

/** child_process.fork, or Electron's utilityProcess.fork. */
export type Spawner = (service: ServiceId) => ServiceProcess;

/**
 * By default V8's young generation grows to 3 × 32 MB under load and never shrinks; with semi-spaces of 4 MB a busy service took
 * 40 % less memory at the same CPU. 8 MB, because MQTT messages in flight to 100 clients with QoS 1 did not always fit in less (1.4
 * or 2.5 million messages per CPU second, at random). The old generation may by default grow to four times its live size before a
 * collection; with 1.5 times, MQTT with 100,000 topics and the supervisor take a third less, at the same CPU.
 * If objects of one allocation site once survived (messages in flight to 100 clients), V8 keeps allocating there in the old
 * generation, even when objects are short-lived again; the broker then spent half its CPU on collections. `collectAtRest` needs
 * the exposed collector.
 */
export const serviceNodeOptions: readonly string[] = [
  "--max-semi-space-size=16",
  "--heap-growing-percent=50",
  "--no-allocation-site-pretenuring",
  "--expose-gc",
];

/** `entry` is the built or source `service-process` module. */
export const nodeSpawner =
  (entry: string): Spawner =>
  (service) => {
    const child = fork(entry, [service], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      serialization: "advanced",
      execArgv: [...process.execArgv, ...serviceNodeOptions],
    });
    return {
      get pid() {
        return child.exitCode === null && child.signalCode === null ? child.pid : undefined;
      },
      post: (message) => {
        if (child.connected) child.send(message, () => {});
      },
      onMessage: (listener) => child.on("message", (message) => listener(message as FromService)),
      onOutput: (listener) => {
        for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", listener);
      },
      onExit: (listener) => {
        let ended = false;
        const notify = (code: number | null) => {
          if (!ended) listener(code);
          ended = true;
        };
        // "close" is emitted after all output; "error" if the process could not be spawned.
        child.once("close", notify);
        child.once("error", () => notify(null));
      },
      kill: () => void child.kill("SIGKILL"),
    };
  };
