import path from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    include: ["test/**/*.test.{ts,tsx}"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Waiting ends with the event; the limit is for a machine that is busy with something else.
    expect: { poll: { timeout: 15_000 } },
    // Processes that tests start from source find their modules compiled.
    env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, "node_modules/.cache/node-compile") },
    pool: "forks",
    // Tests start processes and browsers of their own: more workers than this only slow each other down.
    maxWorkers: 2,
  },
});
