import { Worker } from "node:worker_threads";
import { workerFile } from "../../core/files/asset-file.ts";
import type { CompileJob, CompileResult } from "./compile-job.ts";

/** Of 100,000 types it takes some seconds, on a busy machine several times as long. */
const longestMs = 120_000;
const mostMebibytes = 1_024;
/** After this time the worker ends. */
const idleMs = 5_000;

interface Waiting {
  resolve(result: CompileResult): void;
  reject(error: Error): void;
}

/** Compiles in a worker, one job at a time. */
export class CompileWorkerClient {
  #worker: Worker | undefined;
  #waiting: Waiting | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Rejects with a reason for the user if it takes too long or too much memory, or is closed. */
  compile(job: CompileJob): Promise<CompileResult> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#waiting = { resolve, reject };
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#end(`it takes longer than ${longestMs / 1_000} s`), longestMs);
      this.#worker.postMessage(job);
    });
  }

  close(): Promise<void> {
    return this.#end("the service is stopping");
  }

  #start(): Worker {
    const worker = new Worker(workerFile("grpc", "compile-worker"), { resourceLimits: { maxOldGenerationSizeMb: mostMebibytes } });
    worker.on("message", (result: CompileResult) => {
      this.#waiting?.resolve(result);
      this.#waiting = undefined;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#end("idle"), idleMs);
    });
    worker.on("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "it takes too much memory" : error.message;
      if (this.#worker === worker) void this.#end(reason);
    });
    return worker;
  }

  async #end(reason: string): Promise<void> {
    const worker = this.#worker;
    const waiting = this.#waiting;
    this.#worker = undefined;
    this.#waiting = undefined;
    clearTimeout(this.#timer);
    await worker?.terminate();
    waiting?.reject(new Error(reason));
  }
}
