import { execFile } from "node:child_process";
import path from "node:path";

/** Runs a program beside this file with the system's Python; its output. */
export function python(program: string, ...parameters: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("/usr/bin/python3", [path.join(import.meta.dirname, program), ...parameters], { timeout: 100_000 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
}
