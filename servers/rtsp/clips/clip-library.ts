import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { RtspFileView } from "../../../contract/services/rtsp.ts";
import { writeFileAtomically } from "../../core/files/atomic-file.ts";
import { readRegularFile } from "../../core/files/regular-file.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { openClipInTurns } from "../media/mp4/open-clip.ts";
import type { Clip } from "../media/track.ts";
import { isPathName } from "../protocol/header-fields.ts";
import { ClipSource } from "../streams/clip-source.ts";
import type { Paths } from "../streams/paths.ts";
import type { StreamLimits } from "../streams/stream.ts";
import { asUnwritable, ClipUploads, refused } from "./clip-uploads.ts";

export interface ClipLibraryOptions {
  /** Of the service. */
  readonly dataDir: string;
  /** Of one file. */
  readonly mostBytes: number;
  readonly paths: Paths;
  readonly limits: StreamLimits;
  readonly turns: WorkTurns;
  readonly log: Log;
  readonly show: (files: readonly RtspFileView[]) => void;
}

const savedClip = z.object({
  path: z.string().refine(isPathName),
  name: z.string(),
  file: z.string().regex(/^[0-9a-f]{16}\.mp4$/),
  bytes: z.number(),
});
const savedClips = z.object({ clips: z.array(savedClip) });

interface KeptClip extends z.output<typeof savedClip> {
  /** Undefined where it cannot be played. */
  source: ClipSource | undefined;
  problem: string | undefined;
}

const longestPath = 80;

/** The MP4 files that were dropped on the page: kept in a folder of the service's data, and each played on a path. */
export class ClipLibrary {
  readonly #options: ClipLibraryOptions;
  readonly #folder: string;
  readonly #index: string;
  readonly #uploads: ClipUploads;
  readonly #connection: WorkConnection;
  #clips: readonly KeptClip[] = [];
  /** Changes of the index are made one after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: ClipLibraryOptions) {
    this.#options = options;
    this.#connection = options.turns.connection("");
    this.#folder = path.join(options.dataDir, "clips");
    this.#index = path.join(this.#folder, "clips.json");
    this.#uploads = new ClipUploads({ folder: this.#folder, mostBytes: options.mostBytes });
  }

  /** Plays the files of earlier runs. To be called when the paths of the settings are there. Never rejects. */
  async restore(): Promise<void> {
    await this.#uploads.removePartial();
    this.#clips = (await this.#read()).map((clip) => ({ ...clip, source: undefined, problem: undefined }));
    for (const clip of this.#clips) await this.#open(clip);
    this.#show();
  }

  begin(name: string, bytes: number): Promise<number> {
    this.#checkRoom(name);
    return this.#uploads.begin(name, bytes);
  }

  put(upload: number, base64: string): Promise<void> {
    return this.#uploads.put(upload, base64);
  }

  cancel(upload: number): Promise<void> {
    return this.#uploads.cancel(upload);
  }

  /** Resolves with the path that plays the file. Rejects with MEDIA_UNSUPPORTED or MEDIA_DAMAGED, or as `put`; the file is not kept then. */
  async end(upload: number): Promise<string> {
    const { name, file, bytes } = await this.#uploads.end(upload);
    const place = path.join(this.#folder, file);
    return await this.#inTurn(async () => {
      let clip: Clip | undefined;
      try {
        clip = await openClipInTurns(place, this.#connection);
        // The paths may have been taken while it was sent.
        this.#checkRoom(name);
        const kept: KeptClip = { path: this.#freePath(name), name, file, bytes, source: undefined, problem: undefined };
        await this.#save([...this.#clips, kept]);
        this.#play(kept, clip);
        this.#clips = [...this.#clips, kept];
        this.#show();
        return kept.path;
      } catch (error) {
        clip?.close();
        await rm(place, { force: true }).catch(() => {});
        throw error;
      }
    });
  }

  /** Throws CALL_INVALID for an unknown path. Players of the file are disconnected. */
  remove(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const clip = this.#clip(name);
      const rest = this.#clips.filter((other) => other !== clip);
      await this.#save(rest);
      this.#clips = rest;
      if (clip.source) {
        this.#options.paths.remove(clip.path, clip.source);
        clip.source.close("its file was removed");
      }
      this.#show();
      await rm(path.join(this.#folder, clip.file), { force: true }).catch((error: unknown) => {
        throw asUnwritable(this.#folder, error);
      });
    });
  }

  /** Players go on. Throws CALL_INVALID for a path that is taken or cannot be one. */
  rename(name: string, to: string): Promise<void> {
    return this.#inTurn(async () => {
      const clip = this.#clip(name);
      if (!isPathName(to)) throw refused(`“${to}” cannot be a path`, "A path is one or several names, separated by /.");
      if (to === name) return;
      if (this.#isTaken(to)) throw refused(`There is a path ${to} already`, "Choose another one.");
      const renamed: KeptClip = { ...clip, path: to };
      const clips = this.#clips.map((other) => (other === clip ? renamed : other));
      await this.#save(clips);
      this.#clips = clips;
      if (clip.source) this.#options.paths.rename(name, to, clip.source);
      else await this.#open(renamed);
      this.#show();
    });
  }

