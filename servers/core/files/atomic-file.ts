import { randomBytes } from "node:crypto";
import { renameSync } from "node:fs";
import { copyFile, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../service/service-error.ts";
import { makeFolder } from "./make-folder.ts";

export interface WriteOptions {
  /** The content is under that name too, so that damage to the one leaves the other. */
  readonly backup?: string;
  /** Owner-only (0600), unless it is given. */
  readonly mode?: number;
  /** Asked when the new file is on disk, right before it takes the place of the old one: nothing of this program happens between them. */
  readonly mayReplace?: () => boolean;
}

/**
 * Writes the whole file or leaves the old one: a temporary file beside it is flushed to disk, then renamed over it.
 * Resolves with false where `mayReplace` does not allow that.
 * The package write-file-atomic names its temporary file by the process id, which two containers on one folder may share,
 * and patches the process's handling of signals while it writes.
 */
export async function writeFileAtomically(file: string, content: string, options: WriteOptions = {}): Promise<boolean> {
  const { backup, mode = 0o600, mayReplace } = options;
  makeFolder(path.dirname(file));
  const temporary = `${file}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      if (mode !== 0o600) await handle.chmod(mode);
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (backup) {
      await copyFile(temporary, `${temporary}.backup`);
      await rename(`${temporary}.backup`, backup);
    }
    if (!mayReplace) await rename(temporary, file);
    else if (mayReplace()) renameSync(temporary, file);
    else {
      await rm(temporary);
      return false;
    }
    return true;
  } catch (error) {
    await Promise.all([rm(temporary, { force: true }), rm(`${temporary}.backup`, { force: true })]);
    throw error;
  }
}

/** The same, for what a user has set. Throws SETTINGS_UNWRITABLE. */
export async function writeSettings(file: string, content: string, options?: WriteOptions): Promise<boolean> {
  try {
    return await writeFileAtomically(file, content, options);
  } catch (cause) {
    throw new ServiceError(
      "SETTINGS_UNWRITABLE",
      `Cannot save ${file}: ${(cause as Error).message}`,
      "Make room or give this user the right to write there.",
      { cause },
    );
  }
}
