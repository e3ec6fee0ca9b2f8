import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, statfs } from "node:fs/promises";
import path from "node:path";
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
  timer: NodeJS.Timeout | undefined;
}

export interface ClipUploadsOptions {
  readonly folder: string;
  /** Of one file. */
  readonly mostBytes: number;
}

/** After this time without data, an upload is discarded. */
const idleMs = 60_000;
const mostUploads = 8;
/** Of a file that is not complete. */
const partial = ".part";
/** A full disk harms every program of the computer. */
const bytesLeftFree = 256 << 20;

/** Files on their way from the page to the folder of clips, each in pieces. */
export class ClipUploads {
  readonly #options: ClipUploadsOptions;
  readonly #uploads = new Map<number, Upload>();
  #begun = 0;

  constructor(options: ClipUploadsOptions) {
    this.#options = options;
  }

  /** Throws CALL_INVALID for a file that is too large, also for the disk, and STORE_UNREACHABLE. */
  async begin(name: string, bytes: number): Promise<number> {
    const { folder, mostBytes } = this.#options;
    if (this.#uploads.size >= mostUploads) throw refused("Too many uploads are in progress", "Wait until the others are done.");
    if (bytes > mostBytes)
      throw refused(
        `${name} has ${bytes} bytes, and at most ${mostBytes} are allowed`,
        "Use a shorter clip, or raise RTSP_FILE_BYTES in Config.",
      );
    const number = ++this.#begun;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(folder);
      const unwritten = [...this.#uploads.values()].reduce((sum, upload) => sum + upload.bytes - upload.received, 0);
      if (bavail * bsize - unwritten - bytes < bytesLeftFree)
        throw refused(
          `The disk of ${folder} has no room for the ${bytes} bytes of ${name}: ${bytesLeftFree} bytes stay free`,
          "Free some space on it, or start Backlot with a folder on another disk (--data-dir).",
        );
      const file = `${randomBytes(8).toString("hex")}.mp4`;
      const handle = await open(path.join(folder, file + partial), "wx", 0o600);
      const upload: Upload = { name, file, bytes, handle, received: 0, timer: undefined };
      this.#uploads.set(number, upload);
      this.#keepAwhile(number, upload);
    } catch (error) {
      throw asUnwritable(folder, error);
    }
    return number;
  }

  /** Appends. Throws JOB_UNKNOWN for an upload that has ended, CALL_INVALID for more than was announced, and STORE_UNREACHABLE. */
  async put(number: number, base64: string): Promise<void> {
    const upload = this.#upload(number);
    this.#keepAwhile(number, upload);
    const bytes = Buffer.from(base64, "base64");
    upload.received += bytes.length;
    try {
      if (upload.received > upload.bytes) throw changed(upload);
      await upload.handle.writeFile(bytes);
    } catch (error) {
      await this.#discard(number, upload);
      throw asUnwritable(this.#options.folder, error);
    }
  }

  /** The file is complete and belongs to the caller. Throws as `put`. */
  async end(number: number): Promise<UploadedFile> {
    const upload = this.#upload(number);
    if (upload.received !== upload.bytes) {
      await this.#discard(number, upload);
      throw changed(upload);
    }
    this.#uploads.delete(number);
    clearTimeout(upload.timer);
    const { folder } = this.#options;
    try {
      await upload.handle.close();
      await rename(path.join(folder, upload.file + partial), path.join(folder, upload.file));
    } catch (error) {
      throw asUnwritable(folder, error);
    }
    return { name: upload.name, file: upload.file, bytes: upload.bytes };
  }

  async cancel(number: number): Promise<void> {
    const upload = this.#uploads.get(number);
    if (upload) await this.#discard(number, upload);
  }

  /** Removes what an earlier process has left. */
  async removePartial(): Promise<void> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (name.endsWith(partial)) await rm(path.join(folder, name), { force: true }).catch(() => {});
  }

  async close(): Promise<void> {
    for (const [number, upload] of [...this.#uploads]) await this.#discard(number, upload);
  }

  #upload(number: number): Upload {
    const upload = this.#uploads.get(number);
    if (!upload) throw new ServiceError("JOB_UNKNOWN", "This upload was cancelled", "Drop the file again.");
    return upload;
  }

  #keepAwhile(number: number, upload: Upload): void {
    clearTimeout(upload.timer);
    upload.timer = setTimeout(() => void this.#discard(number, upload), idleMs);
  }

  async #discard(number: number, upload: Upload): Promise<void> {
    clearTimeout(upload.timer);
    this.#uploads.delete(number);
    await upload.handle.close().catch(() => {});
    await rm(path.join(this.#options.folder, upload.file + partial), { force: true }).catch(() => {});
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
