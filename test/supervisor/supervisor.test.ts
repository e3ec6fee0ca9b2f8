import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { secretMask } from "../../contract/config.ts";
import type { LogLine } from "../../contract/log.ts";
import { createEventLog } from "../support/event-log.ts";
import { holdPort } from "../support/port-holder.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { supervise } from "./supervise.ts";

const http = { id: "http" } as const;

describe("services", () => {
  it("[BL-1] lists every service and follows its state", async () => {
    const { dashboard, port } = await supervise();
    const seen = dashboard.follow("status");
    expect(
      (await dashboard.call("service.list", {})).map(({ id, built, status, rateUnit }) => [id, built, status.state, rateUnit]),
    ).toEqual([
      ["http", true, "stopped", "row/s"],
      ["grpc", false, "stopped", ""],
      ["mqtt", true, "stopped", "row/s"],
      ["events", true, "stopped", "row/s"],
    ]);
    const started = await dashboard.call("service.start", http);
    expect(started.status).toMatchObject({ state: "running", endpoints: [{ label: "TCP", url: `tcp://127.0.0.1:${port("http")}` }] });
    await seen.until(({ id, status }) => id === "http" && status.state === "running");
    expect(await dashboard.call("service.snippets", http)).toEqual([
      { label: "nc", language: "shell", text: `nc tcp://127.0.0.1:${port("http")}` },
    ]);
    expect((await dashboard.call("service.stop", http)).status.state).toBe("stopped");
  });

  it("[BL-57] refuses what is not built", async () => {
    const { dashboard, supervisor } = await supervise();
    expect(await dashboard.refusal("service.start", { id: "grpc" })).toMatchObject({ code: "SERVICE_NOT_BUILT" });
    await expect(supervisor.start("rtsp")).rejects.toMatchObject({ code: "SERVICE_NOT_BUILT" });
  });

  it("[BL-54] refuses unknown calls and wrong parameters", async () => {
    const { dashboard } = await supervise();
    for (const name of ["service.dance", "constructor", ""])
      expect(await dashboard.refusal(name, {})).toMatchObject({ code: "CALL_UNKNOWN" });
    expect(await dashboard.refusal("service.start", { id: "ftp" })).toMatchObject({
      code: "CALL_INVALID",
      message: "The id is not http, grpc, mqtt, rtsp, webrtc, account or events",
    });
    expect(await dashboard.refusal("service.start", undefined)).toMatchObject({ code: "CALL_INVALID" });
    expect(await dashboard.refusal("service.start", { ...http, more: 1 })).toMatchObject({ code: "CALL_INVALID" });
  });

  it("[BL-13] starts all and stops all; one failure does not affect the others", async () => {
    const { dashboard } = await supervise({ flags: { mqtt: { starts: "fails" } } });
    const views = await dashboard.call("service.startAll", {});
    expect(views.filter(({ built }) => built).map(({ id, status }) => [id, status.state])).toEqual([
      ["http", "running"],
      ["mqtt", "failed"],
      ["events", "running"],
    ]);
    const stopped = await dashboard.call("service.stopAll", {});
    expect(new Set(stopped.map(({ status }) => status.state))).toEqual(new Set(["stopped"]));
  });

  it("[BL-45] never uses a row id twice, and [BL-46] ends open rows when the process is gone", async () => {
    const { dashboard, supervisor, statuses } = await supervise();
    const rows = dashboard.follow("traffic/http");
    await supervisor.start("http");
    const act = async (action: string, params = {}) =>
      (await dashboard.call("service.action", { ...http, action, params })) as { row: number };
    const { row } = await act("open");
    await rows.until(({ id, tone }) => id === row && tone === "pending");
    await act("crash");
    expect(await rows.until(({ id, tone }) => id === row && tone === "aborted")).toMatchObject({ outcome: "service crashed" });
    await statuses.next(({ id, status }) => id === "http" && status.state === "running");
    const again = await act("open");
    expect(again.row).toBeGreaterThan(row);
    await rows.until(({ id }) => id === again.row);
    await supervisor.stop("http");
    expect(await rows.until(({ id, tone }) => id === again.row && tone === "aborted")).toMatchObject({ outcome: "service stopped" });
    const page = await dashboard.call("traffic.read", http);
    expect(page).toMatchObject({ kept: 2, total: 2, dropped: 0 });
    expect(await dashboard.call("traffic.detail", { ...http, row })).toMatchObject({
      row: { id: row, tone: "aborted" },
      detail: { id: row, text: "pending" },
    });
    expect(await dashboard.call("traffic.clear", http)).toEqual({ cleared: 2, left: 0 });
    expect(await dashboard.call("traffic.restore", http)).toEqual({ restored: 2 });
  });

  it("[BL-50] under a flood everything is delivered or counted, and a dashboard that does not acknowledge gets two batches", async () => {
    const { dashboard, supervisor } = await supervise();
    dashboard.subscribe("traffic/http");
    await supervisor.start("http");
    await dashboard.call("service.action", { ...http, action: "flood", params: { rows: 30_000, logs: 100 } });
    await dashboard.frames.until((frame) => frame.type === "batch" && frame.topic === "traffic/http" && frame.seq === 2);
    await supervisor.stop("http");
    const page = await dashboard.call("traffic.read", http);
    expect([page.total, page.kept + page.dropped]).toEqual([30_000, 30_000]);
    expect(dashboard.batches("traffic/http")).toHaveLength(2);
    // Lines of several processes are put in order first.
    await expect.poll(async () => (await dashboard.call("log.read", { source: "http", text: "Stopped" })).lines.length).toBe(1);
    const rows = dashboard.follow("log");
    dashboard.send({ type: "ack", topic: "traffic/http", seq: 2 });
    await dashboard.frames.until((frame) => frame.type === "batch" && frame.topic === "traffic/http" && frame.seq === 3);
    const told = dashboard.batches("traffic/http").reduce((sum, { items, dropped }) => sum + items.length + dropped, 0);
    expect(told).toBe(page.kept);
    expect(rows.items).toEqual([]);
  });

  it("[BL-281] a view names the process that published it, and remains when that has ended", async () => {
    const { dashboard, supervisor } = await supervise();
    await supervisor.start("http");
    const views = dashboard.follow("view/http");
    await dashboard.call("service.action", { ...http, action: "view", params: { name: "one", value: 1 } });
    const { pid } = await views.until(({ name, value }) => name === "one" && value === 1);
    expect(supervisor.views().find(({ id }) => id === "http")?.status).toMatchObject({ state: "running", pid });
    await supervisor.stop("http");
    dashboard.send({ type: "unsubscribe", topic: "view/http" });
    const later = dashboard.follow("view/http");
    expect(await later.until(({ name }) => name === "one")).toEqual({ name: "one", value: 1, pid });
  });
});

