import { execFile } from "node:child_process";

export interface CurlAnswer {
  readonly status: number;
  /** Names in lower case; the last of several answers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Heads and body as they came. */
  readonly all: string;
}

/** The real curl; rejects when it exits with an error. */
export function curl(...args: readonly string[]): Promise<CurlAnswer> {
  return new Promise((resolve, reject) => {
    execFile("curl", ["-sS", "-i", "--max-time", "20", ...args], { maxBuffer: 64 << 20, encoding: "buffer" }, (error, stdout) => {
      const all = stdout.toString("utf8");
      if (error && all === "") {
        reject(error);
        return;
      }
      let rest = all;
      let head = "";
      while (/^HTTP\/[\d.]+ \d{3}/.test(rest)) {
        const end = rest.indexOf("\r\n\r\n");
        head = end === -1 ? rest : rest.slice(0, end);
        rest = end === -1 ? "" : rest.slice(end + 4);
      }
      const lines = head.split("\r\n");
      const headers = Object.fromEntries(
        lines.slice(1).map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
      );
      resolve({ status: Number(lines[0]?.split(" ")[1]), headers, body: rest, all });
    });
  });
}
