import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** What is under that name is no regular file. */
export class NotRegularFile extends Error {
  override readonly name = "NotRegularFile";
  /** As BSD's systems call it. */
  readonly code = "EFTYPE";

  constructor() {
    super("it is not a regular file");
  }
}

/** To open a named pipe would wait for its other end without it, for ever. Windows does not have it. */
const withoutWaiting = constants.O_NONBLOCK ?? 0;

/** Opens a file for reading. Throws as `open` does, and NotRegularFile: a named pipe would wait for somebody to write, a device may never end. */
export async function openRegularFile(file: string): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | withoutWaiting).catch(asNotRegular);
  try {
    if (!(await handle.stat()).isFile()) throw new NotRegularFile();
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The text of a file. Throws as above. */
export async function readRegularFile(file: string): Promise<string> {
  const handle = await openRegularFile(file);
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** As `openRegularFile`, for those that read in steps of their own. `flags` and `mode` are those of `openSync`. */
export function openRegularFileSync(file: string, flags: number = constants.O_RDONLY, mode?: number): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, flags | withoutWaiting, mode);
  } catch (error) {
    return asNotRegular(error);
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw new NotRegularFile();
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** A socket, or a pipe that nobody reads. */
function asNotRegular(error: unknown): never {
  throw (error as NodeJS.ErrnoException).code === "ENXIO" ? new NotRegularFile() : error;
}
