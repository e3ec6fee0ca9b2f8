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
    expect(stdout).not.toMatch(/node_modules\/(?!better-sqlite3\/)|\.map\n|backlot\.cjs/);
  },
  120_000,
);
