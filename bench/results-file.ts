import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const file = path.join(import.meta.dirname, "README.md");

/** Replaces what stands between the markers of one section of README.md: a benchmark's name, with the rate it was given (`dashboard-20000`). */
export function writeResults(name: string, markdown: string): void {
  const text = readFileSync(file, "utf8");
  const begin = `<!-- results of ${name}: written by the benchmark -->`;
  const end = `<!-- end of ${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no section for the results of ${name}.`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${markdown}\n${text.slice(to)}`);
}
