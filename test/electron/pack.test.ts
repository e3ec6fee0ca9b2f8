import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { root } from "./launch-app.ts";

it.skipIf(process.platform !== "linux")("packs the files that are needed and nothing else, with the fuses set", async () => {
  // Other tests read dist/ at the same time: it is built before all of them.
  const check = [path.join(root, "scripts/pack.mjs"), "--check", "--built"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, check, { cwd: root });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/ dist\/electron\/main\.cjs\n/);
  // Beside the archive, as the check has seen.
  for (const clip of ["stream", "test"]) expect(stdout).toContain(`dist/servers/rtsp/assets/${clip}.mp4\n`);
  expect(stdout).toMatch(/ dist\/servers\/rtsp\/rtmp-worker\.cjs\n/);
  expect(stdout).toMatch(/ dist\/servers\/webrtc\/assets\/socket\.io\/socket\.io\.min\.js\n/);
  expect(stdout).not.toMatch(/node_modules\/(?!better-sqlite3\/)|\.map\n|backlot\.cjs/);
});

it("is not packed for a runtime with a fuse that nobody decided on", async () => {
  const { fuseSentinel } = await import(path.join(root, "scripts/dummy-runtime.mjs"));
  const { knownFuses, requireKnownFuses } = await import(path.join(root, "scripts/require-known-fuses.mjs"));
  const binary = path.join(temporaryDir(), "electron");
  const write = (fuses: string) =>
    writeFileSync(binary, Buffer.concat([Buffer.from(`ELF ${fuseSentinel}`), Buffer.from([1, fuses.length]), Buffer.from(`${fuses} end`)]));
  write("101100011");
  expect(knownFuses).toHaveLength(9);
  await requireKnownFuses(binary);
  write("1011000111");
  await expect(requireKnownFuses(binary)).rejects.toThrow("The runtime has 10 fuses, of which 9 are known");
});
