import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

it("[BL-161] a service's assets and child programs are found by their location", () => {
  const root = temporaryDir();
  for (const file of [
    "rtsp/assets/picture.h264",
    "rtsp/encoder-process.ts",
    "grpc/decoder-worker.ts",
    "grpc/start-grpc.ts",
    "core/a-process.ts",
    "supervisor/assets/a",
  ]) {
    mkdirSync(path.dirname(path.join(root, "servers", file)), { recursive: true });
    writeFileSync(path.join(root, "servers", file), "");
  }
  const script = `import { serviceAssets, serviceEntries } from ${JSON.stringify(path.join(projectRoot, "scripts/service-files.mjs"))};
    console.log(JSON.stringify([serviceEntries(process.argv[1]), serviceAssets(process.argv[1])]));`;
  expect(JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script, root], { encoding: "utf8" }))).toEqual([
    { "servers/grpc/decoder-worker": "servers/grpc/decoder-worker.ts", "servers/rtsp/encoder-process": "servers/rtsp/encoder-process.ts" },
    ["servers/rtsp/assets"],
  ]);
});

it("[BL-161] an asset is found from source and when built, also if a parent folder has the same name", () => {
  const parts = (...names: readonly string[]) => path.join(path.sep, ...names);
  expect(assetFile("rtsp", "a.h264")).toBe(path.join(projectRoot, "servers/rtsp/assets/a.h264"));
  expect(assetFile("rtsp", "a.h264", parts("servers", "app", "dist", "servers", "chunks"))).toBe(
    parts("servers", "app", "dist", "servers", "rtsp", "assets", "a.h264"),
  );
  expect(assetFile("rtsp", "a.h264", parts("app", "dist", "servers"))).toBe(parts("app", "dist", "servers", "rtsp", "assets", "a.h264"));
});
