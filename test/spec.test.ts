import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "./support/start-backlot.ts";

const rules = (text: string) => [...text.matchAll(/^- \*\*\[(BL-\d+)\]\*\*/gm)].map((match) => match[1] ?? "");

/** The rules that the names of tests claim, in every test file. */
function testedRules(): Set<string> {
  const folder = path.join(projectRoot, "test");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.test\.tsx?$/.test(file));
  return new Set(
    files.flatMap((file) =>
      [...readFileSync(path.join(folder, file), "utf8").matchAll(/^ *(?:it|test)\b.*$|^ *\]\)\(".*$/gm)].flatMap(([line]) =>
        [...line.matchAll(/\[(BL-\d+)\]/g)].map((match) => match[1] ?? ""),
      ),
    ),
  );
}

it("every rule of docs/spec/backlot.md has a test with its number, and every number has its rule", () => {
  const specified = rules(readFileSync(path.join(projectRoot, "docs/spec/backlot.md"), "utf8"));
  expect(specified.length).toBe(new Set(specified).size);
  const byNumber = (left: string, right: string) => Number(left.slice(3)) - Number(right.slice(3));
  expect([...testedRules()].sort(byNumber)).toEqual(specified);
});
