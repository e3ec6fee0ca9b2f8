/** `npm test [-- vitest arguments]`: sets up what is missing, then runs every test. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { buildWhatChanged, continueOnSuitableNode, installPackages, root, run } from "./setup.mjs";
import { installSystemPackages } from "./system-packages.mjs";

/** More failed files than this are not those of a busy machine. */
const mostFilesAgain = 3;
const failedFiles = path.join(root, "node_modules/.cache/failed-files.json");
const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/test.mjs"), args);
await installSystemPackages();
await buildWhatChanged();
process.exit(await runTests());

/** The exit code. Of a run of all tests, up to three files that failed run once more, alone: see docs/decisions/0020-failed-tests-again.md. */
async function runTests() {
  rmSync(failedFiles, { force: true });
  const code = await vitest(args);
  if (code === 0 || args.length > 0 || !existsSync(failedFiles)) return code;
  const { files, isIncomplete } = JSON.parse(readFileSync(failedFiles, "utf8"));
  if (isIncomplete || files.length === 0 || files.length > mostFilesAgain) return code;
  const names = files.map((file) => path.relative(root, file)).join(", ");
  console.log(`\nTests failed beside others. Once more, alone: ${names}\n`);
  const codeAlone = await vitest(["--maxWorkers=1", ...files]);
  console.log(codeAlone === 0 ? `\nUnstable: failed beside others and passed alone: ${names}` : "\nThey fail alone too.");
  return codeAlone;
}

function vitest(vitestArgs) {
  const program = path.join(root, "node_modules/vitest/vitest.mjs");
  const env = { ...process.env, FAILED_FILES: failedFiles };
  return run(process.execPath, [program, "run", ...vitestArgs], { env });
}
