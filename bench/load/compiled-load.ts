/** Load generators in C: each is compiled when it is needed, and its source says what its arguments are. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { loadCore, startProcess } from "../harness.ts";
import { cpuSeconds } from "../process-tree.ts";

export interface CompiledLoad {
  /** `onBegin` is called when the measured period begins, `onEnd` right at its end. */
  run<Figures>(args: readonly (string | number)[], moments: { onBegin(): void; onEnd(): void | Promise<void> }): Promise<Figures>;
  remove(): void;
}

/** Of NAME-load.c and NAME-client.c. */
export function compileLoad(name: "mqtt" | "grpc" | "rtsp", libraries: readonly string[] = []): CompiledLoad {
  const folder = mkdtempSync(path.join(os.tmpdir(), `backlot-bench-${name}-load-`));
  const program = path.join(folder, `${name}-load`);
  const sources = [`${name}-load.c`, `${name}-client.c`].map((file) => path.join(import.meta.dirname, file));
  execFileSync("cc", ["-O2", "-o", program, ...sources, ...libraries.map((library) => `-l${library}`)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  return {
    async run(args, { onBegin, onEnd }) {
      const load = startProcess({ command: program, args: args.map(String), core: loadCore, stdin: "pipe" });
      const failed = load.ended.then((code) => {
        throw new Error(`${name}-load ${args.join(" ")} ended with code ${code}: ${load.errorText()}`);
      });
      // What ends after its figures is no failure.
      failed.catch(() => {});
      const lines = createInterface({ input: load.child.stdout! });
      await Promise.race([once(lines, "line"), failed]);
      onBegin();
      const [figures] = (await Promise.race([once(lines, "line"), failed])) as [string];
      await onEnd();
      load.child.stdin?.end();
      await load.ended;
      return JSON.parse(figures);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** CPU seconds of each part of a server while the load runs; `whileItStays` is awaited before the load's connections end. */
export async function cpuWhile<Figures>(
  parts: readonly { pids(): readonly number[] }[],
  load: CompiledLoad,
  args: readonly (string | number)[],
  whileItStays: () => void | Promise<void> = () => {},
): Promise<{ figures: Figures; cpu: readonly number[] }> {
  const read = () => parts.map(({ pids }) => cpuSeconds(pids()));
  let before: readonly number[] = [];
  let after: readonly number[] = [];
  const figures = await load.run<Figures>(args, {
    onBegin() {
      before = read();
    },
    async onEnd() {
      after = read();
      await whileItStays();
    },
  });
  return { figures, cpu: after.map((seconds, index) => seconds - before[index]!) };
}
