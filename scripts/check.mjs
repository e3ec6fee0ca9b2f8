/** `npm run check [-- --write]`: format, lint, types, architecture. */
import path from "node:path";
import { continueOnSuitableNode, installPackages, root, run } from "./setup.mjs";

const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/check.mjs"), args);
const bin = (name) => path.join(root, "node_modules", name);
const steps = [
  ["Format and lint", bin("@biomejs/biome/bin/biome"), ["check", "--error-on-warnings", ...args]],
  ["Types", bin("typescript/bin/tsc"), ["-b"]],
  ["Architecture", bin("vitest/vitest.mjs"), ["run", "test/architecture.test.ts", "--reporter=dot"]],
];
for (const [title, script, parameters] of steps) {
  console.log(title);
  const code = await run(process.execPath, [script, ...parameters]);
  if (code !== 0) process.exit(code);
}
