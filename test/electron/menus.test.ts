import type { Menu, MenuItem } from "electron";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contextMenu } from "../../electron/context-menu.ts";
import { applicationMenu } from "../../electron/menu.ts";
import { services } from "../../servers/catalog.ts";
import { createDesktopApps, type DesktopApps, freePort } from "./desktop-apps.ts";
import type { App } from "./launch-app.ts";

const nothing = () => {};
const menuOf = (platform: NodeJS.Platform, developerTools = false) =>
  applicationMenu({ platform, services: { startAll: nothing, stopAll: nothing }, show: nothing, developerTools });
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
  it("has the developer tools only where Backlot itself is worked on", () => {
    expect(JSON.stringify(menuOf("linux", true))).toContain("toggleDevTools");
    expect(JSON.stringify(menuOf("linux", false))).not.toContain("toggleDevTools");
  });
  it("takes no key twice, and none of the dashboard's", () => {
    const keys = menuOf("linux").flatMap((menu) =>
      Array.isArray(menu.submenu) ? menu.submenu.flatMap((item) => item.accelerator ?? []) : [],
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => /\+[KJ]$/.test(String(key)))).toEqual([]);
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
  }, 60_000);
  afterAll(() => apps.dispose(), 60_000);

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
        ["HTTP: running", ["Start (off)", "Stop", `Copy http://127.0.0.1:${port}`]],
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
  }, 60_000);

  it("quits", async () => {
    await click("Quit Backlot").catch(() => {});
    expect(await app.exited).toBe(0);
  }, 60_000);
});
