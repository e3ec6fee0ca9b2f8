import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { createPageFiles } from "../../servers/webrtc/test-page/page-files.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

it("[WEBRTC-481] a file of the test page is read once, however many ask for it", async () => {
  const folder = temporaryDir();
  const files = createPageFiles(folder);
  expect(await files.document()).toBe(undefined);
  await mkdir(path.join(folder, "assets"));
  await writeFile(path.join(folder, "index.html"), "page");
  const [first, second] = await Promise.all([files.document(), files.document()]);
  expect(first?.content.toString()).toBe("page");
  expect(second).toBe(first);
  await rm(path.join(folder, "index.html"));
  expect(await files.document()).toBe(first);
});
