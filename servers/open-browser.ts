import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { writeFileAtomically } from "./core/files/atomic-file.ts";

/**
 * Opens the link in the system's browser. What is opened is a page in the data folder that leads there, readable by its owner only: every user
 * of the computer sees the arguments of programs, and the link has the dashboard's token. Returns what removes the page. Where no browser can
 * be opened nothing happens: the link is printed too.
 */
export async function openBrowser(link: string, dataDir: string): Promise<() => Promise<void>> {
  const page = path.join(dataDir, `open-dashboard-${new URL(link).port}.html`);
  try {
    await writeFileAtomically(page, pageTo(link));
  } catch {
    return async () => {};
  }
  const [command, ...args] = opener(page);
  const child = spawn(command, args, { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
  return () => rm(page, { force: true });
}

function opener(file: string): readonly [command: string, ...args: string[]] {
  if (process.platform === "darwin") return ["open", file];
  return process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler", pathToFileURL(file).href] : ["xdg-open", file];
}

function pageTo(link: string): string {
  const escaped = link.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${escaped}"><title>Backlot</title></head>
<body><p><a href="${escaped}">Open the dashboard</a></p></body>
</html>
`;
}
