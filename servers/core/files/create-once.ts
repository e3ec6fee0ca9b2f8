import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "./make-folder.ts";

/**
 * Creates the file with all of its content, for its owner alone, if it does not exist: of two processes that do so at the same time the first one wins.
 * Returns whether this one did.
 */
export async function createOnce(file: string, content: string): Promise<boolean> {
  makeFolder(path.dirname(file));
  const temporary = `${file}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, content, { flag: "wx", mode: 0o600, flush: true });
    await linkOrCopy(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Fails where `to` exists. Copies on a file system without hard links. */
export const linkOrCopy = (from: string, to: string): Promise<void> =>
  link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST" || error.code === "ENOENT") throw error;
    return copyFile(from, to, constants.COPYFILE_EXCL);
  });