  async close(): Promise<void> {
    await this.#queue;
    await this.#uploads.close();
  }

  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(change);
    this.#queue = result.catch(() => {});
    return result;
  }

  #checkRoom(name: string): void {
    if (this.#options.paths.hasRoomFor()) return;
    throw refused(`There is no path left for ${name}: there are as many as allowed`, "Remove a file, or raise RTSP_PATHS in Config.");
  }

  #clip(name: string): KeptClip {
    const clip = this.#clips.find((one) => one.path === name);
    if (!clip) throw refused(`${name} is not a path of a dropped file`, "It may have been removed or renamed already.");
    return clip;
  }

  /** Plays it, or says why not. */
  async #open(clip: KeptClip): Promise<void> {
    let media: Clip | undefined;
    try {
      if (this.#options.paths.get(clip.path)) throw new Error("the path has another source; give the file another path");
      media = await openClipInTurns(path.join(this.#folder, clip.file), this.#connection);
      this.#play(clip, media);
    } catch (error) {
      media?.close();
      clip.problem = errorText(error);
      this.#options.log.warning(`${clip.name} is not played on /${clip.path}: ${clip.problem}`);
    }
  }

  #play(clip: KeptClip, media: Clip): void {
    const { paths, limits, turns, log } = this.#options;
    clip.source = new ClipSource({ title: clip.name, clip: media, limits, work: turns.background(""), log });
    clip.problem = undefined;
    paths.add(clip.path, clip.source);
  }

  /** Of files that are not played too. */
  #isTaken(name: string): boolean {
    return this.#options.paths.get(name) !== undefined || this.#clips.some((clip) => clip.path === name);
  }

  #freePath(fileName: string): string {
    const base = pathOfFile(fileName);
    for (let number = 1; ; number++) {
      const name = number === 1 ? base : `${base}-${number}`;
      if (!this.#isTaken(name)) return name;
    }
  }

  /** Empty where there is none that can be read; its files are left alone. */
  async #read(): Promise<readonly z.output<typeof savedClip>[]> {
    try {
      return savedClips.parse(JSON.parse(await readRegularFile(this.#index))).clips;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      // The next file that is dropped is written into a new list.
      const aside = `${this.#index}.unreadable`;
      await rename(this.#index, aside).catch(() => {});
      this.#options.log.error(`The list of dropped files cannot be read and is kept as ${aside}: ${errorText(error)}`);
      return [];
    }
  }

  async #save(clips: readonly KeptClip[]): Promise<void> {
    const saved = { clips: clips.map(({ path: name, name: title, file, bytes }) => ({ path: name, name: title, file, bytes })) };
    await writeFileAtomically(this.#index, `${JSON.stringify(saved, undefined, 2)}\n`).catch((error: unknown) => {
      throw asUnwritable(this.#folder, error);
    });
  }

  #show(): void {
    this.#options.show(
      this.#clips.map(({ path: name, name: title, bytes, problem }) => ({
        path: name,
        name: title,
        bytes,
        ...(problem !== undefined && { problem }),
      })),
    );
  }
}

/** "Front door (2).MP4" becomes "Front-door-2". */
export function pathOfFile(fileName: string): string {
  const base = fileName.normalize("NFC").replace(/\.[^.]*$/, "");
  const words = base.replace(/[^\p{L}\p{N}._~-]+/gu, "-").slice(0, longestPath);
  return words.replace(/^[-.]+/, "").replace(/(?<![-.])[-.]+$/, "") || "file";
}
