import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { writeFileAtomically } from "../../servers/core/files/atomic-file.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

describe("atomic file", () => {
  it("[BL-30] replaces the content, there and in the backup, and leaves nothing else", async () => {
    const dir = path.join(temporaryDir(), "made", "here");
    const file = path.join(dir, "a.json");
    const backup = path.join(dir, "a.backup.json");
    await writeFileAtomically(file, "one", { backup });
    await writeFileAtomically(file, "two", { backup });
    expect(readdirSync(dir).sort()).toEqual(["a.backup.json", "a.json"]);
    expect([readFileSync(file, "utf8"), readFileSync(backup, "utf8")]).toEqual(["two", "two"]);
  });

  it.skipIf(process.platform === "win32")("[BL-30] lets only its owner read it", async () => {
    const dir = temporaryDir();
    const file = path.join(dir, "a.json");
    const backup = path.join(dir, "b.json");
    await writeFileAtomically(file, "one", { backup });
    await writeFileAtomically(file, "two", { backup });
    expect([file, backup].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it("[BL-30] keeps the old file and leaves no temporary file when renaming fails", async () => {
    const dir = temporaryDir();
    const file = path.join(dir, "a.json");
    mkdirSync(file);
    writeFileSync(path.join(file, "inside"), "");
    await expect(writeFileAtomically(file, "two")).rejects.toThrow();
    expect(readdirSync(dir)).toEqual(["a.json"]);
  });
});
