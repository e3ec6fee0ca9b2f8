import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { services } from "../../servers/catalog.ts";
import { configProperties, environmentNames } from "../../servers/core/config/config.ts";
import { settingsDocument } from "../support/settings-document.ts";
import { projectRoot } from "../support/start-backlot.ts";

const readme = readFileSync(path.join(projectRoot, "README.md"), "utf8");

it("docs/settings.md is generated from the schemas", async () => {
  await expect(settingsDocument(services)).toMatchFileSnapshot(path.join(projectRoot, "docs/settings.md"));
});

it("the README is short, and the variables in its table exist with these defaults", () => {
  expect(readme.split("\n").length).toBeLessThan(150);
  const table = readme.slice(readme.indexOf("## Settings"), readme.indexOf("## Speed"));
  const rows = [...table.matchAll(/^\| ([\w ]+?) \| (`[^|]+`) \| ([^|]*?) \|/gm)];
  expect(rows.length).toBeGreaterThan(4);
  for (const [, title = "", variables = "", defaults = ""] of rows) {
    const service = services.find((candidate) => title.startsWith(candidate.title));
    expect(service, title).toBeDefined();
    for (const [index, variable] of variables.split(", ").entries()) {
      const name = variable.replaceAll("`", "");
      const found = service && configProperties(service).find(([, property]) => environmentNames(service, property).includes(name));
      expect({ name, fallback: String(found?.[1].default) }).toEqual({ name, fallback: defaults.split(", ")[index] });
    }
  }
});
