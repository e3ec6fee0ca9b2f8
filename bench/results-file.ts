import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BenchName } from "./benches.ts";

const file = path.join(import.meta.dirname, "README.md");

/** Replaces what stands between the markers of one benchmark in README.md. */
export function writeResults(name: BenchName, markdown: string): void {
  const text = readFileSync(file, "utf8");
  const begin = `<!-- results of ${name}: written by the benchmark -->`;
  const end = `<!-- end of ${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no section for the results of ${name}.`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${markdown}\n${text.slice(to)}`);
}
