import path from "node:path";
import { defineConfig } from "vitest/config";
import { FailedFiles } from "./test/support/failed-files.ts";
import { MixedOrder } from "./test/support/mixed-order.ts";

/** They measure the memory of their process, which must hold nothing of other files. */
const measuresMemory = [
  "test/events/rate-limit.test.ts",
  "test/grpc/attacks.test.ts",
  "test/mqtt/kept-levels.test.ts",
  "test/mqtt/limits.test.ts",
  "test/rtsp/bad-input.test.ts",
  "test/rtsp/mp4.test.ts",
  "test/rtsp/rtp-payloads.test.ts",
  "test/supervisor/binary.test.ts",
  "test/supervisor/process-sampler.test.ts",
];

export default defineConfig({
  test: {
    environment: "node",
    setupFiles: ["test/support/check-leaks.ts"],
    // Waiting ends with the event; the limits are for a machine that is busy with something else.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Processes that tests start from source find their modules compiled.
    env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, "node_modules/.cache/node-compile") },
    pool: "forks",
    reporters: ["default", new FailedFiles()],
    // One more than the two processors that are the least to expect: many tests wait for clocks and other programs.
    maxWorkers: 3,
    sequence: { sequencer: MixedOrder },
    projects: [
      {
        extends: true,
        // A worker goes on with the next file: most of the time of a small one would be that of starting and of its imports.
        test: { name: "tests", include: ["test/**/*.test.{ts,tsx}"], exclude: measuresMemory, isolate: false },
      },
      { extends: true, test: { name: "memory", include: measuresMemory } },
    ],
  },
});
