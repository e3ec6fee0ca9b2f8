import type { ConfigRows } from "../../../contract/config.ts";
import { isPathName } from "../protocol/header-fields.ts";

export interface PullLine {
  readonly path: string;
  readonly url: string;
}

/** The columns of a pulled stream in the form. */
export const pullRows: ConfigRows = {
  row: "stream",
  columns: [
    {
      title: "Path",
      placeholder: "cameras/door",
      pattern: "[^\\s/]+(?:/[^\\s/]+)*",
      problem: "A path without spaces is needed.",
    },
    {
      title: "Fetched from",
      placeholder: "rtsp://user:password@camera.local/stream1",
      pattern: "rtsps?://\\S+",
      problem: "An address that begins with rtsp:// or rtsps:// is needed.",
    },
  ],
};

/** `<path> <address>`; undefined where the text is not that. */
export function parsePull(text: string): PullLine | undefined {
  const [, path, url] = /^\/?(\S+)\s+(rtsps?:\/\/\S+)$/i.exec(text.trim()) ?? [];
  if (path === undefined || url === undefined || !isPathName(path)) return undefined;
  return URL.parse(url)?.hostname ? { path, url } : undefined;
}
