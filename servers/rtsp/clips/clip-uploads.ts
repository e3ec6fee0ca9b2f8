import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm, statfs } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../../core/files/make-folder.ts";
import { Uploads } from "../../core/files/uploads.ts";
import { errorText, ServiceError } from "../../core/service/service-error.ts";

/** A file that was sent completely. */
export interface UploadedFile {
  /** Its name where it came from. */
  readonly name: string;
  /** Its name in the folder. */
  readonly file: string;
  readonly bytes: number;
}

interface Upload extends UploadedFile {
  readonly handle: FileHandle;
  received: number;
}

export interface ClipUploadsOptions {
  readonly folder: string;
  /** Of one file. */
  readonly mostBytes: number;
}

const mostUploads = 8;
/** Of a file that is not complete. */
const partial = ".part";
/** A full disk harms every program of the computer. */
const bytesLeftFree = 256 << 20;

/** Files on their way from the page to the folder of clips, each in pieces. */
export class ClipUploads {
  readonly #options: ClipUploadsOptions;
  readonly #uploads = new Uploads<Upload>({ most: mostUploads, discard: (upload) => this.#discard(upload) });

  constructor(options: ClipUploadsOptions) {
    this.#options = options;
  }

  /** Throws CALL_INVALID for a file that is too large, also for the disk, and STORE_UNREACHABLE. */
  async begin(name: string, bytes: number): Promise<number> {
    const { folder, mostBytes } = this.#options;
    this.#uploads.checkRoom();
    if (bytes > mostBytes)
      throw refused(
        `${name} has ${bytes} bytes, and at most ${mostBytes} are allowed`,
        "Use a shorter clip, or raise RTSP_FILE_BYTES in Config.",
      );
    try {
      makeFolder(folder);
      const { bavail, bsize } = await statfs(folder);
      const unwritten = this.#uploads.uploads().reduce((sum, upload) => sum + upload.bytes - upload.received, 0);
      if (bavail * bsize - unwritten - bytes < bytesLeftFree)
        throw refused(
          `The disk of ${folder} has no room for the ${bytes} bytes of ${name}: ${bytesLeftFree} bytes stay free`,
          "Free some space on it, or start Backlot with a folder on another disk (--data-dir).",
        );
      const file = `${randomBytes(8).toString("hex")}.mp4`;
      const handle = await open(path.join(folder, file + partial), "wx", 0o600);
      return this.#uploads.begin({ name, file, bytes, handle, received: 0 });
    } catch (error) {
      throw asUnwritable(folder, error);
    }
  }

  /** Appends. Throws JOB_UNKNOWN for an upload that has ended, CALL_INVALID for more than was announced, and STORE_UNREACHABLE. */
  async put(number: number, base64: string): Promise<void> {
    const upload = this.#uploads.get(number);
    const bytes = Buffer.from(base64, "base64");
    upload.received += bytes.length;
    try {
      if (upload.received > upload.bytes) throw changed(upload);
      await upload.handle.writeFile(bytes);
    } catch (error) {
      await this.cancel(number);
      throw asUnwritable(this.#options.folder, error);
    }
  }

  /** The file is complete and belongs to the caller. Throws as `put`. */
  async end(number: number): Promise<UploadedFile> {
    const upload = this.#uploads.take(number);
    if (upload.received !== upload.bytes) {
      await this.#discard(upload);
      throw changed(upload);
    }
    const { folder } = this.#options;
    try {
      await upload.handle.close();
      await rename(path.join(folder, upload.file + partial), path.join(folder, upload.file));
    } catch (error) {
      throw asUnwritable(folder, error);
    }
    return { name: upload.name, file: upload.file, bytes: upload.bytes };
  }

  cancel(number: number): Promise<void> {
    return this.#uploads.discard(number);
  }

  /** Removes what an earlier process has left. */
  async removePartial(): Promise<void> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (name.endsWith(partial)) await rm(path.join(folder, name), { force: true }).catch(() => {});
  }

  close(): Promise<void> {
    return this.#uploads.close();
  }

  async #discard({ handle, file }: Upload): Promise<void> {
    await handle.close().catch(() => {});
    await rm(path.join(this.#options.folder, file + partial), { force: true }).catch(() => {});
  }
}

const changed = ({ name }: UploadedFile) => refused(`${name} has changed while it was sent`, "Drop it again when it is complete.");

export const refused = (message: string, hint: string) => new ServiceError("CALL_INVALID", message, hint);

/** A failure of the system, for the user. */
export function asUnwritable(folder: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  return new ServiceError(
    "STORE_UNREACHABLE",
    `The file cannot be kept in ${folder}: ${errorText(cause)}`,
    "Free some space, or give your user the right to write there.",
    { cause },
  );
}
