import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ServiceStatus } from "../../contract/service.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { createManagedService } from "../../servers/supervisor/managed-service.ts";
import { isPortFree } from "../../servers/supervisor/port-doctor.ts";
import { type ServiceProcess, serviceEnvironment } from "../../servers/supervisor/spawner.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/process-state.ts";
import { fixtureService } from "./fixture-service.ts";
import { manage } from "./manage.ts";

const failureOf = (operation: Promise<unknown>) => operation.then(String, (error) => toFailure(error));
const portOf = (status: { state: string; endpoints?: readonly { url: string }[] }) =>
  Number(new URL(status.endpoints?.[0]?.url ?? "").port);

describe("start and stop", () => {
  it("[BL-1] reports process and endpoints of a running service, with the real port", async () => {
    const { managed, states, pid } = manage();
    await managed.start();
    expect(states()).toEqual(["starting", "running"]);
    expect(isAlive(pid())).toBe(true);
    const port = portOf(managed.status);
    expect(port).toBeGreaterThan(0);
    expect(await isPortFree(port, false)).toBe(false);
  });

  it("[BL-7] a settled stop leaves neither process nor port", async () => {
    const { managed, states, pid, logs } = manage({ config: { stops: "throws" } });
    await managed.start();
    const before = { pid: pid(), port: portOf(managed.status) };
    await managed.stop();
    expect(states()).toEqual(["starting", "running", "stopping", "stopped"]);
    expect(managed.status).toMatchObject({ state: "stopped", lastRun: { from: expect.any(Number), to: expect.any(Number) } });
    expect(isAlive(before.pid)).toBe(false);
    expect(await isPortFree(before.port, false)).toBe(true);
    expect(logs.items.map(({ text }) => text).slice(1)).toEqual(["While stopping: release refused", "released second", "released first"]);
  });

  it("[BL-2] runs one operation at a time, and the last request wins", async () => {
    const { managed, states } = manage();
    await Promise.all([managed.start(), managed.start(), managed.start()]);
    expect(states()).toEqual(["starting", "running"]);
    await Promise.all([managed.stop(), managed.stop()]);
    await managed.stop();
    expect(states()).toEqual(["starting", "running", "stopping", "stopped"]);
    const settled = await Promise.allSettled([managed.start(), managed.restart(), managed.stop(), managed.start()]);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled"]);
    expect(managed.status.state).toBe("running");
  });

  it("[BL-3] a stop ends a start in progress", async () => {
    const { managed, statuses, states } = manage({ config: { starts: "never" }, timing: { stopTimeoutMs: 100 } });
    const starting = failureOf(managed.start());
    await statuses.until(({ state }) => state === "starting");
    await managed.stop();
    expect(await starting).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
    expect(states()).toEqual(["starting", "stopped"]);
  });

  it("[BL-3] a stop cancels a waiting start", async () => {
    const { managed, states } = manage();
    const starting = failureOf(managed.start());
    await managed.stop();
    expect(await starting).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
    expect(states()).toEqual([]);
  });

  it("[BL-4] a restart starts a new process with the current configuration", async () => {
    const fixture = manage({ config: { label: "one" } });
    const { managed, pid } = fixture;
    await managed.start();
    const first = pid();
    fixture.config = { label: "two" };
    expect(await managed.act("echo", { value: "" })).toMatchObject({ label: "one" });
    expect(managed.runningConfig).toEqual({ label: "one" });
    await managed.restart();
    expect(await managed.act("echo", { value: "" })).toMatchObject({ label: "two" });
    expect(managed.runningConfig).toEqual({ label: "two" });
    expect([isAlive(first), isAlive(pid())]).toEqual([false, true]);
  });

  it("[BL-5] a service that cannot start is failed, with the reason in the status and for the caller", async () => {
    const { managed, states, logs, gone } = manage({ config: { starts: "fails" } });
    const failure = await failureOf(managed.start());
    expect(failure).toEqual({ code: "CONFIG_INVALID", message: "This fixture fails", hint: "Let it start well." });
    expect(managed.status).toEqual({ state: "failed", since: expect.any(Number), failure });
    expect(states()).toEqual(["starting", "failed"]);
    expect(logs.items.map(({ text }) => text).slice(1)).toEqual(["released second", "released first"]);
    expect(gone.items).toEqual([false]);
    expect(managed.runningConfig).toBeUndefined();
  });

  it("[BL-6] a service that does not listen in time fails, and its process is ended", async () => {
    const { managed, gone } = manage({ config: { starts: "never" }, timing: { startTimeoutMs: 400, stopTimeoutMs: 100 } });
    expect(await failureOf(managed.start())).toMatchObject({
      code: "START_TIMEOUT",
      message: "Fixture http did not begin to listen within 0.4 s",
    });
    expect(managed.status.state).toBe("failed");
    expect(gone.items).toEqual([false]);
  });

  it.each(["refuses to stop", "spins"])("[BL-8] kills a process that %s", async (what) => {
    const { managed, pid, states } = manage({ config: what === "spins" ? {} : { stops: "never" }, timing: { stopTimeoutMs: 150 } });
    await managed.start();
    const running = pid();
    const spinning = what === "spins" ? failureOf(managed.act("spin", {})) : undefined;
    await managed.stop();
    expect(isAlive(running)).toBe(false);
    expect(states()).toEqual(["starting", "running", "stopping", "stopped"]);
    if (spinning) expect(await spinning).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
  });
});

