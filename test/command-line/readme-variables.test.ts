import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { services } from "../../servers/catalog.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { variablesTable } from "../support/variables-table.ts";

const readme = path.join(projectRoot, "README.md");
const section = /(<!-- variables -->\n)[\s\S]*?(<!-- \/variables -->)/;

it("the README's table of variables is the one of the schemas; `vitest run readme-variables --update=all` writes it", async () => {
  const text = readFileSync(readme, "utf8");
  expect(text).toMatch(section);
  const expected = text.replace(section, (_, begin: string, end: string) => `${begin}${variablesTable(services)}${end}`);
  await expect(expected).toMatchFileSnapshot(readme);
});
