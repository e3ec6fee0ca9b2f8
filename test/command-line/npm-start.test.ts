import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { isPortFree } from "../../servers/supervisor/port-doctor.ts";
import { eventually } from "../support/eventually.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

/** The command of the README, as a person or a CI job types it. */
function npmStart(...args: string[]) {
  const child = spawn("npm", ["start", "--", "--data-dir", temporaryDir(), "--dashboard-port", "0", ...args], {
    cwd: projectRoot,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    detached: true,
  });
  onTestFinished(() => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // It has ended with all its children.
    }
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return { child, ended: once(child, "close"), stdout: () => stdout, stderr: () => stderr };
}

const lines = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; state?: string; endpoints?: { url: string }[] });

describe("npm start", () => {
  it('[BL-77] a failing run prints its "failed" line, and npm prints nothing', async () => {
    const run = npmStart("--headless", "--only", "http", "--http-port", "abc", "--json");
    expect((await run.ended)[0]).toBe(2);
    expect(lines(run.stdout())).toMatchObject([{ type: "failed", failure: { code: "USAGE" } }]);
  });

  it("[BL-77] refuses wrong arguments before it checks for a display", async () => {
    const run = npmStart("--only", "http", "--start-all");
    expect((await run.ended)[0]).toBe(2);
    expect([run.stdout(), run.stderr()]).toEqual(["", expect.stringMatching(/^USAGE: --only and --start-all exclude each other\n/)]);
  });

  it.each([
    ["builds", "", 0, "goes on\n"],
    ["fails", "process.exit(3);", 3, ""],
  ])("[BL-446] a build that %s is one in another process", async (_, end, code, stdout) => {
    const folder = temporaryDir();
    const scripts = path.join(folder, "scripts");
    mkdirSync(scripts);
    copyFileSync(path.join(projectRoot, "scripts/setup.mjs"), path.join(scripts, "setup.mjs"));
    writeFileSync(
      path.join(scripts, "build.mjs"),
      `export const changedParts = () => ["node"];
if (process.argv[1] === import.meta.filename) { console.log("built by", process.pid); ${end} }`,
    );
    writeFileSync(
      path.join(scripts, "start.mjs"),
      `import { buildWhatChanged } from "./setup.mjs"; await buildWhatChanged(); console.log("goes on");`,
    );
    const child = spawn(process.execPath, [path.join(scripts, "start.mjs")], { stdio: ["ignore", "pipe", "pipe"] });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [exitCode] = await once(child, "close");
    const [printed, said] = await output;
    expect([exitCode, printed]).toEqual([code, stdout]);
    expect(said).toMatch(/^built by \d+\n$/);
    expect(said).not.toContain(String(child.pid));
  });

  /** `scripts/start.mjs` in a folder of its own, with a build and a program that say where they are and wait. */
  function startFixture({ build = "export const changedParts = () => [];", program = "" }) {
    const folder = temporaryDir();
    for (const inside of ["scripts", "dist/servers", "node_modules"]) mkdirSync(path.join(folder, inside), { recursive: true });
    for (const script of ["setup.mjs", "start.mjs"])
      copyFileSync(path.join(projectRoot, "scripts", script), path.join(folder, "scripts", script));
    for (const lockfile of ["package-lock.json", "node_modules/.package-lock.json"])
      writeFileSync(path.join(folder, lockfile), JSON.stringify({ packages: {} }));
    writeFileSync(path.join(folder, "scripts/build.mjs"), build);
    writeFileSync(path.join(folder, "dist/servers/backlot.cjs"), program);
    const child = spawn(process.execPath, ["scripts/start.mjs", "--headless"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += chunk;
      });
    return { child, folder, ended: once(child, "close"), said: () => said };
  }
  const waits = "setInterval(() => {}, 1_000);";

  it.each([
    ["looks for what has changed", { build: `console.log("waits"); await new Promise(() => { ${waits} });` }],
    [
      "builds",
      { build: `export const changedParts = () => [1]; if (process.argv[1] === import.meta.filename) { console.log("waits"); ${waits} }` },
    ],
    [
      "builds, and the build ends with a code",
      {
        build: `export const changedParts = () => [1];
          if (process.argv[1] === import.meta.filename) { process.on("SIGTERM", () => process.exit(143)); console.log("waits"); ${waits} }`,
      },
    ],
  ])("[BL-586] SIGTERM while it %s ends with exit code 0", async (_, files) => {
    const run = startFixture(files);
    await eventually(() => run.said().includes("waits"), "it waits");
    run.child.kill("SIGTERM");
    expect(await run.ended).toEqual([0, null]);
  });

  it("[BL-586] SIGTERM while the program is loaded is left to it", async () => {
    const program = `const { existsSync } = require("node:fs");
      console.log("waits");
      while (!existsSync("go-on"));
      process.on("SIGTERM", () => { console.log("in order"); process.exit(3); });
      ${waits}`;
    const run = startFixture({ program });
    await eventually(() => run.said().includes("waits"), "it is loaded");
    run.child.kill("SIGTERM");
    writeFileSync(path.join(run.folder, "go-on"), "");
    expect(await run.ended).toEqual([3, null]);
    expect(run.said()).toBe("waits\nin order\n");
  });

  it("[BL-586] SIGTERM to a launcher whose newer Node does not listen yet ends with exit code 0", async () => {
    const setup = path.join(projectRoot, "scripts/setup.mjs");
    const program = `import { endOnSignals, run } from ${JSON.stringify(setup)};
      endOnSignals();
      process.exit(await run(process.execPath, ["-e", ${JSON.stringify(`console.log("waits"); ${waits}`)}]));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "close");
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  it.runIf(process.platform === "linux")(
    "[BL-78] SIGKILL of a launcher that continued on a newer Node ends Backlot and its services",
    async () => {
      // The system's own Node, which is older on many machines; with a new one Backlot is the launcher itself.
      const node = ["/usr/bin/node", process.execPath].find((file) => existsSync(file)) as string;
      const args = ["scripts/start.mjs", "--headless", "--only", "http", "--http-port", "0", "--json", "--dashboard-port", "0"];
      const child = spawn(node, [...args, "--data-dir", temporaryDir()], {
        cwd: projectRoot,
        env: { PATH: process.env.PATH, HOME: process.env.HOME },
        stdio: ["ignore", "pipe", "ignore"],
        detached: true,
      });
      onTestFinished(() => {
        try {
          process.kill(-(child.pid as number), "SIGKILL");
        } catch {
          // It has ended with all its children.
        }
      });
      let stdout = "";
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
      });
      await eventually(() => stdout.includes('"ready"'), "it is ready");
      const url = lines(stdout).find(({ state }) => state === "running")?.endpoints?.[0]?.url ?? "";
      child.kill("SIGKILL");
      await eventually(() => isPortFree(Number(new URL(url).port), false), "its port is free");
    },
  );

  it("[BL-78] SIGTERM to npm ends Backlot and its services", async () => {
    const run = npmStart("--headless", "--only", "http", "--http-port", "0", "--json");
    await eventually(() => run.stdout().includes('"ready"'), "it is ready");
    const url = lines(run.stdout()).find(({ state }) => state === "running")?.endpoints?.[0]?.url ?? "";
    run.child.kill("SIGTERM");
    await run.ended;
    await eventually(() => isPortFree(Number(new URL(url).port), false), "its port is free");
  });
});
