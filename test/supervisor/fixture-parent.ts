/** Starts a fixture service, tells its process id, and stays until it is killed. */
import os from "node:os";
import path from "node:path";
import { createManagedService } from "../../servers/supervisor/managed-service.ts";
import { nodeSpawner } from "../../servers/supervisor/spawner.ts";
import { fixtureService } from "./fixture-service.ts";

const managed = createManagedService({
  mode: "serve",
  service: fixtureService("http"),
  spawner: nodeSpawner(path.join(import.meta.dirname, "fixture-process.ts")),
  config: () => ({}),
  dataDir: path.join(os.tmpdir(), "backlot-fixture-parent"),
  certificatesDir: path.join(os.tmpdir(), "backlot-fixture-parent", "certificates"),
  firstRowId: () => 1,
  explain: async (failure) => failure,
  onStatus(status) {
    if (status.state === "running") console.log(status.pid);
  },
  readKept: () => new Uint8Array(),
  onBatch: () => {},
  onView: () => {},
  onCounters: () => {},
  onOutput: () => {},
  onGone: () => {},
});
await managed.start();
