import { onTestFinished } from "vitest";
import type { HttpDispatch } from "../../servers/core/http/http-dispatch.ts";
import { createHttpServers, type HttpUpgrade } from "../../servers/core/http/http-server.ts";
import { createHttpRecorder } from "../../servers/core/http/record/http-recorder.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { createLog } from "../../servers/core/service/log.ts";
import type { WorkTurns } from "../../servers/core/turns/work-turns.ts";

const limits = {
  headerBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 10_000,
  unansweredRequests: 32,
  unreadTimeoutMs: 10_000,
};

interface ListenHttpOptions {
  readonly turns: WorkTurns;
  /** Of what requests hold, all together. */
  readonly heldBytes?: number;
  /** Of answers that wait, all together. */
  readonly allUnsentBytes?: number;
  readonly dispatch?: HttpDispatch;
  readonly upgrade?: HttpUpgrade;
}

/** An HTTP server of core without a service, on any port until the test ends. It records no rows. */
export async function listenHttp(options: ListenHttpOptions) {
  const { turns, heldBytes = 1 << 24, allUnsentBytes = 1 << 20, dispatch = () => {}, upgrade } = options;
  const log = createLog({ level: () => "error", write() {} });
  let nextId = 1;
  const traffic = { nextId: () => nextId++, touch() {}, end() {} };
  const recorder = createHttpRecorder({ traffic, log, bodyLimit: 0, turns });
  const server = createHttpServers({
    recorder,
    log,
    limits: { ...limits, allUnsentBytes },
    held: new SharedBudget(heldBytes),
    errors: {} as never,
    cors: { prepare() {} } as never,
    fields: [],
    dispatch,
    upgrade,
  })();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { port, connections: recorder.connections };
}
