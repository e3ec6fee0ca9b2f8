import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { eventBody } from "../events/harness.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { openBrowserShell } from "./browser-shell.ts";

it("[BL-101] [BL-103] an export from the page is a download of the browser, and the page says when it ends", async () => {
  const { page, origin } = await openBrowserShell("events");
  for (const outcome of ["accepted", "rejected"])
    await fetch(`${origin}/events`, { method: "POST", body: JSON.stringify(eventBody({ outcome })) });
  await page.getByText("1 to 2 of 2").first().waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "Export as JSONL" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^events-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.jsonl$/);
  const lines = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { id: 1, outcome: "accepted" },
    { id: 2, outcome: "rejected" },
  ]);
  await page.getByText("Exported 2 events").waitFor();
});

it("[BL-103] Cancel in its note ends the download", async () => {
  const file = path.join(temporaryDir(), "events.db");
  execFileSync(process.execPath, [path.join(projectRoot, "bench/load/fill-events.ts"), file, "200000"]);
  const { page } = await openBrowserShell("events", { flags: ["--events-database", file] });
  await page.getByText("1 to 50 of 200,000").first().waitFor({ timeout: 60_000 });
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "Export as CSV", exact: true }).click();
  const download = await downloading;
  await page.getByRole("group").getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Export cancelled").waitFor();
  expect(await download.failure()).not.toBeNull();
});
