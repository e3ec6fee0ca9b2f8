import { randomBytes } from "node:crypto";
import { appendFile, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../../core/files/make-folder.ts";
import { Uploads } from "../../core/files/uploads.ts";
import { errorText, ServiceError } from "../../core/service/service-error.ts";
import type { ProtoLimits, ProtoSourcePath } from "./compile-job.ts";
import { fileNameProblem } from "./proto-file-name.ts";

interface Upload {
  readonly folder: string;
  readonly files: Set<string>;
  bytes: number;
}

interface Piece {
  readonly name: string;
  readonly base64: string;
}

export interface DroppedProtosOptions {
  /** Of the service. */
  readonly dataDir: string;
  readonly limits: ProtoLimits;
}

const mostUploads = 16;
const idOf = (name: string) => `dropped ${name}`;

/** Protocol files and folders that were dropped on the page, in a folder of the service's data. */
export class DroppedProtos {
  readonly #folder: string;
  readonly #incoming: string;
  readonly #limits: ProtoLimits;
  readonly #uploads = new Uploads<Upload>({
    most: mostUploads,
    discard: ({ folder }) => rm(folder, { recursive: true, force: true }).catch(() => {}),
  });

  constructor({ dataDir, limits }: DroppedProtosOptions) {
    this.#folder = path.join(dataDir, "protos");
    this.#incoming = path.join(dataDir, "protos-incoming");
    this.#limits = limits;
  }

  /** Each file or folder that was dropped, by name. */
  async sources(): Promise<readonly ProtoSourcePath[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw unwritable(this.#folder, error);
    });
    return names.sort().map((name) => ({ id: idOf(name), title: name, path: path.join(this.#folder, name), importsBeside: false }));
  }

  begin(): number {
    this.#uploads.checkRoom();
    return this.#uploads.begin({ folder: path.join(this.#incoming, randomBytes(8).toString("hex")), files: new Set(), bytes: 0 });
  }

  /** Appends to files. Throws CALL_INVALID for names that lead out of the folder and for files above the limits. */
  async put(number: number, pieces: readonly Piece[]): Promise<void> {
    const upload = this.#uploads.get(number);
    try {
      for (const { name, base64 } of pieces) {
        const problem = fileNameProblem(name);
        if (problem !== undefined) throw refused(`${JSON.stringify(name.slice(0, 200))}: ${problem}`, "Give the file another name.");
        const bytes = Buffer.from(base64, "base64");
        upload.files.add(name);
        upload.bytes += bytes.length;
        if (upload.files.size > this.#limits.files || upload.bytes > this.#limits.bytes) {
          const limit = upload.bytes > this.#limits.bytes ? `${this.#limits.bytes} bytes` : `${this.#limits.files} files`;
          throw refused(`There are more than ${limit}`, "Drop fewer, or raise the limit in Config.");
        }
        const file = path.join(upload.folder, name);
        makeFolder(path.dirname(file));
        await appendFile(file, bytes, { mode: 0o600 });
      }
    } catch (error) {
      await this.cancel(number);
      throw error instanceof ServiceError ? error : unwritable(upload.folder, error);
    }
  }

  cancel(number: number): Promise<void> {
    return this.#uploads.discard(number);
  }

  /** Puts them in the place of those with the same names. Resolves with the ids of their sources. */
  async end(number: number): Promise<readonly string[]> {
    const upload = this.#uploads.get(number);
    try {
      const names = [...new Set([...upload.files].map((name) => name.split("/", 1)[0] as string))];
      makeFolder(this.#folder);
      for (const name of names) {
        const place = path.join(this.#folder, name);
        await rm(place, { recursive: true, force: true });
        await rename(path.join(upload.folder, name), place);
      }
      return names.map(idOf);
    } catch (error) {
      throw unwritable(this.#folder, error);
    } finally {
      await this.cancel(number);
    }
  }

  /** Throws CALL_INVALID for an unknown id. */
  async remove(id: string): Promise<void> {
    const source = (await this.sources()).find((one) => one.id === id);
    if (!source) throw refused("These files are not among the dropped files", "They may have been removed already.");
    await rm(source.path, { recursive: true, force: true }).catch((error: unknown) => {
      throw unwritable(source.path, error);
    });
  }

  /** Removes unfinished uploads, also those of an earlier process. */
  async close(): Promise<void> {
    await this.#uploads.close();
    await rm(this.#incoming, { recursive: true, force: true });
  }
}

const refused = (message: string, hint: string) => new ServiceError("CALL_INVALID", message, hint);

function unwritable(file: string, cause: unknown): ServiceError {
  const reason = errorText(cause);
  return new ServiceError(
    "STORE_UNREACHABLE",
    `The dropped files cannot be kept in ${file}: ${reason}`,
    "Free some space, or give your user the right to write there.",
    { cause },
  );
}
