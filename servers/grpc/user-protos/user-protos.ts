import { stat } from "node:fs/promises";
import path from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { GrpcProtosAdded, GrpcViews } from "../../../contract/services/grpc.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { type DescriptorPool, PoolBuilder, revisionOf } from "../protos/descriptor-pool.ts";
import type { CompileResult, ProtoLimits, ProtoProblem, ProtoSourcePath } from "./compile-job.ts";
import { CompileWorkerClient } from "./compile-worker-client.ts";
import type { DroppedProtos } from "./dropped-protos.ts";
import { FolderWatch } from "./folder-watch.ts";

export interface UserProtosOptions {
  /** Paths of the setting. */
  readonly paths: readonly string[];
  readonly dropped: DroppedProtos;
  readonly limits: ProtoLimits;
  readonly own: DescriptorPool;
  readonly log: Log;
  readonly turns: WorkTurns;
  readonly serve: (pool: DescriptorPool, revision: string) => void;
  readonly show: (view: GrpcViews["protos"]) => void;
}

const shownProblems = 100;
const loggedProblems = 20;
/** Of one source. */
const shownServices = 100;
/** Of files that change while they are read. */
const mostFirstReads = 3;
/** The name of a protocol file, a descriptor set or a folder. */
const relevantName = /\.(?:proto|binpb|bin|pb|desc|protoset|fds|json)$|^[^.]+$/i;

/** Serves the protocol files of the setting and those that were dropped on the page, and follows their changes. */
export class UserProtos {
  readonly #options: UserProtosOptions;
  readonly #settings: readonly ProtoSourcePath[];
  readonly #watch: FolderWatch;
  readonly #compiler = new CompileWorkerClient();
  #isStopping = false;
  #reading: Promise<void> | undefined;
  #isStale = false;
  /** Reads since the start. */
  #reads = 0;
  #onRead = () => {};
  #revision: string | undefined;
  #result: Pick<CompileResult, "sources" | "problems"> = { sources: [], problems: [] };
  #sources: readonly ProtoSourcePath[] = [];
  #folders: ReadonlySet<string> = new Set();
  /** Why all of it could not be read and compiled. */
  #failure: string | undefined;
  #logged = "";
  #hadProblems = false;