describe("configuration", () => {
  it("[BL-26] saves all values or none, with resets, and [BL-29] resets", async () => {
    const { dashboard } = await supervise();
    const read = async (name: string) => (await dashboard.call("config.read", http)).fields.find((field) => field.name === name);
    const refused = await dashboard.refusal("config.write", { ...http, values: { label: "mine", port: 70_000 } });
    expect(refused).toMatchObject({ code: "CONFIG_INVALID", field: { name: "port" } });
    expect(await dashboard.refusal("config.write", { ...http, values: { label: "mine", colour: 1 } })).toMatchObject({
      code: "CONFIG_INVALID",
    });
    expect(await read("label")).toMatchObject({ value: "plain", source: "default" });
    await dashboard.call("config.write", { ...http, values: { label: "mine", port: 4_000 } });
    expect(await read("label")).toMatchObject({ value: "mine", source: "file", stored: "mine" });
    const both = { ...http, values: { port: 4_001 }, resets: ["label"] };
    await dashboard.refusal("config.write", { ...both, values: { port: 70_000 } });
    expect((await read("label"))?.source).toBe("file");
    await dashboard.call("config.write", both);
    expect([(await read("label"))?.source, (await read("port"))?.value]).toEqual(["default", 4_001]);
    await dashboard.call("config.write", { ...http, values: { label: "mine" } });
    await dashboard.call("config.reset", { ...http, fields: ["port"] });
    expect([(await read("label"))?.source, (await read("port"))?.source]).toEqual(["file", "default"]);
    await dashboard.call("config.reset", http);
    expect((await read("label"))?.source).toBe("default");
  });

  it("[BL-25] can be read and saved while a value is wrong", async () => {
    const { dashboard } = await supervise({ environment: { HTTP_PORT: "abc" } });
    const view = await dashboard.call("config.write", { ...http, values: { label: "mine" } });
    expect(view.fields.find(({ name }) => name === "port")).toMatchObject({ value: "abc", problem: '"abc" is not a number' });
    expect(await dashboard.refusal("service.start", http)).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("from HTTP_PORT"),
    });
  });

  it("[BL-27] keeps a secret that is saved as its mask", async () => {
    const { dashboard } = await supervise();
    await dashboard.call("config.write", { ...http, values: { password: "sesame" } });
    await dashboard.call("config.write", { ...http, values: { password: secretMask, label: "mine" } });
    const view = await dashboard.call("config.read", http);
    expect(view.fields.find(({ name }) => name === "password")).toMatchObject({ value: secretMask, stored: secretMask });
    expect(JSON.stringify(dashboard.frames.items)).not.toContain("sesame");
  });

  it("[BL-28] says that a restart is needed, but not for the log level, which applies at once", async () => {
    const { dashboard, supervisor } = await supervise();
    const lines = dashboard.follow("log");
    await supervisor.start("http");
    const write = async (values: Record<string, unknown>) => (await dashboard.call("config.write", { ...http, values })).restartNeeded;
    const say = (level: string, text: string) => dashboard.call("service.action", { ...http, action: "log", params: { level, text } });
    await say("debug", "unheard");
    expect(await write({ logLevel: "debug" })).toBe(false);
    await say("debug", "heard");
    await lines.until(({ text }) => text === "heard");
    expect(lines.items.some(({ text }) => text === "unheard")).toBe(false);
    expect(await write({ label: "mine" })).toBe(true);
    expect(await write({ label: "plain" })).toBe(false);
    expect(await write({ label: "mine" })).toBe(true);
    await supervisor.stop("http");
    expect((await dashboard.call("config.read", http)).restartNeeded).toBe(false);
  });

  it("[BL-22] gives another service's variable to the only service named", async () => {
    const environment = { HTTP_STARTS: "fails" };
    const startsOf = async (alone: "mqtt" | undefined) => {
      const { dashboard } = await supervise({ environment, alone });
      const { fields } = await dashboard.call("config.read", { id: "mqtt" });
      return fields.find(({ name }) => name === "starts");
    };
    expect(await startsOf(undefined)).toMatchObject({ value: "well", env: ["MQTT_HTTP_STARTS"] });
    expect(await startsOf("mqtt")).toMatchObject({ value: "fails", env: ["MQTT_HTTP_STARTS", "HTTP_STARTS"] });
  });
});

