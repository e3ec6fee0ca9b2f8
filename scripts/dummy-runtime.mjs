import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** Marks the position of the fuses in Electron's binary, as @electron/fuses expects it. */
export const fuseSentinel = "dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX";
const fuseVersion = 1;
/** Electron's default, one character per fuse: RunAsNode is the first. */
const fusesAsShipped = "101100011";

/** A folder that electron-builder accepts as Electron: nothing in it runs, but its fuses can be set and read. */
export async function makeDummyRuntime(folder) {
  await mkdir(path.join(folder, "locales"), { recursive: true });
  await mkdir(path.join(folder, "resources"), { recursive: true });
  const wire = Buffer.from([fuseVersion, fusesAsShipped.length, ...Buffer.from(fusesAsShipped)]);
  await writeFile(path.join(folder, "electron"), Buffer.concat([Buffer.from(fuseSentinel), wire]), { mode: 0o755 });
  await writeFile(path.join(folder, "locales", "en-US.pak"), "");
}