  constructor(options: UserProtosOptions) {
    this.#options = options;
    this.#settings = options.paths.map((given) => ({ id: given, title: given, path: path.resolve(given), importsBeside: true }));
    this.#watch = new FolderWatch({
      isRelevant: (folder, name) =>
        this.#folders.has(folder) ? relevantName.test(name) : name.endsWith(".proto") || this.#isSource(path.join(folder, name)),
      onChange: () => void this.reload(),
      onBlind: (folder, reason) => options.log.warning(`Changes of protocol files in ${folder} are not seen: ${reason}`),
    });
  }

  /** Reads for the first time. Resolves when the files are served, also where they go on changing; never rejects. */
  async open(): Promise<void> {
    const mostReads = new Promise<void>((resolve) => {
      this.#onRead = () => this.#reads === mostFirstReads && resolve();
    });
    await Promise.race([this.reload(), mostReads]);
  }

  /** Reads and compiles all files, and serves the valid ones. Resolves when what is on disk now is served; never rejects. */
  reload(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readWhileStale().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The first problem of a path of the setting of which nothing is served; without a path where it is that of all files. */
  unusable(): { readonly path: string; readonly problem: string } | undefined {
    const { sources, problems } = this.#result;
    if (this.#failure !== undefined && this.#settings.length > 0 && this.#revision === undefined)
      return { path: "", problem: this.#failure };
    for (const { id, title } of this.#settings) {
      const problem = problems.find(({ source }) => source === id);
      if (problem && !sources.some((source) => source.id === id && source.files > 0))
        return { path: title, problem: problem.line === undefined ? problem.problem : problemText(problem, undefined) };
    }
    return undefined;
  }

  /** Stores and serves what was sent. */
  async end(upload: number): Promise<GrpcProtosAdded> {
    const ids = await this.#options.dropped.end(upload);
    await this.reload();
    return { sources: ids, problems: this.#result.problems.filter(({ source }) => ids.includes(source)).slice(0, shownProblems) };
  }

  async remove(source: string): Promise<void> {
    await this.#options.dropped.remove(source);
    await this.reload();
  }

  begin(): number {
    return this.#options.dropped.begin();
  }

  put(...put: Parameters<DroppedProtos["put"]>): Promise<void> {
    return this.#options.dropped.put(...put);
  }

  cancel(upload: number): Promise<void> {
    return this.#options.dropped.cancel(upload);
  }

  async close(): Promise<void> {
    this.#watch.close();
    this.#isStopping = true;
    await this.#compiler.close();
    await this.#reading;
    await this.#options.dropped.close().catch(() => {});
  }

  #isSource(file: string): boolean {
    return this.#sources.some((source) => source.path === file);
  }

  async #readWhileStale(): Promise<void> {
    this.#show(true);
    while (this.#isStale && !this.#isStopping) {
      this.#isStale = false;
      try {
        await this.#read();
        this.#failure = undefined;
      } catch (error) {
        if (this.#isStopping) break;
        this.#failure = errorText(error);
        const problem = `the protocol files could not be compiled, so the earlier ones are still served: ${this.#failure}`;
        this.#result = { ...this.#result, problems: [{ source: "", file: "", problem }] };
      }
      this.#reads++;
      this.#onRead();
    }
    this.#show(false);
    this.#writeLog();
  }

  async #read(): Promise<void> {
    const { dropped, limits, own, serve } = this.#options;
    this.#sources = [...this.#settings, ...(await dropped.sources())];
    if (this.#sources.length === 0) {
      this.#result = { sources: [], problems: [] };
      this.#revision = undefined;
      serve(own, revisionOf(own.files.map(own.bytes)));
      return;
    }
    const begunAt = Date.now();
    const result = await this.#compiler.compile({ sources: this.#sources, limits });
    this.#folders = new Set(result.folders);
    this.#watch.watch([...new Set([...result.folders, ...result.around])]);
    // Files may have changed before their folder was watched.
    if (await isChangedSince(result.folders, begunAt)) this.#isStale = true;
    this.#result = { sources: result.sources, problems: result.problems };
    if (result.revision === this.#revision) return;
    const pool = await this.#options.turns.connection("").run(this.#poolOf(result));
    if (this.#isStopping) return;
    this.#revision = result.revision;
    serve(pool, result.revision);
  }

  /** Calls have their turns in between. */
  *#poolOf({ bytes, lengths }: CompileResult): Generator<void, DescriptorPool> {
    const builder = new PoolBuilder();
    for (const file of this.#options.own.files) builder.add(file);
    let at = 0;
    for (const length of lengths) {
      const serialized = bytes.subarray(at, at + length);
      at += length;
      const proto = fromBinary(FileDescriptorProtoSchema, serialized);
      yield;
      const file = builder.describe(proto, serialized);
      yield;
      builder.add(file);
      yield;
    }
    return builder.pool();
  }

  #show(isReading: boolean): void {
    const { sources, problems } = this.#result;
    const reports = new Map(sources.map((source) => [source.id, source]));
    const dropped = new Set(this.#sources.slice(this.#settings.length));
    this.#options.show({
      sources: this.#sources.map((source) => ({
        id: source.id,
        kind: dropped.has(source) ? "dropped" : "setting",
        title: source.title,
        files: reports.get(source.id)?.files ?? 0,
        repeated: reports.get(source.id)?.repeated ?? 0,
        services: (reports.get(source.id)?.services ?? []).slice(0, shownServices),
        problems: problems.filter((problem) => problem.source === source.id).length,
      })),
      problems: problems.slice(0, shownProblems),
      moreProblems: Math.max(0, problems.length - shownProblems),
      isReading,
    });
  }

  #writeLog(): void {
    const { sources, problems } = this.#result;
    const state = sources.length === 0 && problems.length === 0 ? "" : JSON.stringify([this.#revision, problems]);
    if (state === this.#logged || this.#isStopping) return;
    this.#logged = state;
    const { log } = this.#options;
    const titles = new Map(this.#sources.map(({ id, title }) => [id, title]));
    for (const problem of problems.slice(0, loggedProblems)) log.warning(problemText(problem, titles.get(problem.source)));
    if (problems.length > loggedProblems) log.warning(`${problems.length - loggedProblems} more problems of protocol files`);
    const files = sources.reduce((sum, source) => sum + source.files, 0);
    const services = sources.reduce((sum, source) => sum + source.services.length, 0);
    const line = `Protocol files served: ${files}, from sources: ${sources.length}, with services: ${services}`;
    // Takes back what was said of them where warnings are shown.
    if (this.#hadProblems && problems.length === 0) log.notable(`${line}. None has a problem any more.`);
    else log.info(line);
    this.#hadProblems = problems.length > 0;
  }
}

/** `order.proto:3:5: there is no type Item (shop)` */
function problemText({ file, line, column, problem }: ProtoProblem, title: string | undefined): string {
  const place = line === undefined ? "" : `:${line}:${column}`;
  const of = title === undefined || title === file ? "" : ` (${title})`;
  return `${file === "" ? "Protocol files" : `${file}${place}`}: ${problem}${of}`;
}

async function isChangedSince(folders: readonly string[], at: number): Promise<boolean> {
  const changedAt = await Promise.all(
    folders.map((folder) =>
      stat(folder).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return changedAt.some((mtimeMs) => mtimeMs >= at && mtimeMs <= Date.now());
}