describe("settings and profiles", () => {
  it("[BL-37] changes one setting and leaves the others; rings follow at once", async () => {
    const { dashboard, supervisor } = await supervise();
    await dashboard.call("app.setSettings", { keepRunningInTray: true, startAtLaunch: ["http"] });
    expect(await dashboard.call("app.setSettings", { keptRows: 1_000 })).toEqual({
      startAtLaunch: ["http"],
      keepRunningInTray: true,
      keptRows: 1_000,
      trafficMebibytes: 192,
    });
    expect(await dashboard.refusal("app.setSettings", { keptRows: 1 })).toMatchObject({ code: "CALL_INVALID" });
    await supervisor.start("http");
    await dashboard.call("service.action", { ...http, action: "flood", params: { rows: 3_000, logs: 0 } });
    await supervisor.stop("http");
    expect(await dashboard.call("traffic.read", http)).toMatchObject({ kept: 1_000, total: 3_000 });
  });

  it("[BL-169] logs an error of the dashboard's page, with its region", async () => {
    const { dashboard } = await supervise();
    expect(await dashboard.call("page.fault", { region: "page http", message: "x is not a function" })).toBeNull();
    const read = async () => (await dashboard.call("log.read", { level: "error" })).lines;
    await expect.poll(read).toMatchObject([{ source: "backlot", level: "error", text: "dashboard, page http: x is not a function" }]);
    expect(await dashboard.refusal("page.fault", { region: "", message: "" })).toMatchObject({ code: "CALL_INVALID" });
  });

  it("[BL-89] sends later listeners of the log what was logged before", async () => {
    const dataDir = temporaryDir();
    writeFileSync(path.join(dataDir, "settings.json"), "{");
    const { supervisor } = await supervise({ dataDir });
    const lines = createEventLog<LogLine>();
    supervisor.log.info("before");
    // What is held until it is in order of time comes after the kept lines, and once.
    supervisor.onLog((told) => told.forEach(lines.add));
    supervisor.log.info("after");
    await supervisor.close();
    expect(lines.items).toMatchObject([
      { source: "backlot", level: "warning", text: expect.stringContaining("not a valid settings file") },
      { text: "before" },
      { text: "after" },
    ]);
  });
});

