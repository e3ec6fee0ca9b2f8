import { AddressPlaces } from "../../core/limits/address-places.ts";
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
  /** Those that publishers have. */
  readonly #places = new AddressPlaces<Path>();
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
    this.#replace(name, "", "the path has another source now");
    this.#set(name, source);
  }

  /** Whether one more may be there: a publisher of this address, or a file of this computer's user, which has none. */
  hasRoomFor(address = ""): boolean {
    return this.#paths.size < this.#options.mostPaths || this.#places.givingWay(address) !== undefined;
  }

  /** Gives the source another path. Its readers stay. */
  rename(name: string, to: string, source: PathSource): void {
    this.remove(name, source);
    this.add(to, source);
  }

  /** Whether a publisher may have the path. Throws an RtspRefusal of 403 or 503. */
  checkPublish(name: string, address: string): void {
    const path = this.#paths.get(name);
    if (!path && !this.hasRoomFor(address))
      throw new RtspRefusal(
        503,
        `there are ${this.#paths.size} paths already, and no other address publishes more of them; RTSP_PATHS allows more`,
      );
    if (path && !isPublisher(path.source.kind)) throw new RtspRefusal(403, `${name} has a source of its own and takes no publisher`);
    if (path && !this.#options.replacePublishers) throw new RtspRefusal(403, `${name} is being published already`);
  }

  /** Throws as `checkPublish`. The publisher before it is closed, and so is one of the address that has most paths where all are taken. */
  publish(name: string, source: PathSource, address: string): void {
    this.checkPublish(name, address);
    this.#replace(name, address, "another publisher has taken the path");
    this.#places.add(address, this.#set(name, source));
  }

  #set(name: string, source: PathSource): Path {
    const path = { name, source, since: Date.now() };
    this.#paths.set(name, path);
    return path;
  }

  /** What has the path ends; without it, what gives way to one more where all paths are taken. */
  #replace(name: string, address: string, reason: string): void {
    const former = this.#paths.get(name);
    if (former) this.#end(former, reason);
    else if (this.#paths.size >= this.#options.mostPaths) {
      const givingWay = this.#places.givingWay(address);
      if (givingWay) this.#end(givingWay, "all paths are taken, and its address publishes most of them (RTSP_PATHS)");
    }
  }

  #end({ name, source }: Path, reason: string): void {
    this.remove(name, source);
    source.close(reason);
  }

  /** Unless the path has another source by now. */
  remove(name: string, source: PathSource): void {
    const path = this.#paths.get(name);
    if (path?.source !== source) return;
    this.#paths.delete(name);
    this.#places.remove(path);
  }

  closeAll(reason: string): void {
    for (const { source } of this.list()) source.close(reason);
    this.#paths.clear();
  }
}
