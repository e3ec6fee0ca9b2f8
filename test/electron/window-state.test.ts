import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fitToDisplays, readWindowState, writeWindowState } from "../../electron/window-state.ts";
import { createDesktopApps, type DesktopApps } from "./desktop-apps.ts";

const left = { x: 0, y: 0, width: 1920, height: 1080 };
const right = { x: 1920, y: 0, width: 2560, height: 1400 };

describe("the window's position", () => {
  it("has the default size, centred by the system, when nothing is saved", () => {
    expect(fitToDisplays(undefined, [left])).toEqual({ width: 1280, height: 800 });
  });
  it("is the saved one if a display shows it", () => {
    const saved = { x: 2000, y: 100, width: 1600, height: 900 };
    expect(fitToDisplays(saved, [left, right])).toEqual(saved);
  });
  it("is dropped when its display is gone", () => {
    expect(fitToDisplays({ x: 2000, y: 100, width: 1600, height: 900 }, [left])).toEqual({ width: 1280, height: 800 });
  });
  it("is moved back when most of it is outside", () => {
    expect(fitToDisplays({ x: 1700, y: -50, width: 1200, height: 800 }, [left])).toEqual({ x: 720, y: 0, width: 1200, height: 800 });
  });
  it("is made smaller if the display became smaller, but never too small to use", () => {
    expect(fitToDisplays({ x: 0, y: 0, width: 3000, height: 2000 }, [left])).toEqual({ x: 0, y: 0, width: 1920, height: 1080 });
    expect(fitToDisplays({ x: 10, y: 10, width: 900, height: 500 }, [{ x: 0, y: 0, width: 800, height: 600 }])).toEqual({
      x: 0,
      y: 0,
      width: 1024,
      height: 640,
    });
  });
});

describe("the remembered window", () => {
  let apps: DesktopApps;
  beforeEach(async () => {
    apps = await createDesktopApps();
  });
  afterEach(() => apps.dispose());

  it("opens with the size and place it was closed with", async () => {
    const bounds = { x: 40, y: 60, width: 1400, height: 900 };
    const first = await apps.launch();
    await first.inMain(({ BrowserWindow }, wanted) => BrowserWindow.getAllWindows()[0]?.setBounds(wanted), bounds);
    expect(await first.quit()).toBe(0);
    const second = await apps.launch();
    expect(await second.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds())).toEqual(bounds);
  });

  it("opens maximised if it was, and restores the earlier size", async () => {
    const bounds = { x: 40, y: 60, width: 1200, height: 700 };
    await writeWindowState(path.join(apps.dataDir, "window.json"), { bounds, maximised: true });
    const app = await apps.launch();
    await expect.poll(() => app.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isMaximized())).toBe(true);
    const restored = await app.inMain(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.unmaximize();
      return BrowserWindow.getAllWindows()[0]?.getNormalBounds();
    });
    expect(restored).toEqual(bounds);
    expect(await app.quit()).toBe(0);
    expect(await readWindowState(path.join(apps.dataDir, "window.json"))).toEqual({ bounds, maximised: false });
  });

  it.each(["", "{", '{"bounds":{"x":"a"},"maximised":true}', "[]"])("has the default size if %j is saved", async (content) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "backlot-window-"));
    await writeFile(path.join(folder, "window.json"), content);
    expect(await readWindowState(path.join(folder, "window.json"))).toBeUndefined();
    await rm(folder, { recursive: true });
  });
});
