/** Finds or fetches the Electron runtime and runs Backlot's window in it. */
import { spawn } from "node:child_process";
import { lookup } from "node:dns/promises";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { root, run } from "./setup.mjs";

const electronDir = path.join(root, "node_modules/electron");
const downloadHost = "github.com";

/** Returns why no window can open; otherwise exits with the window's exit code once it is closed. */
export async function openDesktop(args) {
  if (process.platform === "linux") {
    if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return "there is no display (DISPLAY and WAYLAND_DISPLAY are not set)";
    // Chromium has no sandbox for root, and Backlot never turns the sandbox off by itself.
    if (process.getuid?.() === 0 && !args.includes("--no-sandbox")) return "Electron does not run as root with its sandbox on";
  }
  const runtime = findRuntime() ?? (await fetchRuntime());
  if (runtime.reason) return runtime.reason;

  const child = spawn(runtime.file, [root, ...args], { stdio: ["inherit", "inherit", "pipe", "ipc"], env: withoutRunAsNode() });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-4_000);
    process.stderr.write(chunk);
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // If the runtime ends before its window opens (missing libraries, no sandbox), the URL is used instead.
  const exited = new Promise((resolve) => {
    child.once("error", (error) => resolve({ error: error.message }));
    child.once("exit", (code, signal) => resolve({ code: code ?? 1, signal }));
  });
  const up = new Promise((resolve) => child.once("message", () => resolve("up")));
  const first = await Promise.race([up, exited]);
  if (first === "up" || first.code === 0 || first.code === 2) {
    const { code = 1 } = await exited;
    process.exit(code);
  }
  const line = stderr.split("\n").find((text) => /error|sandbox|display|cannot/i.test(text));
  return `Electron did not start (${(first.error ?? line ?? first.signal ?? `exit code ${first.code}`).trim()})`;
}

function findRuntime() {
  const name = { darwin: "Electron.app/Contents/MacOS/Electron", win32: "electron.exe" }[process.platform] ?? "electron";
  const file = path.join(process.env.ELECTRON_OVERRIDE_DIST_PATH ?? path.join(electronDir, "dist"), name);
  return existsSync(file) ? { file } : undefined;
}

/** The package contains no binary: its installer downloads it once. */
async function fetchRuntime() {
  const installer = path.join(electronDir, "install.js");
  if (!existsSync(installer)) return { reason: "the electron package is not installed" };
  const { version } = JSON.parse(readFileSync(path.join(electronDir, "package.json"), "utf8"));
  const missing = `the Electron ${version} runtime is not on this machine`;
  if (process.env.ELECTRON_SKIP_BINARY_DOWNLOAD) return { reason: `${missing}, and ELECTRON_SKIP_BINARY_DOWNLOAD is set` };
  const offline = await Promise.race([
    lookup(process.env.ELECTRON_MIRROR ? new URL(process.env.ELECTRON_MIRROR).hostname : downloadHost).then(
      () => false,
      () => true,
    ),
    new Promise((resolve) => setTimeout(() => resolve(true), 3_000).unref()),
  ]);
  if (offline) return { reason: `${missing} and cannot be downloaded offline` };
  console.error(`Downloading the Electron ${version} runtime (once) ...`);
  const code = await run(process.execPath, [installer], { toStderr: true });
  return findRuntime() ?? { reason: `${missing}, and its download failed (exit code ${code})` };
}

function withoutRunAsNode() {
  const { ELECTRON_RUN_AS_NODE: _, ...environment } = process.env;
  return environment;
}
