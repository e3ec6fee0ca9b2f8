import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";

/** A copy of a database in progress: it gets its final name when it is kept. */
export interface FileCopy {
  readonly name: string;
  keep(): void;
  remove(): void;
}

/**
 * Copies the file into its folder, flushed to disk, and never overwrites another; a write-ahead log that is not empty is
 * copied too. An unfinished copy of an earlier attempt is replaced.
 */
export function copyBeside(file: string, suffix: string): FileCopy {
  const wanted = `${file}.${suffix}`;
  let name = wanted;
  for (let number = 2; existsSync(name); number++) name = `${wanted}-${number}`;
  const part = `${wanted}.part`;
  const withLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const remove = () => {
    for (const end of ["", "-wal"]) rmSync(part + end, { force: true });
  };
  remove();
  try {
    copyToDisk(file, part);
    if (withLog) copyToDisk(`${file}-wal`, `${part}-wal`);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    name,
    keep() {
      if (withLog) renameSync(`${part}-wal`, `${name}-wal`);
      renameSync(part, name);
    },
    remove() {
      remove();
      for (const end of ["", "-wal"]) rmSync(name + end, { force: true });
    },
  };
}

function copyToDisk(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const descriptor = openSync(to, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
