import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../support/start-backlot.ts";

it("every rule of docs/spec/account.md has a test with its number, and every number has its rule", () => {
  const specified = [...readFileSync(path.join(projectRoot, "docs/spec/account.md"), "utf8").matchAll(/^\| (AC-\d+) \|/gm)].map(
    ([, rule = ""]) => rule,
  );
  const tested = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) => [...readFileSync(path.join(import.meta.dirname, file), "utf8").matchAll(/^it\(["'`]\[(AC-\d+)\]/gm)])
    .map(([, rule = ""]) => rule);
  const byNumber = (left: string, right: string) => Number(left.slice(3)) - Number(right.slice(3));
  expect([...new Set(tested)].sort(byNumber)).toEqual(specified);
});