describe("crashes", () => {
  it("[BL-9] sets the state to failed with the reason, and restarts it", async () => {
    const { managed, statuses, states, pid, gone } = manage({ timing: { firstBackOffMs: 80 } });
    await managed.start();
    const first = pid();
    await managed.act("crash", {});
    const failed = await statuses.until(({ state }) => state === "failed");
    expect(failed).toMatchObject({
      failure: { code: "CRASHED", message: "Fixture http ended unexpectedly: Error: fixture crashed" },
      retryAt: expect.any(Number),
    });
    if (failed.state === "failed") expect((failed.retryAt ?? 0) - failed.since).toBe(80);
    await statuses.next(({ state }) => state === "running");
    expect(pid()).not.toBe(first);
    expect(states()).toEqual(["starting", "running", "failed", "starting", "running"]);
    expect(gone.items).toEqual([true]);
  });

  it("[BL-9] an exit and a kill are crashes as well", async () => {
    const { managed, statuses, pid } = manage();
    await managed.start();
    process.kill(pid(), "SIGKILL");
    expect(await statuses.next(({ state }) => state === "failed")).toMatchObject({
      failure: { code: "CRASHED", message: expect.stringMatching(/it was killed$/) },
    });
    await statuses.next(({ state }) => state === "running");
    void failureOf(managed.act("exit", { code: 7 }));
    expect(await statuses.next(({ state }) => state === "failed")).toMatchObject({
      failure: { message: expect.stringMatching(/exit code 7$/) },
    });
    await statuses.next(({ state }) => state === "running");
  });

  it("[BL-10] stops restarting at the fifth crash within a minute; [BL-11] a start by hand resets the count", async () => {
    const { managed, statuses, pid } = manage({ timing: { firstBackOffMs: 1 } });
    await managed.start();
    for (let crash = 1; crash <= 5; crash++) {
      const failed = statuses.next(({ state }) => state === "failed");
      const running = crash < 5 ? statuses.next(({ state }) => state === "running") : undefined;
      process.kill(pid(), "SIGKILL");
      expect(await failed).toMatchObject({ failure: { code: crash < 5 ? "CRASHED" : "CRASH_LOOP" } });
      await running;
    }
    expect(managed.status).not.toHaveProperty("retryAt");
    await managed.start();
    process.kill(pid(), "SIGKILL");
    expect(await statuses.next(({ state }) => state === "failed")).toMatchObject({
      failure: { code: "CRASHED" },
      retryAt: expect.any(Number),
    });
  });

  it("[BL-11] a stop cancels the waiting restart", async () => {
    const { managed, statuses, states, pid } = manage({ timing: { firstBackOffMs: 60_000 } });
    await managed.start();
    process.kill(pid(), "SIGKILL");
    await statuses.until(({ state }) => state === "failed");
    await managed.stop();
    expect(states()).toEqual(["starting", "running", "failed", "stopped"]);
  });

  it("[BL-12] a crash during an automatic restart counts as one more", async () => {
    const { managed, statuses, states, pid } = manage({ config: { starts: "crashes-again" }, timing: { firstBackOffMs: 1 } });
    await managed.start();
    process.kill(pid(), "SIGKILL");
    const last = await statuses.until((status) => status.state === "failed" && status.retryAt === undefined);
    expect(last).toMatchObject({ failure: { code: "CRASH_LOOP" } });
    expect(states()).toEqual(["starting", "running", "failed", ...Array.from({ length: 4 }, () => ["starting", "failed"]).flat()]);
  });

  it("[BL-12] a crash during a requested start fails that start", async () => {
    const { managed, states } = manage({ config: { starts: "crashes" } });
    expect(await failureOf(managed.start())).toMatchObject({
      code: "CRASHED",
      message: expect.stringContaining("fixture crashed"),
      hint: expect.not.stringContaining("automatically"),
    });
    expect(managed.status).not.toHaveProperty("retryAt");
    expect(states()).toEqual(["starting", "failed"]);
  });

  it("[BL-13] an endless loop or a crash in one does not affect another", async () => {
    const spinning = manage({ timing: { stopTimeoutMs: 100 } });
    const crashing = manage({ id: "mqtt", timing: { firstBackOffMs: 60_000 } });
    const steady = manage({ id: "events" });
    await Promise.all([spinning.managed.start(), crashing.managed.start(), steady.managed.start()]);
    const refused = failureOf(spinning.managed.act("spin", {}));
    await crashing.managed.act("crash", {});
    await crashing.statuses.until(({ state }) => state === "failed");
    expect(await steady.managed.act("echo", { value: "still here" })).toMatchObject({ value: "still here" });
    expect([spinning.managed.status.state, steady.managed.status.state]).toEqual(["running", "running"]);
    await spinning.managed.stop();
    expect(await refused).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
  });

  it("[BL-16] keeps the rows and lines from before a crash, and what the process printed", async () => {
    const { managed, statuses, rows, logs, output } = manage({ timing: { firstBackOffMs: 60_000 } });
    await managed.start();
    await managed.act("print", { text: "printed ünicode\n" });
    await output.until((text) => text.includes("printed ünicode"));
    // Within one interval of the outbox: the last of it is still queued when the process crashes.
    await managed.act("flood", { rows: 2_000, logs: 0 });
    await managed.act("crash", {});
    await statuses.until(({ state }) => state === "failed");
    expect(rows.items).toHaveLength(2_000);
    expect(logs.items.at(-1)).toMatchObject({ level: "warning", text: "about to crash" });
  });
});

