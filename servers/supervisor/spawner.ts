import { fork } from "node:child_process";
import type { ServiceId } from "../../contract/service.ts";
import type { FromService, ToService } from "../core/service/link.ts";

/** A service's process, whatever made it. */
export interface ServiceProcess {
  /** Undefined until it is spawned and after it ended. */
  readonly pid: number | undefined;
  post(message: ToService): void;
  onMessage(listener: (message: FromService) => void): void;
  /** Output on stdout or stderr. */
  onOutput(listener: (text: string) => void): void;
  /** Called once with the exit code, or null after a signal. */
  onExit(listener: (code: number | null) => void): void;
  /** Ends it without asking (SIGKILL). */
  kill(): void;
}

/** child_process.fork, or Electron's utilityProcess.fork. */
export type Spawner = (service: ServiceId) => ServiceProcess;

/**
 * V8's young generation grows to 3 × 32 MB under load and is never given back; with 4 MB semi-spaces a busy service took 40 %
 * less memory for the same CPU. 8 MB, since what is on its way to 100 clients of MQTT with QoS 1 did not always fit in less
 * (1.4 or 2.5 million messages per CPU second, by chance). The old one may grow to four times what lives in it before it is cleaned;
 * at half as much again MQTT with 100,000 topics and the supervisor take a third less, for the same CPU.
 * Where objects once lived long (messages on their way to 100 clients), V8 goes on making new ones of their kind in the old
 * generation, however short they live: after such a time the broker spent half its CPU on collecting them. The collector
 * is there for `collectAtRest`.
 */
export const serviceNodeOptions: readonly string[] = [
  "--max-semi-space-size=8",
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
        // "close" follows the last of its output; "error" is a process that could not be made.
        child.once("close", notify);
        child.once("error", () => notify(null));
      },
      kill: () => void child.kill("SIGKILL"),
    };
  };
