/** `npm start`: sets up what is missing, then runs Backlot in the shell that this machine can show. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildWhatChanged, continueOnSuitableNode, endOnSignals, fail, installPackages, root } from "./setup.mjs";

endOnSignals();
const args = process.argv.slice(2);
endWithParent();
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/start.mjs"), args);
await buildWhatChanged();
// What these ask for, a window does not give; the program says itself what is wrong with its arguments.
const has = (...names) => args.some((argument) => names.includes(argument.split("=")[0]));
const asksForOther = has("--headless", "--browser", "--json", "--help", "--version");
const withoutWindow = ["--dashboard-port", "--dashboard-connections", "--dashboard-unread", "--record"].find((name) => has(name));
if (!asksForOther) {
  const { problemWithArguments } = createRequire(import.meta.url)("../dist/servers/check-arguments.cjs");
  // Chromium's own switch is the runtime's business.
  const problem = problemWithArguments(args.filter((argument) => argument !== "--no-sandbox"));
  if (problem) {
    console.error(problem);
    process.exit(2);
  }
  if (withoutWindow) console.error(`No desktop window: ${withoutWindow} is for a run without one.`);
  else {
    const { openDesktop } = await import("./desktop.mjs");
    const reason = await openDesktop(args);
    if (args.includes("--desktop")) fail(`No desktop window: ${reason}.`);
    console.error(`No desktop window: ${reason}. The dashboard is at a URL instead:`);
  }
}
await import(pathToFileURL(path.join(root, "dist/servers/backlot.cjs")).href);

/**
 * npm passes a SIGTERM on to its shell, and the shell passes nothing on; a launcher that continued on another Node may be killed.
 * Whoever is left alone ends in order as well.
 */
function endWithParent() {
  const launcher = process.env.BACKLOT_LAUNCHER;
  // Not for the services, which have a parent of their own.
  delete process.env.BACKLOT_LAUNCHER;
  if (launcher === undefined && process.env.npm_lifecycle_event === undefined) return;
  const parent = launcher === undefined ? process.ppid : Number(launcher);
  const watch = () => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  };
  const timer = setInterval(watch, 250).unref();
}