it("[BL-16] what Node deprecates is no line: who uses Backlot cannot change it", async () => {
  const { managed, output } = manage({ timing: { firstBackOffMs: 60_000 } });
  await managed.start();
  await managed.act("deprecate", { text: "an API of Node is old" });
  // Its error is written to stderr after it.
  await managed.act("crash", {});
  await output.until((text) => text.includes("Error: "));
  expect(output.items.filter((text) => text.includes("is old"))).toEqual([]);
});

describe("actions and signals", () => {
  it("[BL-15] refuses actions of a stopped service, unknown actions and wrong parameters", async () => {
    const { managed, pid } = manage({ timing: { firstBackOffMs: 60_000 } });
    expect(await failureOf(managed.act("echo", { value: "" }))).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
    await managed.start();
    expect(await managed.act("echo", { value: "hello" })).toEqual({ value: "hello", label: "plain" });
    expect(await failureOf(managed.act("dance", {}))).toMatchObject({ code: "CALL_UNKNOWN" });
    expect(await failureOf(managed.act("echo", { value: 3 }))).toMatchObject({
      code: "CALL_INVALID",
      message: expect.stringContaining("value"),
    });
    expect(await failureOf(managed.act("refuse", {}))).toEqual({
      code: "SERVICE_UNKNOWN",
      message: "refused by the fixture",
      hint: "Ask for something else.",
    });
    const hanging = failureOf(managed.act("hang", {}));
    process.kill(pid(), "SIGKILL");
    expect(await hanging).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
  });

  it("[BL-300] a process that does not answer is shown as such, its actions fail, and both end when it answers again", async () => {
    const { managed, statuses, pid } = manage({ timing: { silenceMs: 4_000, stopTimeoutMs: 150 } });
    const isSilent = (status: ServiceStatus) => status.state === "running" && status.silentSince !== undefined;
    await managed.start();
    const suspended = pid();
    const waiting = failureOf(managed.act("hang", {}));
    // Before its first counters.
    process.kill(suspended, "SIGSTOP");
    onTestFinished(() => void (isAlive(suspended) && process.kill(suspended, "SIGCONT")));
    const stopped = await statuses.until(isSilent);
    expect(stopped).toMatchObject({ state: "running", pid: suspended });
    expect(await waiting).toMatchObject({ code: "SERVICE_NOT_ANSWERING" });
    expect(await failureOf(managed.act("echo", { value: "" }))).toMatchObject({ code: "SERVICE_NOT_ANSWERING" });
    process.kill(suspended, "SIGCONT");
    await eventually(() => !isSilent(managed.status), "it answers again");
    expect(await managed.act("echo", { value: "back" })).toMatchObject({ value: "back" });
    process.kill(suspended, "SIGSTOP");
    await managed.stop();
    expect([managed.status.state, isAlive(suspended)]).toEqual(["stopped", false]);
  });

  it.runIf(process.platform === "linux")("[BL-301] a service's process does not inherit variables that it does not need", async () => {
    process.env.BACKLOT_TEST_TOKEN = "hunter2";
    onTestFinished(() => void delete process.env.BACKLOT_TEST_TOKEN);
    const { managed, pid } = manage();
    await managed.start();
    const names = readFileSync(`/proc/${pid()}/environ`, "utf8")
      .split("\0")
      .map((line) => line.split("=")[0]);
    expect(names).toContain("PATH");
    expect(names).not.toContain("BACKLOT_TEST_TOKEN");
    expect(serviceEnvironment({ Path: "C:\\", LC_ALL: "C", AWS_SECRET_ACCESS_KEY: "x", TZ: undefined })).toEqual({
      Path: "C:\\",
      LC_ALL: "C",
    });
  });

  it("[BL-17] a service's process ignores the signals of a terminal", async () => {
    const { managed, pid } = manage();
    await managed.start();
    const before = pid();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(before, signal);
    expect(await managed.act("echo", { value: "" })).toBeDefined();
    expect(pid()).toBe(before);
  });

  it("[BL-14] the process ends when its parent is killed", async () => {
    const parent = spawn(process.execPath, [path.join(import.meta.dirname, "fixture-parent.ts")], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(parent, "close");
    onTestFinished(async () => {
      parent.kill("SIGKILL");
      await closed;
    });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await eventually(() => !isAlive(pid), "the service's process is gone");
  });
});

it.each([
  ["that ends", true],
  ["that stays", false],
])("[BL-385] a broken connection for traffic is said of a process only if it goes on: of one %s", async (_, ends) => {
  const output: string[] = [];
  let listens = false;
  let exit: (code: number | null) => void = () => {};
  let receive: Parameters<ServiceProcess["onMessage"]>[0] = () => {};
  const end = (code: number | null) => setImmediate(() => exit(code));
  const managed = createManagedService({
    mode: "serve",
    service: fixtureService("http"),
    spawner: () => ({
      pid: 1,
      post: (message) => message.type === "stop" && end(0),
      onMessage(listener) {
        listens = true;
        receive = listener;
      },
      onOutput: () => {},
      onExit(listener) {
        exit = listener;
      },
      kill: () => end(null),
    }),
    config: () => ({}),
    dataDir: "",
    certificatesDir: "",
    firstRowId: () => 1,
    explain: async (failure) => failure,
    onStatus: () => {},
    readKept: () => new Uint8Array(),
    onBatch: () => {},
    onView: () => {},
    onCounters: () => {},
    onOutput: (text) => output.push(text),
    onGone: () => {},
    timing: { lastBatchesMs: 50 },
  });
  const started = failureOf(managed.start());
  await eventually(() => listens, "it has a process");
  // No such socket.
  receive({ type: "loaded", batches: "/nowhere" });
  if (ends) {
    receive({ type: "failed", failure: { code: "PORT_IN_USE", message: "taken", hint: "" } });
    end(1);
  } else {
    receive({ type: "running", endpoints: [] });
    await eventually(() => output.length > 0, "the loss is said");
  }
  await started;
  await managed.stop();
  expect(output.filter((text) => text.includes("no longer recorded")).length).toBe(ends ? 0 : 1);
});
