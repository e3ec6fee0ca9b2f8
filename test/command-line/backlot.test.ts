import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { isPortFree, portHolder } from "../../servers/supervisor/port-doctor.ts";
import { eventually } from "../support/eventually.ts";
import { httpRequest } from "../support/http-request.ts";
import { holdPort } from "../support/port-holder.ts";
import { isAlive } from "../support/process-state.ts";
import { headlessHttp, type JsonLine, startBacklot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const portOf = (line: { readonly endpoints?: readonly { readonly url: string }[] }) => Number(new URL(line.endpoints?.[0]?.url ?? "").port);
const states = (lines: readonly JsonLine[]) => lines.map((line) => (line.type === "status" ? `${line.service} ${line.state}` : line.type));

/** The program over the fixture services, whose behaviour flags decide. */
function startFixtures(args: readonly string[], options: { env?: Record<string, string> } = {}) {
  const dashboard = temporaryDir();
  writeFileSync(path.join(dashboard, "index.html"), "");
  return startBacklot(["--headless", "--json", "--dashboard-port", "0", ...args], {
    entry: path.join(import.meta.dirname, "fixture-backlot.ts"),
    env: { ...options.env, FIXTURE_DASHBOARD: dashboard },
  });
}

describe("a headless run of the HTTP service", () => {
  it("[BL-81] [BL-82] reports each state and then ready; the service answers; [BL-83] SIGTERM ends it with exit code 0", async () => {
    const run = startBacklot();
    const { dashboard } = await run.ready();
    const running = await run.state("http", "running");
    expect(run.lines.items).toEqual([
      { type: "status", service: "http", state: "starting" },
      { type: "status", service: "http", state: "running", endpoints: running.endpoints },
      { type: "ready", dashboard },
    ]);
    expect(dashboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
    expect(running.endpoints?.[0]).toEqual({ label: "HTTP", url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    expect(await httpRequest(`${running.endpoints?.[0]?.url}/health`)).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect((await httpRequest(dashboard)).status).toBe(200);
    run.kill("SIGTERM");
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(states(run.lines.items).slice(3)).toEqual(["http stopping", "http stopped"]);
    expect(await isPortFree(portOf(running), false)).toBe(true);
  });

  it.runIf(process.platform === "linux")(
    "[BL-80] JSON lines that cannot be written end the run with a word on stderr and exit code 1",
    () => {
      const full = openSync("/dev/full", "w");
      onTestFinished(() => closeSync(full));
      const args = ["servers/backlot.ts", ...headlessHttp, "--data-dir", temporaryDir()];
      const { status, stderr } = spawnSync(process.execPath, args, { stdio: ["ignore", full, "pipe"], encoding: "utf8", timeout: 30_000 });
      expect([status, stderr.match(/The JSON lines cannot be written to stdout: ENOSPC/g)?.length]).toEqual([1, 1]);
    },
  );

  it.runIf(process.platform === "linux")("[BL-347] the browser is opened without the dashboard's token among its arguments", async () => {
    const folder = temporaryDir();
    const dataDir = temporaryDir();
    const opener = path.join(folder, "xdg-open");
    const opened = path.join(folder, "opened");
    writeFileSync(opener, `#!/bin/sh\nprintf %s "$*" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`, { mode: 0o755 });
    const env = { DISPLAY: ":0", PATH: `${folder}:${process.env.PATH}` };
    const run = startBacklot(["--browser", ...headlessHttp.slice(1)], { env, dataDir });
    const { dashboard } = await run.ready();
    await eventually(() => existsSync(opened), "the browser is opened");
    const page = readFileSync(opened, "utf8");
    expect(path.dirname(page)).toBe(dataDir);
    expect(statSync(page).mode & 0o777).toBe(0o600);
    const html = readFileSync(page, "utf8");
    expect(html).toContain(`content="0;url=${dashboard}"`);
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
    expect(existsSync(page)).toBe(false);
  });

  it("[BL-80] writes only JSON objects to stdout, and text for people to stderr", async () => {
    const run = startBacklot();
    await run.ready();
    const url = (await run.state("http", "running")).endpoints?.[0]?.url;
    await httpRequest(`${url}/api/data`);
    run.kill("SIGINT");
    expect(await run.ended).toEqual({ code: 0, signal: null });
    const objects = run
      .stdout()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(objects.every(({ type }) => type === "ready" || type === "status")).toBe(true);
    expect(run.stderr()).toContain("Dashboard: http://127.0.0.1:");
    expect(run.stderr()).toContain("GET /api/data 200");
  });

  it("[BL-62] [BL-63] [BL-84] a taken port names its holder, offers the next one, and ends the run with exit code 1", async () => {
    const holder = await holdPort();
    const run = startBacklot([...headlessHttp.slice(0, -1), String(holder.port)]);
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(states(run.lines.items)).toEqual(["http starting", "http failed", "failed"]);
    expect((await run.state("http", "failed")).failure).toEqual({
      code: "PORT_IN_USE",
      message:
        process.platform === "win32" ? expect.stringContaining("is taken") : `Port ${holder.port} is taken by node (pid ${holder.pid})`,
      hint: expect.stringMatching(/^Stop it, or change --http-port, which is set to \d+ on the command line, for example to \d+\.$/),
    });
  });

  it("[BL-85] [BL-9] after a kill from outside it is failed, then running again, and answers", async () => {
    const run = startBacklot();
    await run.ready();
    const first = portOf(await run.state("http", "running"));
    const failed = run.lines.next((line) => line.type === "status" && line.state === "failed");
    const again = run.lines.next((line) => line.type === "status" && line.state === "running");
    process.kill((await portHolder(first))?.pid ?? 0, "SIGKILL");
    expect(await failed).toMatchObject({ failure: { code: "CRASHED", message: "HTTP ended unexpectedly: it was killed" } });
    const line = (await again) as Extract<JsonLine, { type: "status" }>;
    expect((await httpRequest(`${line.endpoints?.[0]?.url}/health`)).status).toBe(200);
    expect(states(run.lines.items)).toEqual(["http starting", "http running", "ready", "http failed", "http starting", "http running"]);
  });

  it("[BL-14] leaves no service process when it is killed", async () => {
    const run = startBacklot();
    await run.ready();
    const port = portOf(await run.state("http", "running"));
    const pid = (await portHolder(port))?.pid ?? 0;
    expect(isAlive(pid)).toBe(true);
    run.kill("SIGKILL");
    expect(await run.ended).toEqual({ code: null, signal: "SIGKILL" });
    await eventually(() => !isAlive(pid), "the service's process is gone");
    // Its last threads may hold the port for a moment more.
    await eventually(() => isPortFree(port, false), "its port is free");
  });

  it("[BL-20] [BL-24] [BL-40] reads the environment, and names the wrong variable", async () => {
    const args = headlessHttp.slice(0, -2);
    const run = startBacklot(args, { env: { HTTP_PORT: "0", LOG_LEVEL: "error" } });
    await run.ready();
    const url = (await run.state("http", "running")).endpoints?.[0]?.url;
    await httpRequest(`${url}/api/data`);
    run.kill("SIGTERM");
    await run.ended;
    // Nothing but the address for people: what is about the service has its level as well.
    expect(run.stderr()).toMatch(/^Dashboard: \S+\n$/);
    const wrong = startBacklot(args, { env: { HTTP_PORT: "lots" } });
    expect((await wrong.ended).code).toBe(1);
    expect((await wrong.state("http", "failed")).failure).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("(from HTTP_PORT)"),
    });
  });

  it("[BL-76] [BL-89] keeps its data in --data-dir, and logs what it found there", async () => {
    const dataDir = path.join(temporaryDir(), "made");
    mkdirSync(dataDir);
    writeFileSync(path.join(dataDir, "settings.json"), "{");
    const run = startBacklot(headlessHttp, { dataDir });
    await run.ready();
    expect(run.stderr()).toContain("settings.json is not a valid settings file");
    const settings = {
      version: 1,
      activeProfile: "CI",
      app: { startAtLaunch: ["http"] },
      profiles: { CI: { services: { http: { port: 0 } } } },
    };
    writeFileSync(path.join(dataDir, "settings.json"), JSON.stringify(settings));
    const second = startBacklot(["--headless", "--json", "--dashboard-port", "0"], { dataDir });
    await second.ready();
    expect(states(second.lines.items)).toEqual(["http starting", "http running", "ready"]);
    expect(JSON.parse(readFileSync(path.join(dataDir, "settings.json"), "utf8"))).toEqual(settings);
  });

  it("[BL-475] --profile starts with the settings of that profile; one that does not exist ends the run with exit code 2", async () => {
    const dataDir = temporaryDir();
    const profiles = { Mine: {}, CI: { services: { http: { port: 0, logLevel: "error" } } } };
    writeFileSync(path.join(dataDir, "settings.json"), JSON.stringify({ version: 1, activeProfile: "Mine", profiles }));
    const args = ["--headless", "--json", "--dashboard-port", "0", "--only", "http"];
    const run = startBacklot([...args, "--profile", "CI"], { dataDir });
    await run.ready();
    expect(portOf(await run.state("http", "running"))).not.toBe(8_080);
    run.kill("SIGTERM");
    await run.ended;
    expect(run.stderr()).toMatch(/^Dashboard: \S+\n$/);
    const wrong = startBacklot([...args, "--profile", "none"], { dataDir });
    expect((await wrong.ended).code).toBe(2);
    expect(wrong.lines.items).toEqual([
      { type: "failed", failure: { code: "USAGE", message: 'There is no profile "none"', hint: "The profiles are Mine, CI." } },
    ]);
  });
});

describe("the command line", () => {
  it.each([
    [["--colour"], "USAGE: Unknown option '--colour'"],
    [["--only", "ftp"], 'SERVICE_UNKNOWN: There is no service "ftp"'],
    [["--headless", "--browser"], "USAGE: --browser and --headless exclude each other"],
    [["--dashboard-port", "x"], "USAGE: --dashboard-port takes"],
    [["--only", "mqtt", "--http-port", "abc"], 'USAGE: HTTP, port (from --http-port): "abc" is not a number'],
    [["--headless", "--http-port", "99999"], "USAGE: HTTP, port (from --http-port): at most 65535 is allowed"],
  ])("[BL-74] [BL-362] refuses %j with exit code 2", async (args, message) => {
    const run = startBacklot([...args, "--json"]);
    expect(await run.ended).toEqual({ code: 2, signal: null });
    expect(run.stderr()).toContain(message);
    const [code, text] = message.split(": ", 1).concat(message.slice(message.indexOf(": ") + 2));
    const failure = { code, message: expect.stringContaining(text as string), hint: expect.any(String) };
    expect(run.lines.items).toEqual([{ type: "failed", failure }]);
  });

  it("[BL-75] prints help and version", async () => {
    const help = startBacklot(["--help"]);
    const version = startBacklot(["--version"]);
    expect([(await help.ended).code, (await version.ended).code]).toEqual([0, 0]);
    expect(help.stdout()).toContain("--http-port (HTTP_PORT)");
    expect(version.stdout()).toBe(`${packageJson.version}\n`);
  });

  it("[BL-86] a taken --dashboard-port ends the run and names its holder", async () => {
    const holder = await holdPort();
    const run = startBacklot(["--headless", "--json", "--dashboard-port", String(holder.port)]);
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(run.stderr()).toContain(`PORT_IN_USE: Port ${holder.port}, for the dashboard, is taken by`);
    expect(run.lines.items).toMatchObject([{ type: "failed", failure: { code: "PORT_IN_USE" } }]);
  });

  it("[BL-86] without the flag the next free port is used", async () => {
    if (await isPortFree(7_070, false)) await holdPort(7_070);
    const run = startBacklot(["--headless", "--json"]);
    const { dashboard } = await run.ready();
    const port = Number(new URL(dashboard).port);
    expect(port).toBeGreaterThan(7_070);
    expect(run.stderr()).toContain(`Port 7070 is taken: the dashboard is on ${port}.`);
  });
});

describe("services named by --only", () => {
  it("[BL-84] a service that cannot start ends the run: the others are stopped, exit code 1, no ready line", async () => {
    const run = startFixtures(["--only", "http,mqtt", "--mqtt-starts", "fails"]);
    expect(await run.ended).toEqual({ code: 1, signal: null });
    const told = states(run.lines.items);
    expect(told.filter((line) => line.startsWith("http"))).toEqual(["http starting", "http running", "http stopping", "http stopped"]);
    expect(told.filter((line) => line.startsWith("mqtt"))).toEqual(["mqtt starting", "mqtt failed"]);
    expect((await run.state("mqtt", "failed")).failure).toEqual({
      code: "CONFIG_INVALID",
      message: "This fixture fails",
      hint: "Let it start well.",
    });
    expect(told).not.toContain("ready");
    expect(run.lines.items.at(-1)).toEqual({
      type: "failed",
      services: ["mqtt"],
      failure: (await run.state("mqtt", "failed")).failure,
    });
  });

  it("[BL-19] a second Backlot on the same data folder is refused and names the first, and starts once the first was killed", async () => {
    const dataDir = temporaryDir();
    const args = ["--headless", "--json", "--dashboard-port", "0", "--only", "account", "--account-port", "0"];
    const first = startBacklot(args, { dataDir });
    await first.ready();
    const second = startBacklot(args, { dataDir });
    expect(await second.ended).toEqual({ code: 1, signal: null });
    expect((await second.state("account", "failed")).failure).toEqual({
      code: "DATA_IN_USE",
      message: `Another Backlot (pid ${first.child.pid}) has ${path.join(dataDir, "services", "account")} open`,
      hint: expect.stringContaining("--data-dir"),
    });
    first.kill("SIGKILL");
    await first.ended;
    const third = startBacklot(args, { dataDir });
    await third.ready();
    third.kill("SIGTERM");
    expect(await third.ended).toEqual({ code: 0, signal: null });
  });

  it("[BL-84] a service that fails for good later ends the run as well", async () => {
    const run = startFixtures(["--only", "http,events", "--events-starts", "crashes-again"]);
    await run.ready();
    const port = portOf(await run.state("events", "running"));
    process.kill((await portHolder(port))?.pid ?? 0, "SIGKILL");
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(run.lines.items.findLast((line) => line.type === "status" && line.state === "failed")).toMatchObject({
      service: "events",
      failure: { code: "CRASH_LOOP" },
    });
    expect(states(run.lines.items)).toContain("http stopped");
  });

  it("[BL-82] [BL-83] [BL-362] with --start-all the others run on when one fails; ready, the exit code and the last line say so", async () => {
    const run = startFixtures(["--start-all", "--mqtt-starts", "fails"]);
    expect(await run.ready()).toMatchObject({ failed: ["mqtt"] });
    const told = states(run.lines.items);
    expect(told.at(-1)).toBe("ready");
    expect(told.filter((line) => /running|failed/.test(line)).sort()).toEqual(["events running", "http running", "mqtt failed"]);
    run.kill("SIGINT");
    expect((await run.ended).code).toBe(1);
    expect(run.lines.items.at(-1)).toMatchObject({ type: "failed", services: ["mqtt"], failure: { message: "This fixture fails" } });
  });

  it("[BL-83] a signal during a start ends the run with exit code 0", async () => {
    const run = startFixtures(["--only", "http,mqtt", "--mqtt-starts", "never", "--mqtt-stops", "well"]);
    await run.state("http", "running");
    run.kill("SIGTERM");
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(states(run.lines.items)).not.toContain("ready");
    expect(states(run.lines.items).slice(-2)).toEqual(expect.arrayContaining(["mqtt stopped"]));
  });

  it("[BL-83] a signal during a start, when another service has failed already, ends the run with exit code 1, and the last line says so", async () => {
    const run = startFixtures(["--start-all", "--mqtt-starts", "fails", "--http-starts", "never", "--http-stops", "well"]);
    await run.state("mqtt", "failed");
    run.kill("SIGINT");
    expect((await run.ended).code).toBe(1);
    expect(run.lines.items.at(-1)).toMatchObject({ type: "failed", services: ["mqtt"] });
  });

  it("[BL-22] a service named alone may use another service's variable", async () => {
    const env = { HTTP_STARTS: "fails" };
    const alone = startFixtures(["--only", "mqtt"], { env });
    expect((await alone.ended).code).toBe(1);
    const together = startFixtures(["--only", "mqtt,events"], { env });
    await together.ready();
  });
});