describe("ports", () => {
  it("[BL-65] shows the ports of the endpoints, none for what is switched off", async () => {
    const { dashboard } = await supervise();
    const ports = async () => (await dashboard.call("service.list", {})).find(({ id }) => id === "http")?.ports;
    await dashboard.call("config.write", { ...http, values: { port: 18_080 } });
    expect(await ports()).toEqual([18_080]);
    await dashboard.call("config.write", { ...http, values: { label: "switched off" } });
    expect(await ports()).toEqual([]);
  });

  it("[BL-62] names who holds the port, and [BL-63] offers the next one, with which it starts", async () => {
    const holder = await holdPort();
    const { dashboard, port } = await supervise();
    await dashboard.call("config.write", { ...http, values: { port: holder.port } });
    const failure = await dashboard.refusal("service.start", http);
    const next = failure.fix?.config.port as number;
    expect(failure).toEqual({
      code: "PORT_IN_USE",
      message:
        process.platform === "win32" ? expect.stringContaining("is taken") : `Port ${holder.port} is taken by node (pid ${holder.pid})`,
      hint: `Stop it, or use ${next}.`,
      port: holder.port,
      transport: "tcp",
      fix: { title: `Use ${next} instead`, config: { port: next } },
    });
    await dashboard.call("config.write", { ...http, values: failure.fix?.config ?? {} });
    await dashboard.call("service.start", http);
    expect(port("http")).toBe(next);
  });

  it("[BL-63] leaves out the other services' ports, and names the variable where one sets it", async () => {
    const holder = await holdPort();
    const { dashboard } = await supervise({ environment: { MQTT_PORT: String(holder.port) } });
    await dashboard.call("config.write", { ...http, values: { port: holder.port + 1 } });
    const failure = await dashboard.refusal("service.start", { id: "mqtt" });
    const next = failure.fix?.config.port as number;
    expect(next).toBeGreaterThan(holder.port + 1);
    expect(failure.hint).toBe(`Stop it, or change MQTT_PORT, which is set to ${holder.port} in the environment, for example to ${next}.`);
    expect(failure.fix).toEqual({ title: `Use ${next} for this run`, config: { port: next }, thisRun: true });
  });

  it("[BL-139] a value for this run overrides a variable or flag, is shown as such, and is not saved", async () => {
    const holder = await holdPort();
    const dataDir = temporaryDir();
    const { dashboard, port } = await supervise({
      dataDir,
      environment: { MQTT_PORT: String(holder.port) },
      flags: { http: { port: String(holder.port) } },
    });
    const portField = async (id: "mqtt" | "http") =>
      (await dashboard.call("config.read", { id })).fields.find(({ name }) => name === "port");
    await dashboard.call("config.write", { id: "mqtt", values: { port: 1_234 } });
    for (const [id, setBy] of [
      ["mqtt", "MQTT_PORT"],
      ["http", "--http-port"],
    ] as const) {
      const failure = await dashboard.refusal("service.start", { id });
      // What is saved would change nothing.
      expect(failure.hint).toContain(`change ${setBy}, which is set to ${holder.port}`);
      expect(failure.fix?.thisRun).toBe(true);
      await dashboard.call("config.override", { id, values: failure.fix?.config ?? {} });
      await dashboard.call("service.start", { id });
      expect(port(id)).toBe(failure.fix?.config.port);
      expect(await portField(id)).toMatchObject({ value: port(id), source: "run", setBy });
    }
    expect((await portField("mqtt"))?.stored).toBe(1_234);
    // Ended by a reset of the field, which leaves what is saved.
    await dashboard.call("config.reset", { id: "mqtt", fields: ["port"] });
    expect(await portField("mqtt")).toMatchObject({ value: holder.port, source: "environment", stored: 1_234 });
    await dashboard.call("config.reset", { id: "http" });
    expect(await portField("http")).toMatchObject({ value: holder.port, source: "flag" });
    expect(await dashboard.refusal("config.override", { id: "http", values: { port: "no" } })).toMatchObject({ code: "CONFIG_INVALID" });
    const saved = JSON.parse(readFileSync(path.join(dataDir, "settings.json"), "utf8"));
    expect(saved.profiles.Default.services.mqtt).toEqual({ port: 1_234 });
  });

  it("[BL-64] [BL-139] a check of the ports names the variable that sets the port, and offers what works", async () => {
    const holder = await holdPort();
    const { dashboard } = await supervise({ environment: { MQTT_PORT: String(holder.port) } });
    const [check] = (await dashboard.call("port.check", {})).filter(({ service }) => service === "mqtt");
    expect(check?.hint).toContain(`change MQTT_PORT, which is set to ${holder.port} in the environment`);
    expect(check?.fix).toMatchObject({ thisRun: true });
    await dashboard.call("config.override", { id: "mqtt", values: check?.fix?.config ?? {} });
    expect((await dashboard.call("port.check", {})).find(({ service }) => service === "mqtt")).toMatchObject({ free: true });
  });

  it("[BL-64] checks every configured port", async () => {
    const holder = await holdPort();
    const { dashboard, port } = await supervise();
    await dashboard.call("config.write", { id: "mqtt", values: { port: holder.port } });
    await dashboard.call("service.start", http);
    const own = port("http");
    await dashboard.call("config.write", { ...http, values: { port: own } });
    const checks = await dashboard.call("port.check", {});
    expect(checks).toEqual([
      { service: "http", field: "port", transport: "tcp", port: own, free: true },
      {
        service: "mqtt",
        field: "port",
        transport: "tcp",
        port: holder.port,
        free: false,
        problem:
          process.platform === "win32" ? expect.stringContaining("is taken") : `Port ${holder.port} is taken by node (pid ${holder.pid})`,
        hint: expect.stringMatching(/^Stop it, or use \d+\.$/),
        fix: { title: expect.stringMatching(/^Use \d+ instead$/), config: { port: expect.any(Number) } },
      },
      { service: "events", field: "port", transport: "tcp", port: 0, free: true },
    ]);
  });

  it("[BL-60] says when a service is open to the LAN", async () => {
    const { supervisor } = await supervise({ flags: { http: { openToLan: "true" } } });
    await supervisor.start("http");
    expect(supervisor.views().map(({ id, openToLan }) => [id, openToLan])).toContainEqual(["http", true]);
    expect(supervisor.views().map(({ id, openToLan }) => [id, openToLan])).toContainEqual(["mqtt", false]);
  });
});
