import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

it("every rule of docs/spec/events.md has a test with its number, and every number has its rule", () => {
  const document = readFileSync(path.join(import.meta.dirname, "../../docs/spec/events.md"), "utf8");
  const specified = [...document.matchAll(/^- \*\*\[(EV-\d+)\]\*\*/gm)].map((match) => match[1] ?? "");
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".ts") && name !== path.basename(import.meta.filename));
  const text = files.map((name) => readFileSync(path.join(import.meta.dirname, name), "utf8")).join("\n");
  const tested = new Set([...text.matchAll(/\[(EV-\d+)\]/g)].map((match) => match[1] ?? ""));
  const byNumber = (left: string, right: string) => Number(left.slice(3)) - Number(right.slice(3));
  expect([...tested].sort(byNumber)).toEqual(specified);
});
