import { execFile } from "node:child_process";

/** Runs a program with the system's Python; its output. */
export function python(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("python3", ["-c", program], { timeout: 100_000 }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
}
