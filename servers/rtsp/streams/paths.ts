import { RtspRefusal } from "../protocol/message.ts";
import type { Stream } from "./stream.ts";

export type SourceKind = "clip" | "publisher" | "rtmp-publisher" | "whip-publisher" | "pull";
export const isPublisher = (kind: SourceKind): boolean => kind !== "clip" && kind !== "pull";

/** Gives a path its stream. */
export interface PathSource {
  readonly kind: SourceKind;
  /** File, session or address: for lists. */
  readonly title: string;
  /** What can be read at this moment. */
  readonly stream: Stream | undefined;
  /** The sound once more, in a codec that browsers play. */
  readonly webSound?: Stream;
  /** What can be read; a pulled stream is fetched first. Rejects with an RtspRefusal where there is nothing. */
  open(): Promise<Stream>;
  /** Asks for a key frame before the next one is due. Absent where nobody can be asked. */
  requestKeyFrame?(): void;
  /** The path goes away, or another source takes it. */
  close(reason: string): void;
}

export interface Path {
  readonly name: string;
  readonly source: PathSource;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface PathsOptions {
  readonly mostPaths: number;
  /** A second publisher takes a path from the first; else it is refused. */
  readonly replacePublishers: boolean;
}

/** The streams by name. */
export class Paths {
  readonly #paths = new Map<string, Path>();
  readonly #options: PathsOptions;

  constructor(options: PathsOptions) {
    this.#options = options;
  }

  get(name: string): Path | undefined {
    return this.#paths.get(name);
  }

  list(): Path[] {
    return [...this.#paths.values()];
  }

  /** Throws an RtspRefusal of 404 or of the source's. */
  async open(name: string): Promise<Stream> {
    const path = this.#paths.get(name);
    if (!path) throw new RtspRefusal(404, `there is no stream ${name}`);
    return await path.source.open();
  }

  /** A path that stays: a clip or a pulled stream. It replaces one of the same name. */
  add(name: string, source: PathSource): void {
    this.#paths.get(name)?.source.close("the path has another source now");
    this.#set(name, source);
  }

  /** There may be no more publishers and files. */
  get isFull(): boolean {
    return this.#paths.size >= this.#options.mostPaths;
  }

  /** Gives the source another path. Its readers stay. */
  rename(name: string, to: string, source: PathSource): void {
    this.remove(name, source);
    this.add(to, source);
  }

  /** Whether a publisher may have the path. Throws an RtspRefusal of 403 or 503. */
  checkPublish(name: string): void {
    const path = this.#paths.get(name);
    if (!path && this.isFull) throw new RtspRefusal(503, `there are ${this.#paths.size} paths already`);
    if (path && !isPublisher(path.source.kind)) throw new RtspRefusal(403, `${name} has a source of its own and takes no publisher`);
    if (path && !this.#options.replacePublishers) throw new RtspRefusal(403, `${name} is being published already`);
  }

  /** Throws as `checkPublish`. The publisher before it is closed. */
  publish(name: string, source: PathSource): void {
    this.checkPublish(name);
    this.#paths.get(name)?.source.close("another publisher has taken the path");
    this.#set(name, source);
  }

  #set(name: string, source: PathSource): void {
    this.#paths.set(name, { name, source, since: Date.now() });
  }

  /** Unless the path has another source by now. */
  remove(name: string, source: PathSource): void {
    if (this.#paths.get(name)?.source !== source) return;
    this.#paths.delete(name);
  }

  closeAll(reason: string): void {
    for (const { source } of this.list()) source.close(reason);
    this.#paths.clear();
  }
}
