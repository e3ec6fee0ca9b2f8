import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { assetFile } from "../../core/files/asset-file.ts";

export interface PageFile {
  readonly content: Buffer;
  readonly type: string;
}

export interface PageFiles {
  /** The document; undefined where the page is not built. */
  document(): Promise<PageFile | undefined>;
  /** A script, style sheet, font or picture by its name, which changes with its content. */
  asset(name: string): Promise<PageFile | undefined>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Only the build makes the page: from source, too, it is served as it was built last. */
const builtFolder = fileURLToPath(import.meta.url).endsWith(".ts")
  ? fileURLToPath(new URL("../../../dist/servers/webrtc/assets/test-page", import.meta.url))
  : assetFile("webrtc", "test-page");

/** The files of the built test page. */
export function createPageFiles(folder = builtFolder): PageFiles {
  let names: Promise<ReadonlySet<string>> | undefined;
  /** Each is read once, however many ask for it at the same time. */
  const files = new Map<string, Promise<PageFile | undefined>>();
  const read = async (name: string): Promise<PageFile | undefined> => {
    const type = types[path.extname(name)];
    const content = await readFile(path.join(folder, name)).catch(() => undefined);
    // It may be built later.
    if (!content) files.delete(name);
    return content && type !== undefined ? { content, type } : undefined;
  };
  const file = (name: string): Promise<PageFile | undefined> => {
    const known = files.get(name) ?? read(name);
    files.set(name, known);
    return known;
  };
  return {
    document: () => file("index.html"),
    async asset(name) {
      names ??= readdir(path.join(folder, "assets")).then(
        (list) => new Set(list),
        () => new Set(),
      );
      // Only what is listed: a name cannot lead out of the folder.
      return (await names).has(name) ? await file(path.join("assets", name)) : undefined;
    },
  };
}
