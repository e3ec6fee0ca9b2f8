/** A worker that compiles the user's protocol files, so that calls go on meanwhile. */
import { parentPort } from "node:worker_threads";
import { loadOwnProtos } from "./protos/own-protos.ts";
import type { CompileJob } from "./user-protos/compile-job.ts";
import { compileSources } from "./user-protos/compile-sources.ts";

const own = loadOwnProtos();

async function compile(job: CompileJob): Promise<void> {
  const result = compileSources(job, await own);
  parentPort?.postMessage(result, [result.bytes.buffer]);
}

// An error ends the worker and rejects the compilation.
parentPort?.on("message", (job: CompileJob) => void compile(job));
