import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../support/start-backlot.ts";

it("every rule of docs/spec/grpc.md has a test with its number, and every number has its rule", () => {
  const specified = [...readFileSync(path.join(projectRoot, "docs/spec/grpc.md"), "utf8").matchAll(/^- \*\*\[(GRPC-\d+)\]\*\*/gm)].map(
    ([, rule = ""]) => rule,
  );
  const folders = [".", "../renderer-grpc", "../browser"].map((folder) => path.join(import.meta.dirname, folder));
  const tested = folders
    .flatMap((folder) => readdirSync(folder).map((file) => path.join(folder, file)))
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) => [...readFileSync(file, "utf8").matchAll(/^ *it\(["'`]\[(GRPC-\d+)\]/gm)])
    .map(([, rule = ""]) => rule);
  const byNumber = (left: string, right: string) => Number(left.slice(5)) - Number(right.slice(5));
  expect([...new Set(tested)].sort(byNumber)).toEqual(specified.toSorted(byNumber));
});
