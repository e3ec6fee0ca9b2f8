import { once } from "node:events";
import type { Event, IpcMainEvent } from "electron";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LogPage } from "../../contract/control.ts";
import { isLargerThan } from "../../contract/frame-size.ts";
import type { ServiceView } from "../../contract/service.ts";
import { maxFrameBytes } from "../../contract/wire.ts";
import { parseDesktopCommandLine } from "../../electron/desktop-command-line.ts";
import { dashboardWebPreferences, mayOpenExternally } from "../../electron/security.ts";
import { services } from "../../servers/catalog.ts";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import { callFromPage, createDesktopApps, type DesktopApps } from "./desktop-apps.ts";
import { type App, isDouble } from "./launch-app.ts";

const startHttp = { type: "call", id: 7, name: "service.start", params: { id: "http" } };

describe("the security of the desktop window", () => {
  let apps: DesktopApps;
  let app: App;

  beforeAll(async () => {
    apps = await createDesktopApps();
    app = await apps.launch();
  });
  afterAll(() => apps.dispose());

  const httpState = async () => (await callFromPage<readonly ServiceView[]>(app.page, "service.list"))[0]?.status.state;

  it("gives the page three functions and nothing of Node", async () => {
    const found = await app.page.evaluate(() => ({
      bridge: Object.entries((window as unknown as { backlot: object }).backlot).map(([name, value]) => `${name}: ${typeof value}`),
      node: ["require", "process", "module", "global", "Buffer", "__dirname"].filter((name) => name in window),
    }));
    expect(found).toEqual({ bridge: ["open: function", "onCommand: function", "post: function"], node: [] });
  });

  it("keeps the bridge unchanged, whatever a script does", async () => {
    const changed = await app.page.evaluate(() => {
      const page = window as unknown as { backlot: Record<string, unknown> };
      const before = page.backlot.post;
      try {
        page.backlot.post = null;
        page.backlot = {};
      } catch {
        // In strict code the assignment throws.
      }
      return page.backlot.post !== before;
    });
    expect(changed).toBe(false);
  });

  it("runs the page sandboxed, in a context of its own, without Node, webviews or dropped links", async () => {
    const preferences = await app.inMain(({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as { getLastWebPreferences(): Record<string, unknown> };
      const given = contents.getLastWebPreferences();
      const names = [
        "contextIsolation",
        "sandbox",
        "nodeIntegration",
        "nodeIntegrationInSubFrames",
        "nodeIntegrationInWorker",
        "webSecurity",
        "webviewTag",
        "navigateOnDragDrop",
        "devTools",
      ];
      return Object.fromEntries(names.map((name) => [name, given[name]]));
    });
    expect(preferences).toEqual({
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInSubFrames: false,
      nodeIntegrationInWorker: false,
      webSecurity: true,
      webviewTag: false,
      navigateOnDragDrop: false,
      devTools: true,
    });
    expect(dashboardWebPreferences("preload.cjs", false).devTools).toBe(false);
  });

  it("loads no script, frame or data from elsewhere", async () => {
    const blocked = await app.page.evaluate(async () => {
      const found: string[] = [];
      const three = new Promise<void>((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => {
          found.push(event.effectiveDirective);
          if (found.length === 3) resolve();
        });
      });
      try {
        document.head.append(Object.assign(document.createElement("script"), { textContent: "window.inlineRan = true" }));
      } catch {
        // Trusted Types refuse it before the policy for inline scripts would.
      }
      document.body.append(Object.assign(document.createElement("iframe"), { src: "http://127.0.0.1:9/" }));
      await fetch("http://127.0.0.1:9/").catch(() => {});
      await three;
      return { found: found.sort(), inlineRan: "inlineRan" in window };
    });
    expect(blocked).toEqual({ found: ["connect-src", "frame-src", "require-trusted-types-for"], inlineRan: false });
  });

  it("does not navigate away", async () => {
    await app.inMain(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.webContents.on("will-navigate", (event: Event & { url: string }) => {
        Object.assign(globalThis, { lastNavigation: { url: event.url, prevented: event.defaultPrevented } });
      });
    });
    await app.page.evaluate(() => {
      location.href = "https://example.com/";
    });
    await expect
      .poll(() => app.inMain(() => Reflect.get(globalThis, "lastNavigation")))
      .toEqual({ url: "https://example.com/", prevented: true });
    expect(await app.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.getURL())).toMatch(/^app:\/\/backlot\//);
    await app.page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("downloads what the dashboard makes, and nothing else", async () => {
    const prevented = await app.inMain(
      ({ session }, urls) => {
        const browser = session.defaultSession as unknown as NodeJS.EventEmitter;
        return urls.map((url) => {
          let refused = false;
          browser.emit("will-download", { preventDefault: () => (refused = true) }, { getURL: () => url });
          return refused;
        });
      },
      ["blob:app://backlot/0c2f", "blob:app://backlot.example/1", "https://example.com/setup.exe", "data:text/plain,x"],
    );
    expect(prevented).toEqual([false, true, true, true]);
  });

  it.each(["--remote-debugging-port=9222", "--no-sandbox", "--inspect=0", "--disable-features=Sandbox"])(
    "takes %s in development only",
    (argument) => {
      expect(() => parseDesktopCommandLine(["backlot", argument], true, services)).toThrow(/Unknown option/);
      expect(parseDesktopCommandLine(["electron", ".", argument], false, services)).toMatchObject({ help: false });
    },
  );

  it.each([
    "--NO-SANDBOX",
    "-no-sandbox",
    "/no-sandbox",
    "--disable-web-security",
    "--disable-site-isolation-trials",
    "--js-flags=--expose-gc",
    "--renderer-cmd-prefix=sh",
    "--load-extension=x",
    "--proxy-server=http://127.0.0.1:1",
    "--host-rules=MAP * 127.0.0.1",
    "--remote-debugging-pipe",
    "--inspect-brk",
    "--user-data-dir=x",
  ])("refuses %s when packaged", (argument) => {
    expect(() => parseDesktopCommandLine(["backlot", argument], true, services)).toThrow(/Unknown option|Unexpected argument/);
    if (!argument.startsWith("-")) return;
    // As the value of an option Chromium would take it, too.
    expect(() => parseDesktopCommandLine(["backlot", "--data-dir", argument], true, services)).toThrow(ServiceError);
  });

  it("turns no text into HTML or a script's address, except by the page's own policy", async () => {
    const refused = await app.page.evaluate(() => {
      const attempts: (() => unknown)[] = [
        () => (document.createElement("div").innerHTML = "<img src=x onerror=alert(1)>"),
        () => document.body.insertAdjacentHTML("beforeend", "<b>x</b>"),
        () => (document.createElement("script").src = "https://example.com/x.js"),
        () => (document.createElement("script").text = "alert(1)"),
        () => new Worker("https://example.com/x.js"),
        () =>
          (window as unknown as { trustedTypes: { createPolicy(name: string, rules: object): unknown } }).trustedTypes.createPolicy(
            "other",
            {},
          ),
      ];
      return attempts.map((attempt) => {
        try {
          attempt();
          return "allowed";
        } catch (error) {
          return (error as Error).name;
        }
      });
    });
    expect(refused).toEqual(Array.from({ length: 6 }, () => "TypeError"));
  });

  it("opens no second window; only a service's own address opens in the system's browser", async () => {
    await app.inMain(({ shell }) => {
      const opened: string[] = [];
      Object.assign(globalThis, { opened });
      shell.openExternal = async (url: string) => void opened.push(url);
    });
    const answers = await app.page.evaluate(() =>
      ["https://example.com/", "file:///etc/passwd", "javascript:alert(1)", "http://127.0.0.1:8080/api/data"].map((url) =>
        window.open(url),
      ),
    );
    expect(answers).toEqual([null, null, null, null]);
    await expect.poll(() => app.inMain(() => Reflect.get(globalThis, "opened"))).toEqual(["http://127.0.0.1:8080/api/data"]);
    expect(await app.inMain(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1);
  });

  it.each([
    ["http://127.0.0.1:8080/", true],
    ["http://localhost:8080/x?y=z", true],
    ["https://[::1]:8443/", true],
    ["http://127.0.0.1.example.com/", false],
    ["http://user@example.com/#127.0.0.1", false],
    ["file:///etc/passwd", false],
    ["javascript:alert(1)", false],
    ["mqtt://127.0.0.1:1883", false],
    ["", false],
  ])("opens %j in the system's browser: %j", (url, allowed) => {
    expect(mayOpenExternally(url)).toBe(allowed);
  });

  it("embeds no webview", async () => {
    const prevented = await app.inMain(({ BrowserWindow }) => {
      const event = { defaultPrevented: false, preventDefault: () => Object.assign(event, { defaultPrevented: true }) };
      BrowserWindow.getAllWindows()[0]?.webContents.emit("will-attach-webview", event, {}, {});
      return event.defaultPrevented;
    });
    expect(prevented).toBe(true);
  });

  it("denies every permission but writing to the clipboard", async () => {
    const states = await app.page.evaluate(async () => {
      const names = ["geolocation", "notifications", "camera", "microphone", "midi", "clipboard-read", "clipboard-write"];
      const found = names.map(async (name) => [name, (await navigator.permissions.query({ name: name as PermissionName })).state]);
      return Object.fromEntries(await Promise.all(found));
    });
    expect(states).toEqual({
      geolocation: "denied",
      notifications: "denied",
      camera: "denied",
      microphone: "denied",
      midi: "denied",
      "clipboard-read": "denied",
      "clipboard-write": "granted",
    });
  });

  it("accepts messages from the dashboard's own top frame only", async () => {
    await app.inMain(({ ipcMain, BrowserWindow }, frame) => {
      const sender = BrowserWindow.getAllWindows()[0]?.webContents;
      const top = { parent: null, url: "app://backlot/" };
      const foreign = [
        { sender, senderFrame: { parent: top, url: "app://backlot/" } },
        { sender, senderFrame: { parent: null, url: "https://example.com/" } },
        { sender, senderFrame: { parent: null, url: "app://elsewhere/" } },
        { sender, senderFrame: null },
        { sender: {}, senderFrame: top },
      ];
      for (const event of foreign) {
        ipcMain.emit("backlot:up", event as unknown as IpcMainEvent, "open");
        ipcMain.emit("backlot:up", event as unknown as IpcMainEvent, frame);
      }
    }, startHttp);
    expect(await httpState()).toBe("stopped");
    await expect
      .poll(async () => (await callFromPage<LogPage>(app.page, "log.read", { text: "not the dashboard" })).lines)
      .toHaveLength(10);
  });

  it.each([
    ["no object", "start"],
    ["a type that does not exist", { type: "eval", source: "1" }],
    ["a call without a name", { type: "call", id: 1 }],
    ["a field too many", { type: "subscribe", topic: "log", extra: true }],
    ["a name that is too long", { type: "call", id: 1, name: "x".repeat(101), params: {} }],
    ["a frame of more than 8 MiB", { type: "call", id: 1, name: "app.info", params: { text: "x".repeat(maxFrameBytes) } }],
  ])("ends the connection of a page that sends %s", async (_what, malformed) => {
    await app.page.evaluate(
      ([first, second]) => {
        const { backlot } = window as unknown as { backlot: { open(listener: () => void): void; post(frame: unknown): void } };
        backlot.open(() => {});
        backlot.post(first);
        backlot.post(second);
      },
      [malformed, startHttp] as const,
    );
    expect(await httpState()).toBe("stopped");
  });

  it("[BL-96] measures a message with circular references", () => {
    const circle: { self?: unknown; text: string } = { text: "x" };
    circle.self = circle;
    const measured: [unknown, boolean][] = [
      ["x".repeat(101), true],
      ["x".repeat(100), false],
      [{ ["x".repeat(101)]: 1 }, true],
      [Array.from({ length: 20 }, () => 1), true],
      [Array.from({ length: 10 }, () => 1), false],
      [new Array(1e9), true],
      [new Uint8Array(101), true],
      [new Map(Array.from({ length: 20 }, (_, index) => [index, index])), true],
      [{ a: { b: ["short", 1, null, undefined] } }, false],
      [circle, true],
    ];
    for (const [value, expected] of measured) expect(isLargerThan(value, 100)).toBe(expected);
  });

  it("answers again once the page is reloaded", async () => {
    await app.page.reload();
    await app.page.getByRole("heading", { name: "Overview" }).waitFor();
    await app.page.getByText("Nothing started yet").waitFor();
  });
});

describe.runIf(isDouble)("the packaged program", () => {
  let apps: DesktopApps;
  beforeEach(async () => {
    apps = await createDesktopApps();
  });
  afterEach(() => apps.dispose());

  it("ends at a switch that weakens it, before it opens anything", async () => {
    const child = apps.spawnPackaged("--remote-debugging-port=0");
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    const said: unknown[] = [];
    child.on("message", (message) => said.push(message));
    expect((await once(child, "close"))[0]).toBe(2);
    expect([stderr.split("\n")[0], said]).toEqual(["USAGE: Unknown option '--remote-debugging-port'", []]);
  });

  it("has no developer tools, in its page and in its menu", async () => {
    const app = await apps.launchPackaged();
    await app.page.getByRole("heading", { name: "Overview" }).waitFor();
    const found = await app.inMain(({ app: main, BrowserWindow, Menu }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as { getLastWebPreferences(): { devTools: boolean } };
      const roles = (Menu.getApplicationMenu()?.items ?? []).flatMap(({ submenu }) => (submenu?.items ?? []).map(({ role }) => role));
      return { isPackaged: main.isPackaged, devTools: contents.getLastWebPreferences().devTools, roles };
    });
    expect(found).toMatchObject({ isPackaged: true, devTools: false });
    expect(found.roles.map((role) => role?.toLowerCase())).toContain("reload");
    expect(found.roles.map((role) => role?.toLowerCase())).not.toContain("toggledevtools");
  });
});
