import { execFile } from "node:child_process";

/** Runs a program with the system's sh; its output. Rejects when it exits with an error. */
export function shell(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("sh", ["-c", program], { timeout: 100_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
    );
  });
}
