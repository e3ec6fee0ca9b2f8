/** `npm test [-- vitest arguments]`: sets up what is missing, then runs every test. */
import path from "node:path";
import { buildWhatChanged, continueOnSuitableNode, installPackages, root, run } from "./setup.mjs";
import { installSystemPackages } from "./system-packages.mjs";

const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/test.mjs"), args);
await installSystemPackages();
await buildWhatChanged();
const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
process.exit(await run(process.execPath, [vitest, "run", ...args]));
