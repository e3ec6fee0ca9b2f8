import type { IpcMainEvent, Menu, MenuItem, MenuItemConstructorOptions } from "electron";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MenuCommand } from "../../contract/menu-commands.ts";
import { contextMenu } from "../../electron/context-menu.ts";
import { applicationMenu } from "../../electron/menu.ts";
import { services } from "../../servers/catalog.ts";
import { freePort } from "../support/free-port.ts";
import { createDesktopApps, type DesktopApps } from "./desktop-apps.ts";
import type { App } from "./launch-app.ts";

const nothing = () => {};
const menuOf = (
  platform: NodeJS.Platform,
  developerTools = false,
  commands: readonly MenuCommand[] = [],
  run: (id: string) => void = nothing,
) => applicationMenu({ platform, services: { startAll: nothing, stopAll: nothing }, show: nothing, developerTools, commands, run });
const titles = (platform: NodeJS.Platform) => menuOf(platform).map((item) => item.label ?? item.role);

describe("the application menu", () => {
  it("follows the platform", () => {
    expect(titles("linux")).toEqual(["File", "editMenu", "Services", "View", "windowMenu", "help"]);
    expect(titles("win32")).toEqual(titles("linux"));
    expect(titles("darwin")).toEqual(["appMenu", "File", "editMenu", "Services", "View", "windowMenu"]);
  });
  it("can quit, on each platform in its own place", () => {
    for (const platform of ["linux", "win32", "darwin"] as const) {
      const places = menuOf(platform).filter((menu) => Array.isArray(menu.submenu) && menu.submenu.some((item) => item.role === "quit"));
      expect(places.map((menu) => menu.label ?? menu.role)).toEqual([platform === "darwin" ? "appMenu" : "File"]);
    }
  });
  it("has the developer tools only in development", () => {
    expect(JSON.stringify(menuOf("linux", true))).toContain("toggleDevTools");
    expect(JSON.stringify(menuOf("linux", false))).not.toContain("toggleDevTools");
  });
  it("uses no key twice, and none of the dashboard's", () => {
    const keys = menuOf("linux").flatMap((menu) =>
      Array.isArray(menu.submenu) ? menu.submenu.flatMap((item) => item.accelerator ?? []) : [],
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => /\+[KJ]$/.test(String(key)))).toEqual([]);
  });
});

describe("the page's commands in the application menu", () => {
  const commands: readonly MenuCommand[] = [
    { id: "logs", title: "Open the logs", key: "logs", enabled: true },
    { id: "pause", title: "Pause & hold", key: "pause", enabled: false },
  ];
  it("[BL-212] are in a menu of their own, with their keys shown", () => {
    const chosen: string[] = [];
    const pageMenu = (platform: NodeJS.Platform) =>
      menuOf(platform, false, commands, (id) => chosen.push(id)).find(({ label }) => label === "Page")
        ?.submenu as MenuItemConstructorOptions[];
    const [logs, pause] = pageMenu("linux");
    expect(logs).toMatchObject({ label: "Open the logs", enabled: true, accelerator: "CommandOrControl+J", registerAccelerator: false });
    expect(pause).toMatchObject({ label: "Pause && hold", enabled: false, accelerator: "Space", registerAccelerator: false });
    expect(pageMenu("darwin")[1]).not.toHaveProperty("accelerator");
    (logs as { readonly click: () => void }).click();
    expect(chosen).toEqual(["logs"]);
  });

  describe("of the program", () => {
    let apps: DesktopApps;
    let app: App;
    beforeAll(async () => {
      apps = await createDesktopApps();
      app = await apps.launch();
    });
    afterAll(() => apps.dispose());

    const shown = () =>
      app.inMain(({ Menu }) => {
        const page = Menu.getApplicationMenu()?.items.find((item) => item.label === "Page");
        return (page?.submenu?.items ?? []).map((item) => item.label);
      });

    it("[BL-212] come from the command table, and a chosen one runs in the page", async () => {
      await expect.poll(shown).toContain("Open the logs");
      await app.inMain(({ Menu }) => {
        const page = Menu.getApplicationMenu()?.items.find((item) => item.label === "Page");
        page?.submenu?.items.find((item) => item.label === "Open the logs")?.click();
      });
      await app.page.getByRole("button", { name: "Close the logs" }).first().waitFor();
      await expect.poll(shown).toContain("Close the logs");
    });

    it("[BL-213] are accepted from the dashboard's own top frame only, and only if valid", async () => {
      const before = await shown();
      const frame = { type: "commands", commands: [{ id: "x", title: "Foreign", enabled: true }] };
      await app.inMain(({ ipcMain, BrowserWindow }, message) => {
        const sender = BrowserWindow.getAllWindows()[0]?.webContents;
        const foreign = [
          { sender, senderFrame: { parent: null, url: "https://example.com/" } },
          { sender, senderFrame: { parent: { parent: null }, url: "app://backlot/" } },
          { sender: {}, senderFrame: { parent: null, url: "app://backlot/" } },
        ];
        for (const event of foreign) ipcMain.emit("backlot:up", event as unknown as IpcMainEvent, message);
      }, frame);
      expect(await shown()).toEqual(before);
      await app.page.evaluate(() => {
        const { backlot } = window as unknown as { backlot: { post(frame: unknown): void } };
        backlot.post({ type: "commands", commands: [{ id: "x", title: "Foreign", enabled: "yes" }] });
      });
      // The connection of a page that sends something else is closed, and its commands go with it.
      await expect.poll(shown).toEqual([]);
    });
  });
});

