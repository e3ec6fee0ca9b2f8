import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ForkOptions } from "electron";
import { CoveredEmitter, coverOptions, strict } from "./strict.ts";

const parentPort = fileURLToPath(new URL("parent-port.ts", import.meta.url));

class UtilityProcess extends CoveredEmitter {
  readonly stdout: ChildProcess["stdout"];
  readonly stderr: ChildProcess["stderr"];
  private readonly child: ChildProcess;
  private spawned = false;

  constructor(child: ChildProcess) {
    super("UtilityProcess", ["spawn", "message", "exit"]);
    this.child = child;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    child.once("spawn", () => {
      this.spawned = true;
      this.emit("spawn");
    });
    child.on("message", (message) => this.emit("message", message));
    child.once("exit", (code) => this.emit("exit", code ?? 1));
  }

  get pid(): number | undefined {
    return this.spawned && this.child.exitCode === null && this.child.signalCode === null ? this.child.pid : undefined;
  }
  postMessage(message: object): void {
    if (this.child.connected) this.child.send(message, () => {});
  }
  kill(): boolean {
    return this.child.kill("SIGTERM");
  }
}

/** Children of Node that find the process.parentPort that Electron gives to its own. */
export const createUtilityProcess = (isReady: () => boolean) =>
  strict("utilityProcess", {
    fork(file: string, args: string[], options: ForkOptions) {
      if (!isReady()) throw new Error("utilityProcess cannot be created before app is ready");
      coverOptions("ForkOptions", options, ["stdio", "serviceName", "execArgv", "env"]);
      if (options.stdio !== "pipe") throw new Error('The electron double covers stdio: "pipe" only');
      const child = fork(file, args, {
        stdio: ["ignore", "pipe", "pipe", "ipc"],
        serialization: "advanced",
        env: { ...options.env },
        execArgv: [...(options.execArgv ?? []), "--import", parentPort],
      });
      return strict("UtilityProcess", new UtilityProcess(child));
    },
  });
