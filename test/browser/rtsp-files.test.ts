import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { openBrowserShell } from "./browser-shell.ts";
import { dropFiles } from "./drop-files.ts";

const clip = readFileSync(assetFile("rtsp", "stream.mp4"));

it("[RTSP-156] an MP4 file is dropped, shown while it is sent, played, renamed and removed; another file is refused", async () => {
  const { page } = await openBrowserShell("rtsp");
  await page.getByRole("tab", { name: "Paths", exact: true }).click();
  const hint = "Drop MP4 files with H.264 or H.265 and AAC: each becomes a stream";
  const panel = page.getByRole("region", { name: "Your files" });
  await panel.getByText("none; drop MP4 files").waitFor();
  await dropFiles(page, { "Front door.mp4": clip, "notes.txt": "no pictures" }, hint);
  await page.getByText("Front door.mp4 is played on /Front-door").waitFor();
  const refused = panel.getByRole("listitem").filter({ hasText: "notes.txt" });
  await refused.getByText("The file is no MP4 file.").waitFor();
  await refused.getByText(/^ffmpeg -i notes\.txt .* notes-new\.mp4$/).waitFor();
  await refused.getByRole("button", { name: "Copy the command" }).waitFor();
  await page.getByRole("row").filter({ hasText: "/Front-door" }).waitFor();
  await panel.getByText("1 file · 1 refused").waitFor();
  await panel.getByRole("button", { name: "Dismiss notes.txt" }).click();
  await expect.poll(() => refused.count()).toBe(0);
  // One that is dropped again is refused once, and no more when it can be played.
  for (const content of ["no pictures", "none either"]) await dropFiles(page, { "door.mp4": content }, hint);
  await panel.getByText("1 file · 1 refused").waitFor();
  await dropFiles(page, { "door.mp4": clip }, hint);
  await page.getByText("door.mp4 is played on /door").waitFor();
  await panel.getByText("2 files", { exact: true }).waitFor();
  await panel.getByRole("button", { name: "Remove door.mp4", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove the file" }).click();
  await panel.getByText("1 file", { exact: true }).waitFor();

  await panel.getByRole("button", { name: "Change the path of Front door.mp4" }).click();
  const dialog = page.getByRole("dialog", { name: "Path of Front door.mp4" });
  await dialog.getByRole("textbox", { name: "Path" }).fill("test");
  await dialog.getByRole("button", { name: "Change the path" }).click();
  await page.getByText("There is a path test already").waitFor();
  await dialog.getByRole("textbox", { name: "Path" }).fill("site/door");
  await dialog.getByRole("button", { name: "Change the path" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "/site/door" }).waitFor();

  // Large enough to be seen on its way, and cancelled.
  const long = { name: "long.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(48 << 20) };
  await page.getByLabel("MP4 files to add").setInputFiles(long, { timeout: 90_000 });
  await page.getByRole("progressbar", { name: "Upload of long.mp4" }).waitFor();
  await panel.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Cancelled: long.mp4 was not added").waitFor();
  await expect.poll(() => page.getByRole("progressbar").count()).toBe(0);

  await panel.getByRole("button", { name: "Remove Front door.mp4" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove the file" }).click();
  await panel.getByText("none; drop MP4 files").waitFor();
  await expect.poll(() => page.getByRole("row").filter({ hasText: "/site/door" }).count()).toBe(0);
}, 240_000);
