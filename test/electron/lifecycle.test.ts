import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AppSettings } from "../../contract/control.ts";
import type { ServiceView } from "../../contract/service.ts";
import { isAlive } from "../support/process-state.ts";
import { callFromPage, createDesktopApps, type DesktopApps } from "./desktop-apps.ts";
import { type App, isDouble } from "./launch-app.ts";

describe("the desktop program", () => {
  let apps: DesktopApps;
  beforeEach(async () => {
    apps = await createDesktopApps();
  });
  afterEach(() => apps.dispose());

  /** Starts HTTP; resolves with its process's id and its address. */
  async function startHttp(app: App) {
    const { status } = await callFromPage<ServiceView>(app.page, "service.start", { id: "http" });
    if (status.state !== "running") throw new Error(`http is ${status.state}`);
    return { pid: status.pid, url: status.endpoints[0]?.url ?? "" };
  }
  const isGone = async ({ pid, url }: { pid: number; url: string }) =>
    !isAlive(pid) &&
    (await fetch(url).then(
      () => false,
      () => true,
    ));

  it("stops the services and leaves no process when it quits", async () => {
    const app = await apps.launch();
    const http = await startHttp(app);
    expect((await fetch(http.url)).ok).toBe(true);
    expect(await app.quit()).toBe(0);
    expect(await isGone(http)).toBe(true);
  });

  it("quits in order on SIGTERM", async () => {
    const app = await apps.launch();
    const http = await startHttp(app);
    process.kill(app.pid, "SIGTERM");
    expect(await app.exited).toBe(0);
    expect(await isGone(http)).toBe(true);
  });

  it("leaves no process of a service when it is killed", async () => {
    const app = await apps.launch();
    const http = await startHttp(app);
    process.kill(app.pid, "SIGKILL");
    await app.exited;
    await expect.poll(() => isGone(http)).toBe(true);
  });

  it("quits in order when the system shuts down", async () => {
    const app = await apps.launch();
    const http = await startHttp(app);
    const prevented = await app.inMain(({ powerMonitor }) => {
      const event = { prevented: false, preventDefault: () => Object.assign(event, { prevented: true }) };
      (powerMonitor as unknown as NodeJS.EventEmitter).emit("shutdown", event);
      return event.prevented;
    });
    expect(prevented).toBe(true);
    expect(await app.exited).toBe(0);
    expect(await isGone(http)).toBe(true);
  });

  it("ends with its window", async () => {
    const app = await apps.launch();
    const http = await startHttp(app);
    await app.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close());
    expect(await app.exited).toBe(0);
    expect(await isGone(http)).toBe(true);
  });

  it("keeps the services running without a window if so configured, and shows the window again when asked", async () => {
    const app = await apps.launch();
    await callFromPage<AppSettings>(app.page, "app.setSettings", { keepRunningInTray: true });
    const http = await startHttp(app);
    await app.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close());
    const windows = () => app.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows().length);
    await expect.poll(windows).toBe(0);
    expect((await fetch(http.url)).ok).toBe(true);
    await app.inMain(({ app: main }) => void main.emit("second-instance"));
    await expect.poll(windows).toBe(1);
    expect(await app.quit()).toBe(0);
    expect(await isGone(http)).toBe(true);
  });

  it("runs once per data folder: a second start brings the first window to the front", async () => {
    const app = await apps.launch();
    await app.inMain(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.minimize();
      BrowserWindow.getAllWindows()[0]?.hide();
    });
    const second = apps.spawn();
    const said: unknown[] = [];
    second.on("message", (message) => said.push(message));
    expect((await once(second, "exit"))[0]).toBe(0);
    expect(said).toEqual([{ type: "up" }]);
    const window = () =>
      app.inMain(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows().map((one) => ({ shown: one.isVisible(), minimised: one.isMinimized() })),
      );
    await expect.poll(window).toEqual([{ shown: true, minimised: false }]);
  });

  it("tells its launcher when the window is open, and quits with it", async () => {
    const child = apps.spawn();
    const exited = once(child, "exit");
    await new Promise<void>((resolve) => child.on("message", (message: { type: string }) => message.type === "up" && resolve()));
    child.disconnect();
    expect((await exited)[0]).toBe(0);
  });

  it.each([{ args: ["--only", "http"] }, { args: ["--start-all"] }])("starts what $args asks for", async ({ args }) => {
    const app = await apps.launch(...args);
    await expect.poll(async () => (await callFromPage<readonly ServiceView[]>(app.page, "service.list"))[0]?.status.state).toBe("running");
  });

  it.each([
    [["--onyl", "http"], "USAGE: Unknown option '--onyl'"],
    [["--headless"], "USAGE: The desktop window serves no dashboard at a URL, and writes traffic where its user exports it"],
    [["--only", "nonsense"], 'SERVICE_UNKNOWN: There is no service "nonsense"'],
  ])("refuses %j with a message and an exit code", async (args, text) => {
    const { code, stderr } = await outcome(apps.spawn(...args));
    expect([code, stderr.split("\n")[0]]).toEqual([2, text]);
  });

  // A real dialog would wait for somebody to close it.
  it.runIf(isDouble)("says on stderr and in a dialog why it cannot start", async () => {
    await mkdir(path.join(apps.dataDir, "settings.json"));
    const { code, stderr } = await outcome(apps.spawn());
    expect(code).toBe(1);
    expect(stderr).toMatch(/^SETTINGS_UNREADABLE: Cannot read .*settings\.json/);
    expect(stderr).toMatch(/^\[dialog\] Backlot cannot start: Cannot read /m);
  });
});

async function outcome(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  const [code] = await once(child, "close");
  return { code, stderr };
}
