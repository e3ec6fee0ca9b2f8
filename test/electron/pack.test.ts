import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { root } from "./launch-app.ts";

it.skipIf(process.platform !== "linux")(
  "packs the files that are needed and nothing else, with the fuses set",
  async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [path.join(root, "scripts/pack.mjs"), "--check"], { cwd: root });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/ dist\/electron\/main\.cjs\n/);
    // Beside the archive, as the check has seen.
    for (const clip of ["stream", "test"]) expect(stdout).toContain(`dist/servers/rtsp/assets/${clip}.mp4\n`);
    expect(stdout).toMatch(/ dist\/servers\/rtsp\/rtmp-worker\.cjs\n/);
    expect(stdout).not.toMatch(/node_modules\/(?!better-sqlite3\/)|\.map\n|backlot\.cjs/);
  },
  120_000,
);
