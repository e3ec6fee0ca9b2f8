/** `npm run hostile -- [options]`, see `--help`: attacks on the built services, beside a client that behaves. */
import path from "node:path";
import { buildWhatChanged, continueOnSuitableNode, installPackages, root, run } from "./setup.mjs";

const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/hostile.mjs"), args);
await buildWhatChanged();
process.exit(await run(process.execPath, [path.join(root, "test/hostile/hostile.ts"), ...args]));
