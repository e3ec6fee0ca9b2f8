import { expect, it, onTestFinished, vi } from "vitest";
import type { ServiceStatus } from "../../contract/service.ts";
import type { FromService } from "../../servers/core/service/link.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { createManagedService } from "../../servers/supervisor/managed-service.ts";
import { fixtureService } from "./fixture-service.ts";

it("[BL-6] a start that says what it does has its time anew, shows it, and fails when it says no more", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let receive: (message: FromService) => void = () => {};
  const { promise: spawned, resolve: onSpawn } = Promise.withResolvers<void>();
  const statuses: ServiceStatus[] = [];
  const managed = createManagedService({
    service: fixtureService("http"),
    mode: "serve",
    spawner() {
      let exit: (code: number | null) => void = () => {};
      onSpawn();
      return {
        pid: 1,
        post: (message) => message.type === "stop" && exit(0),
        onMessage(listener) {
          receive = listener;
        },
        onOutput: () => {},
        onExit(listener) {
          exit = listener;
        },
        kill: () => exit(null),
      };
    },
    config: () => ({}),
    dataDir: "",
    certificatesDir: "",
    firstRowId: () => 1,
    explain: async (failure) => failure,
    onStatus: (status) => statuses.push(status),
    readKept: () => new Uint8Array(),
    onBatch: () => {},
    onView: () => {},
    onCounters: () => {},
    onOutput: () => {},
    onGone: () => {},
  });
  const failure = managed.start().then(
    () => undefined,
    (error: unknown) => toFailure(error),
  );
  await spawned;
  for (const doing of ["reading", "compiling", "compiling"]) {
    vi.advanceTimersByTime(59_000);
    receive({ type: "starting", doing });
  }
  expect(statuses).toEqual([
    { state: "starting", since: expect.any(Number) },
    { state: "starting", since: expect.any(Number), doing: "reading" },
    { state: "starting", since: expect.any(Number), doing: "compiling" },
  ]);
  vi.advanceTimersByTime(60_000);
  expect(await failure).toMatchObject({
    code: "START_TIMEOUT",
    message: "Fixture http did not begin to listen within 60 s after it last said what it does: compiling",
  });
});
