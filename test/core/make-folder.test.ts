import { existsSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../servers/core/files/make-folder.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

it("[BL-414] makes the folders that are missing, for the user alone", () => {
  const folder = path.join(temporaryDir(), "a", "b", "c");
  makeFolder(folder);
  makeFolder(folder);
  expect([statSync(folder).isDirectory(), statSync(path.dirname(folder)).mode & 0o777]).toEqual([true, 0o700]);
});

it("[BL-414] says where no folder can be made", () => {
  const file = path.join(temporaryDir(), "file");
  writeFileSync(file, "");
  expect(() => makeFolder(file)).toThrow("EEXIST");
  expect(() => makeFolder(path.join(file, "a", "b"))).toThrow("ENOTDIR");
});

it.runIf(existsSync("/proc/self"))("[BL-414] says so of a file system that has ENOENT for each new folder", () => {
  expect(() => makeFolder("/proc/nope/a")).toThrow("ENOENT");
});
