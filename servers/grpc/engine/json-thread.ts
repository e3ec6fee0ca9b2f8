import { Worker } from "node:worker_threads";
import type { GrpcStatusName } from "../../../contract/traffic/grpc.ts";
import { workerFile } from "../../core/files/asset-file.ts";
import type { GrpcMethod } from "./grpc-method.ts";
import { StatusError } from "./status.ts";

/** What the thread is told. It knows the types of a revision before a message of them comes. */
export type JsonTask =
  | { readonly kind: "types"; readonly revision: string; readonly files: readonly Uint8Array[] }
  | { readonly kind: "forget"; readonly revision: string }
  | {
      readonly kind: "request" | "reply";
      readonly id: number;
      readonly revision: string;
      readonly path: string;
      readonly bytes: Uint8Array;
      /** Most values of a request, as `requireValues` has them, and most fields of its messages or of those of a reply. */
      readonly mostValues: number;
    };

/** `failed` is a status with its message. */
export type JsonTaskResult =
  | { readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly failed: readonly [status: GrpcStatusName, message: string] };

type JsonMethod = Pick<GrpcMethod, "path" | "pool" | "revision">;

interface Waiting {
  resolve(bytes: Uint8Array): void;
  reject(error: StatusError): void;
}

/** Revisions whose types the thread keeps. */
const keptRevisions = 2;
/** After this time the thread ends. */
const idleMs = 30_000;
/** What is made of a message takes so many times its bytes at most; a short one is bounded by its values. */
const memoryOfByte = 64;
const leastMebibytes = 512;
/** A reply has a field for so many bytes of the limit of messages at most, with those that have their default. */
const bytesOfField = 4;

/** Reads and writes long messages of JSON in a thread of its own: 4 MB take some 100 ms. Messages wait for one another there. */
export class JsonThread {
  readonly #mostMebibytes: number;
  readonly #mostReplyFields: number;
  #worker: Worker | undefined;
  #revisions: readonly string[] = [];
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ messageBytes }: { readonly messageBytes: number }) {
    this.#mostMebibytes = Math.max(leastMebibytes, Math.ceil((memoryOfByte * messageBytes) / (1 << 20)));
    this.#mostReplyFields = Math.ceil(messageBytes / bytesOfField);
  }

  /** Rejects with RESOURCE_EXHAUSTED for too many values, and as `JsonMessages` does. */
  request(method: JsonMethod, json: Uint8Array, mostValues: number): Promise<Uint8Array> {
    return this.#convert("request", method, json, mostValues);
  }

  /** Rejects with RESOURCE_EXHAUSTED for one of which too much would be made. */
  reply(method: JsonMethod, message: Uint8Array): Promise<Uint8Array> {
    return this.#convert("reply", method, message, this.#mostReplyFields);
  }

  close(): Promise<void> {
    return this.#end(new StatusError("UNAVAILABLE", "the service is stopping"));
  }

  #convert(kind: "request" | "reply", method: JsonMethod, message: Uint8Array, mostValues: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      clearTimeout(this.#timer);
      const { revision, path } = method;
      this.#worker ??= this.#start();
      this.#teach(method);
      const id = ++this.#last;
      this.#waiting.set(id, { resolve, reject });
      // The recorder and the budget keep the original.
      const bytes = new Uint8Array(message);
      this.#post({ kind, id, revision, path, bytes, mostValues }, bytes.buffer);
    });
  }

  #post(task: JsonTask, ...transfer: readonly ArrayBuffer[]): void {
    this.#worker?.postMessage(task, transfer);
  }

  #teach({ revision, pool }: JsonMethod): void {
    if (this.#revisions.includes(revision)) return;
    this.#post({ kind: "types", revision, files: pool.files.map(pool.bytes) });
    const forgotten = this.#revisions[keptRevisions - 1];
    if (forgotten !== undefined) this.#post({ kind: "forget", revision: forgotten });
    this.#revisions = [revision, ...this.#revisions].slice(0, keptRevisions);
  }

  #start(): Worker {
    const worker = new Worker(workerFile("grpc", "json-worker"), { resourceLimits: { maxOldGenerationSizeMb: this.#mostMebibytes } });
    worker.on("message", (result: JsonTaskResult) => {
      const waiting = this.#waiting.get(result.id);
      this.#waiting.delete(result.id);
      if ("bytes" in result) waiting?.resolve(result.bytes);
      else waiting?.reject(new StatusError(...result.failed));
      if (this.#waiting.size === 0) this.#timer = setTimeout(() => void this.#end(), idleMs);
    });
    worker.on("error", (error: NodeJS.ErrnoException) => {
      const isTooMuch = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      const why = isTooMuch ? new StatusError("RESOURCE_EXHAUSTED", "its JSON takes too much memory") : undefined;
      if (this.#worker === worker) void this.#end(why ?? new StatusError("INTERNAL", `its JSON cannot be read: ${error.message}`));
    });
    return worker;
  }

  async #end(why?: StatusError): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#revisions = [];
    clearTimeout(this.#timer);
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    if (why) for (const one of waiting) one.reject(why);
    await worker?.terminate();
  }
}
