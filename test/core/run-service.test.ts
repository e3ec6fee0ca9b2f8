import { describe, expect, it } from "vitest";
import type { HttpActions, HttpViews } from "../../contract/services/http.ts";
import { type LogEntry, readLogs } from "../../servers/core/service/log.ts";
import { runService } from "../../servers/core/service/run-service.ts";
import { defineService, type ServiceContext } from "../../servers/core/service/service.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { isPortFree } from "../../servers/supervisor/port-doctor.ts";
import { fixtureService } from "../supervisor/fixture-service.ts";
import { rowsOfBatch } from "../support/records.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const service = fixtureService("http");

/** Runs the fixture in this process. */
async function run(config: Record<string, unknown> = {}) {
  const logs: LogEntry[] = [];
  const rows: { id: number }[] = [];
  const views: [string, unknown][] = [];
  const running = await runService(service, {
    config,
    dataDir: temporaryDir(),
    onBatch(batch) {
      logs.push(...readLogs(batch.logs));
      rows.push(...rowsOfBatch(batch));
    },
    onView: (name, value) => views.push([name, value]),
  });
  return { running, logs, rows, views, texts: () => logs.map(({ level, text }) => `${level}: ${text}`) };
}

const portOf = (url: string | undefined) => Number(new URL(url ?? "").port);

describe("a service in this process", () => {
  it("[BL-1] reports the port that it listens on", async () => {
    const { running } = await run({ port: 0 });
    const port = portOf(running.endpoints[0]?.url);
    expect(port).toBeGreaterThan(0);
    expect(await isPortFree(port, false)).toBe(false);
    await running.stop();
  });

  it("[BL-7] releases last-opened-first, logs a release that throws, and frees the port", async () => {
    const { running, texts } = await run({ stops: "throws" });
    await running.stop();
    expect(texts()).toEqual([
      "info: starting with label plain",
      "error: While stopping: release refused",
      "info: released second",
      "info: released first",
    ]);
    expect(await isPortFree(portOf(running.endpoints[0]?.url), false)).toBe(true);
  });

  it("[BL-5] releases what it had opened when it cannot start", async () => {
    const logs: string[] = [];
    const starting = runService(service, {
      config: { starts: "fails" },
      dataDir: temporaryDir(),
      onBatch: (batch) => logs.push(...readLogs(batch.logs).map(({ text }) => text)),
    });
    await expect(starting).rejects.toMatchObject({ code: "CONFIG_INVALID", message: "This fixture fails", hint: "Let it start well." });
    expect(logs).toEqual(["starting with label plain", "released second", "released first"]);
  });

  it("[BL-5] does not start if an action has no handler", async () => {
    const unanswered = defineService({
      ...service,
      async start({ handle }) {
        handle({ echo: () => null });
        return [];
      },
    });
    const starting = runService(unanswered, { dataDir: temporaryDir() });
    await expect(starting).rejects.toThrow(/no handlers for its actions refuse, hang, crash/);
  });

  it("has no view that its contract does not name: a misspelled one does not compile", () => {
    const show = ({ view }: ServiceContext<unknown, HttpActions, HttpViews>) => {
      view("sample", { running: false });
      // @ts-expect-error: no such view
      view("smaple", { running: false });
      // @ts-expect-error: not its type
      view("sample", { isRunning: true });
    };
    expect(show).toBeTypeOf("function");
  });

  it("[BL-15] answers actions, and refuses unknown ones and wrong parameters", async () => {
    const { running } = await run({ label: "mine" });
    const failureOf = (action: string, params: unknown) => running.act(action, params).then(String, (error) => toFailure(error));
    expect(await running.act("echo", { value: "hello" })).toEqual({ value: "hello", label: "mine" });
    expect(await failureOf("dance", {})).toMatchObject({ code: "CALL_UNKNOWN" });
    expect(await failureOf("constructor", {})).toMatchObject({ code: "CALL_UNKNOWN" });
    expect(await failureOf("echo", { value: 3 })).toMatchObject({ code: "CALL_INVALID", message: expect.stringMatching(/^The value /) });
    expect(await failureOf("refuse", {})).toEqual({
      code: "SERVICE_UNKNOWN",
      message: "refused by the fixture",
      hint: "Ask for something else.",
    });
    await running.stop();
  });

  it("[BL-590] begins one action in each turn of the event loop, in their order, however many come at once", async () => {
    const { running } = await run();
    const events: string[] = [];
    const calls = ["a", "b", "c"].map((value) => running.act("echo", { value }).then(() => events.push(value)));
    for (let turn = 1; turn <= 3; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      events.push(`turn ${turn}`);
    }
    await Promise.all(calls);
    expect(events).toEqual(["a", "b", "turn 1", "c", "turn 2", "turn 3"]);
    await running.stop();
  });

  it("[BL-40] writes no line below its level, also after the level changed", async () => {
    const { running, texts } = await run({ logLevel: "warning" });
    for (const level of ["debug", "info", "warning", "error"]) await running.act("log", { level, text: level });
    running.setLogLevel("debug");
    await running.act("log", { level: "debug", text: "now" });
    running.setLogLevel("error");
    await running.stop();
    expect(texts()).toEqual(["warning: warning", "error: error", "debug: now"]);
  });

  it("[BL-44] sends what is queued when it stops", async () => {
    const { running, rows } = await run();
    await running.act("flood", { rows: 2_000, logs: 0 });
    await running.stop();
    expect(rows).toHaveLength(2_000);
  });
});