describe("the menu of the right button", () => {
  const editFlags = { canCut: true, canCopy: true, canPaste: false, canSelectAll: true } as never;
  it("edits in a field, copies a selection, and is absent elsewhere", () => {
    expect(contextMenu({ isEditable: true, selectionText: "", editFlags })).toContainEqual({ role: "paste", enabled: false });
    expect(contextMenu({ isEditable: false, selectionText: "x", editFlags })).toEqual([{ role: "copy" }]);
    expect(contextMenu({ isEditable: false, selectionText: " ", editFlags })).toEqual([]);
  });
});

describe("the tray's menu", () => {
  let apps: DesktopApps;
  let app: App;
  let port: number;

  beforeAll(async () => {
    apps = await createDesktopApps();
    port = await freePort();
    app = await apps.launch("--http-port", String(port));
    // Electron tells nobody the menu of a tray icon: the next ones that the app sets are kept here.
    await app.inMain(({ Tray }) => {
      const { setContextMenu } = Tray.prototype;
      Tray.prototype.setContextMenu = function (menu: Menu | null) {
        Object.assign(globalThis, { trayMenu: menu });
        setContextMenu.call(this, menu);
      };
    });
  });
  afterAll(() => apps.dispose());

  const items = () =>
    app.inMain(() => {
      const list = (menu: Menu | undefined): unknown[] =>
        (menu?.items ?? []).map((item: MenuItem) =>
          item.submenu
            ? [item.label, list(item.submenu)]
            : item.type === "separator"
              ? "-"
              : `${item.label}${item.enabled ? "" : " (off)"}`,
        );
      return list(Reflect.get(globalThis, "trayMenu"));
    });
  const click = (...path: string[]) =>
    app.inMain((_electron, labels) => {
      let menu: Menu = Reflect.get(globalThis, "trayMenu");
      for (const label of labels) {
        const item = menu.items.find((candidate) => candidate.label.startsWith(label));
        if (!item) throw new Error(`No item ${label}`);
        if (item.submenu) menu = item.submenu;
        else item.click();
      }
    }, path);

  it("shows each service's state and switches it", async () => {
    await app.inMain(({ Menu }) => {
      const services = Menu.getApplicationMenu()?.items.find((item) => item.label === "Services");
      services?.submenu?.items[0]?.click();
    });
    const isService = (item: unknown) => Array.isArray(item);
    const running = (title: string) => [`${title}: running`, expect.arrayContaining(["Start (off)", "Stop"])];
    await expect
      .poll(async () => (await items()).filter(isService))
      .toEqual([
        ["HTTP: running", ["Start (off)", "Stop", `Copy http://127.0.0.1:${port}`, `Copy ws://127.0.0.1:${port}/ws/echo`]],
        ...services.slice(1).map(({ title }) => running(title)),
      ]);
    await expect
      .poll(async () => (await items()).filter((item) => !isService(item)))
      .toEqual(["Show Backlot", "-", "-", "Start all (off)", "Stop all", "-", "Quit Backlot"]);
    await click("HTTP", "Stop");
    await expect.poll(items).toContainEqual(["HTTP: stopped", ["Start", "Stop (off)"]]);
    await click("HTTP", "Start");
    await expect.poll(items).toContainEqual(["HTTP: running", expect.anything()]);
    await click("Stop all");
    await expect.poll(items).toContainEqual(["HTTP: stopped", ["Start", "Stop (off)"]]);
  });

  it("quits", async () => {
    await click("Quit Backlot").catch(() => {});
    expect(await app.exited).toBe(0);
  });
});
