/**
 * `npm run pack`: builds, then makes the installers for this platform in release/. `--check` packs a runtime that is a dummy, and looks inside;
 * with `--built` it packs what is in dist/, which other programs may be reading.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { build } from "./build.mjs";
import { makeDummyRuntime } from "./dummy-runtime.mjs";
import { inspectPackage } from "./inspect-package.mjs";

const root = path.resolve(import.meta.dirname, "..");

async function runBuilder(args) {
  const builder = createRequire(import.meta.url).resolve("electron-builder/cli.js");
  const child = spawn(process.execPath, [builder, "--publish", "never", ...args], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`electron-builder ended with ${code}`);
}

/** Where no Electron binary can be had, the package still shows what would be in it. */
async function check() {
  const folder = await mkdtemp(path.join(os.tmpdir(), "backlot-pack-"));
  try {
    const runtime = path.join(folder, "runtime");
    await makeDummyRuntime(runtime);
    const output = path.join(folder, "release");
    await runBuilder(["--linux", "dir", "--x64", `-c.electronDist=${runtime}`, `-c.directories.output=${output}`]);
    const { files, problems } = await inspectPackage(path.join(output, "linux-unpacked"));
    for (const { name, bytes } of files) console.log(`${String(bytes).padStart(9)}  ${name}`);
    console.log(`${files.length} files, ${files.reduce((sum, { bytes }) => sum + bytes, 0)} bytes`);
    for (const problem of problems) console.error(problem);
    return problems.length === 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (!process.argv.includes("--built")) await build({ log: console.log });
if (process.argv.includes("--check")) process.exitCode = (await check()) ? 0 : 1;
else await runBuilder(process.argv.slice(2).filter((argument) => argument !== "--built"));
