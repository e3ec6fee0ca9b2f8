/** `npm run look -- [options]`, see `--help`: what is wrong with the layout of each page. */
import path from "node:path";
import { buildWhatChanged, continueOnSuitableNode, installPackages, root, run } from "./setup.mjs";

const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/look.mjs"), args);
await buildWhatChanged();
process.exit(await run(process.execPath, [path.join(root, "test/browser/look.ts"), ...args]));
