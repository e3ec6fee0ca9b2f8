import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "./support/start-backlot.ts";

/** Lines with the name of a test or of a group of tests: `it("…`, and the name alone below a table of cases. */
const nameLine = /^ *(?:it|test|describe)\b.*$|^ *\](?: as const)?\)\(".*$|^ *["'`]\[[A-Z]+-\d+\].*$/gm;

/** The names of all tests, also of those that several test files share. */
function testNames(): string {
  const folder = path.join(projectRoot, "test");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return files.flatMap((file) => readFileSync(path.join(folder, file), "utf8").match(nameLine) ?? []).join("\n");
}
const names = testNames();

const specFolder = path.join(projectRoot, "docs/spec");
const documents = readdirSync(specFolder);
/** `- **[BL-1]** …` */
const ruleLine = /^- \*\*\[(([A-Z]+)-\d+)\]\*\*/gm;

it.each(documents)("every rule of docs/spec/%s has a test with its number, and every number has its rule", (document) => {
  const rules = [...readFileSync(path.join(specFolder, document), "utf8").matchAll(ruleLine)];
  const specified = rules.map(([, rule = ""]) => rule);
  const prefixes = new Set(rules.map(([, , prefix]) => prefix));
  expect(prefixes.size, "has one prefix").toBe(1);
  const [prefix] = prefixes;
  const tested = [...names.matchAll(new RegExp(`\\[(${prefix}-\\d+)\\]`, "g"))].map(([, rule = ""]) => rule);
  expect(specified.length).toBe(new Set(specified).size);
  expect([...new Set(tested)].sort()).toEqual(specified.sort());
});
