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

/** What the system, Node and its TLS need; on Windows names are in any case. */
const inherited: ReadonlySet<string> = new Set(
  (
    "PATH HOME USER LOGNAME USERNAME LANG LANGUAGE TZ TMPDIR TMP TEMP XDG_RUNTIME_DIR LD_LIBRARY_PATH __CF_USER_TEXT_ENCODING " +
    "NODE_ENV NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE SSL_CERT_FILE SSL_CERT_DIR UV_THREADPOOL_SIZE " +
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA USERPROFILE HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS"
  ).split(" "),
);

/** Services get their configuration by a message: tokens and passwords in the user's environment are none of theirs. */
export const serviceEnvironment = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && (inherited.has(entry[0].toUpperCase()) || entry[0].startsWith("LC_")),
    ),
  );

/**
 * How V8 collects garbage in a service's process. Each option was chosen by a benchmark.
 * - Young generation: semi-spaces of 16 MB. If requests and messages in flight do not fit in less, they are promoted to the old
 *   generation, however short they live.
 * - Old generation: collected when it has grown by half. By default it may grow to four times its live size; with 1.5 times, MQTT with
 *   100,000 topics takes a third less memory at the same CPU.
 * - The young generation is collected by one thread: helper threads would compete with the other services. The old generation is marked, swept
 *   and compacted by helper threads too: with 300 MB alive, one thread alone made everybody wait for 100 ms and more.
 * - No pretenuring: if objects of one allocation site once survived (messages in flight to 100 clients), V8 would keep allocating
 *   there in the old generation; the broker then spent half its CPU on collections.
 * - `collectAtRest` needs the exposed collector.
 */
export const serviceNodeOptions: readonly string[] = [
  "--max-semi-space-size=16",
  "--heap-growing-percent=50",
  "--no-parallel-scavenge",
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
      env: serviceEnvironment(process.env),
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
