import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const documents = path.join(import.meta.dirname, "../../docs");
const rulePattern = /^- \*\*\[(MQTT-\d+)\]\*\*.* · ([a-z, -]+)$/gm;

it("every rule of docs/spec/mqtt.md has a test with its number in the file it names, and every number has its rule", () => {
  const document = readFileSync(path.join(documents, "spec/mqtt.md"), "utf8");
  const rules = [...document.matchAll(rulePattern)];
  const specified = rules.flatMap(([, rule, files]) => (files ?? "").split(", ").map((file) => `${rule} ${file}`));
  const filesIn = (folder: string, prefix: string) =>
    readdirSync(path.join(import.meta.dirname, "..", folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts") && name !== path.basename(import.meta.filename))
      .map((name) => ({ file: path.join(import.meta.dirname, "..", folder, name), title: prefix + path.basename(name, ".test.ts") }));
  const browserFile = (name: string, title: string) => ({ file: path.join(import.meta.dirname, "../browser", `${name}.test.ts`), title });
  const refresher = { file: path.join(import.meta.dirname, "../renderer/refresher.test.ts"), title: "refresher" };
  const tested = [
    ...filesIn("mqtt", ""),
    ...filesIn("renderer-mqtt", "page-"),
    ...filesIn("renderer-viewer", "viewer-"),
    browserFile("mqtt", "browser"),
    browserFile("mqtt-history", "mqtt-history"),
    refresher,
  ].flatMap(({ file, title }) => {
    const text = readFileSync(file, "utf8");
    // In a test's name: MQTT-x.y.z of the standard is no rule of ours.
    return [...new Set([...text.matchAll(/(?:"|; )\[(MQTT-\d+)\]/g)].map((match) => `${match[1]} ${title}`))];
  });
  expect(tested.sort()).toEqual(specified.sort());
  const numbers = rules.map(([, rule]) => Number(rule?.slice("MQTT-".length)));
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
});

// How many numbered statements each section of the standard has; the first of 5.0 §2.2.1 has the number 2.
const statements = {
  "5.0":
    "1.5.4:3 1.5.5:1 1.5.7:1 2.1.3:1 2.2.1:2-6 2.2.2:1 3.1.0:2 3.1.2:30 3.1.3:12 3.1.4:6 3.2.0:2 3.2.2:22 3.3.1:13 3.3.2:20 3.3.4:10 3.4.2:3 3.5.2:3 3.6.1:1 3.6.2:3 3.7.2:3 3.8.1:1 3.8.3:5 3.8.4:8 3.9.2:2 3.9.3:2 3.10.1:1 3.10.3:2 3.10.4:6 3.11.2:2 3.11.3:2 3.12.4:1 3.14.0:1 3.14.1:1 3.14.2:4 3.14.4:3 3.15.1:1 3.15.2:3 4.1.0:2 4.2:1 4.3.1:1 4.3.2:5 4.3.3:13 4.4.0:2 4.5.0:2 4.6.0:6 4.7.0:1 4.7.1:2 4.7.2:1 4.7.3:4 4.8.2:6 4.9.0:3 4.12.0:7 4.12.1:2 4.13.1:1 4.13.2:1 6.0.0:4",
  "3.1.1":
    "1.5.3:3 2.2.2:2 2.3.1:7 3.1.0:2 3.1.2:24 3.1.3:11 3.1.4:5 3.2.0:1 3.2.2:6 3.3.1:12 3.3.2:3 3.3.4:1 3.3.5:2 3.6.1:1 3.8.1:1 3.8.3:4 3.8.4:6 3.9.3:2 3.10.1:1 3.10.3:2 3.10.4:6 3.12.4:1 3.14.1:1 3.14.4:3 4.1.0:2 4.3.1:1 4.3.2:2 4.3.3:2 4.4.0:1 4.5.0:2 4.6.0:6 4.7.1:3 4.7.2:1 4.7.3:4 4.8.0:2 6.0.0:4",
};

describe("docs/mqtt-conformance.md", () => {
  const conformance = readFileSync(path.join(documents, "mqtt-conformance.md"), "utf8");
  const filesOfRules = new Map(
    [...readFileSync(path.join(documents, "spec/mqtt.md"), "utf8").matchAll(rulePattern)].map(([, rule, files]) => [
      rule,
      files?.split(", ") ?? [],
    ]),
  );

  it("names only rules that exist", () => {
    const named = [...conformance.matchAll(/\bMQTT-\d+\b(?!\.)/g)].map(([rule]) => rule);
    expect(named.filter((rule) => !filesOfRules.has(rule))).toEqual([]);
  });

  it("names for each feature of 5.0 the tests of its rules, and a test of that name with MQTT.js", () => {
    const rows = [...conformance.matchAll(/^\| (.+) \| (MQTT-[^|]+) \| ([a-z, -]+) \| works \|$/gm)];
    const withMqttJs = readFileSync(path.join(import.meta.dirname, "mqtt-js.test.ts"), "utf8");
    for (const [, row = "", rules = "", files = ""] of rows) {
      const ofRules = new Set(rules.split(", ").flatMap((rule) => filesOfRules.get(rule) ?? []));
      const mqttJs = withMqttJs.includes(`"[MQTT-116] ${row}"`) ? ["mqtt-js"] : [];
      expect(files.split(", ").sort(), row).toEqual([...new Set([...ofRules, ...mqttJs])].sort());
    }
    expect(rows.filter(([, row]) => !withMqttJs.includes(`"[MQTT-116] ${row}"`)).length).toBe(1);
  });

  it.each(Object.entries(statements))("says for every numbered statement of MQTT %s which rules test it", (version, counts) => {
    const [, section = ""] = conformance.split(`## Statements of MQTT ${version}\n`);
    const [table = ""] = section.split("\n## ");
    const listed = [...table.matchAll(/^\| ([\d.]+)((?:,? ?-\d+)+) \|/gm)].flatMap(([, part, numbers]) =>
      [...(numbers ?? "").matchAll(/-(\d+)/g)].map(([, number]) => `${part}-${number}`),
    );
    const expected = counts.split(" ").flatMap((entry) => {
      const [part = "", range = ""] = entry.split(":");
      const [last = 0, first = 1] = range.split("-").map(Number).reverse();
      return Array.from({ length: last - first + 1 }, (_, index) => `${part}-${first + index}`);
    });
    expect(listed.sort()).toEqual(expected.sort());
  });
});
