import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { databasePlace } from "../../servers/events/store/database-place.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { eventBody, post, startEvents } from "./harness.ts";

/** Runs a command whose last argument is the file that it makes. */
function made(command: string, ...args: string[]): string {
  execFileSync(command, args);
  return args.at(-1) ?? "";
}

it.skipIf(process.platform === "win32").each<[string, (folder: string) => string, string]>([
  ["a folder", (folder) => folder, "is not a regular file"],
  ["a named pipe", (folder) => made("mkfifo", path.join(folder, "pipe")), "is not a regular file"],
  ["a device", () => "/dev/zero", "is not a regular file"],
  ["a link to itself", (folder) => made("ln", "-s", "loop", path.join(folder, "loop")), "cannot be read"],
  ["a name that is too long", (folder) => path.join(folder, "a".repeat(300)), "cannot be read"],
])("[EV-242] %s as EVENTS_DB ends the start", async (_what, place, problem) => {
  const file = place(temporaryDir());
  for (const database of [file, `file://${file}`]) {
    await expect(startEvents({ database })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `Database: ${file} ${problem}`,
      field: { name: "database" },
    });
  }
});

it("[EV-242] a path with a NUL character is no value of EVENTS_DB", () => {
  for (const text of ["a\0b", "file:///a%00b"]) expect(databasePlace(text).kind).toBe("unknown");
});

it("[EV-242] a file that is missing is made, also in a folder that is missing", async () => {
  const file = path.join(temporaryDir(), "new", "events.db");
  const events = await startEvents({ database: file });
  expect((await post(events.url, eventBody())).status).toBe(201);
  expect(statSync(file).isFile()).toBe(true);
});
