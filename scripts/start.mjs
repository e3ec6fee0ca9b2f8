/** `npm start`: sets up what is missing, then runs Backlot in the shell that this machine can show. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildWhatChanged, continueOnSuitableNode, fail, installPackages, root } from "./setup.mjs";

const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/start.mjs"), args);
await buildWhatChanged();

// What these ask for, a window does not give.
const withoutWindow = ["--headless", "--browser", "--json", "--dashboard-port", "--help", "--version"];
const asksForNoWindow = args.some((argument) => withoutWindow.includes(argument.split("=")[0]));
if (!asksForNoWindow) {
  const { openDesktop } = await import("./desktop.mjs");
  const reason = await openDesktop(args);
  if (args.includes("--desktop")) fail(`No desktop window: ${reason}.`);
  console.error(`No desktop window: ${reason}. The dashboard is at a URL instead:`);
}
await import(pathToFileURL(path.join(root, "dist/servers/backlot.cjs")).href);
