import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

it("every rule of docs/spec/mqtt.md has a test that is named after it in the file it names, and every such test its rule", () => {
  const document = readFileSync(path.join(import.meta.dirname, "../../docs/spec/mqtt.md"), "utf8");
  const rules = [...document.matchAll(/^\| (MQTT-\d+) \|.*\| ([a-z, -]+) \|$/gm)];
  const specified = rules.flatMap(([, rule, files]) => (files ?? "").split(", ").map((file) => `${rule} ${file}`));
  const files = readdirSync(import.meta.dirname).filter(
    (name) => name.endsWith(".test.ts") && name !== path.basename(import.meta.filename),
  );
  const tested = files.flatMap((name) => {
    const text = readFileSync(path.join(import.meta.dirname, name), "utf8");
    // In a test's name: MQTT-x.y.z of the standard is no rule of ours.
    return [...new Set([...text.matchAll(/"\[(MQTT-\d+)\]/g)].map((match) => `${match[1]} ${path.basename(name, ".test.ts")}`))];
  });
  expect(tested.sort()).toEqual(specified.sort());
  const numbers = rules.map(([, rule]) => Number(rule?.slice("MQTT-".length)));
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
});
