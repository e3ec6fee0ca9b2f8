/** `npm run bench -- NAME [options]`: measurements against peers, which bench/benches.ts lists; see bench/README.md. */
import path from "node:path";
import { buildWhatChanged, continueOnSuitableNode, installPackages, root, run } from "./setup.mjs";

const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/bench.mjs"), args);
await buildWhatChanged();
process.exit(await run(process.execPath, [path.join(root, "bench/bench.ts"), ...args]));
