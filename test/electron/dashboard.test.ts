import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isMoving, paintedFrames } from "../browser/bar-code.ts";
import { freePort } from "../support/free-port.ts";
import { createDesktopApps, type DesktopApps } from "./desktop-apps.ts";
import type { App } from "./launch-app.ts";

describe("the dashboard in the desktop window", () => {
  let apps: DesktopApps;
  let app: App;
  let port: number;

  beforeAll(async () => {
    apps = await createDesktopApps();
    port = await freePort();
    app = await apps.launch("--http-port", String(port));
  });
  afterAll(() => apps.dispose());

  it("is loaded from app://, in a window of the default size that is shown", async () => {
    const windows = await app.inMain(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map((window) => ({
        url: window.webContents.getURL().replace(/#.*/, ""),
        shown: window.isVisible(),
        size: window.getBounds(),
      })),
    );
    expect(windows).toEqual([{ url: "app://backlot/", shown: true, size: expect.objectContaining({ width: 1280, height: 800 }) }]);
    await app.page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("keeps to its own content security policy", async () => {
    const complaints: string[] = [];
    app.page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    await app.page.reload();
    await app.page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("starts the HTTP service, shows a real request, and stops it again", async () => {
    await app.page.getByRole("button", { name: "Start all", exact: true }).click();
    await app.page.getByRole("banner").getByRole("button", { name: "Stop all" }).and(app.page.locator(":enabled")).waitFor();
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/api/data`).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
    await app.page.getByRole("navigation").getByRole("link", { name: /HTTP/ }).click();
    await fetch(`http://127.0.0.1:${port}/api/data?from=the-desktop-test`);
    await app.page.getByText("from=the-desktop-test").first().waitFor();
    await app.page.getByRole("banner").getByRole("button", { name: "Stop all" }).click();
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/`).then(
          () => "answered",
          () => "refused",
        ),
      )
      .toBe("refused");
  });

  it("[RTSP-63] shows the moving picture of a stream", async () => {
    await app.page.getByRole("navigation").getByRole("link", { name: /RTSP/ }).click();
    await app.page.getByRole("button", { name: "Start", exact: true }).first().click();
    expect(isMoving(await paintedFrames(app.page, "Picture of /stream", 8))).toBe(true);
  });

  it("is reloaded when its page crashes, and begins with the Overview when that page crashes again", async () => {
    await app.page.getByRole("navigation").getByRole("link", { name: /RTSP/ }).click();
    const crashed = async () => {
      await app.page.evaluate(() => Object.assign(window, { before: true }));
      await app.inMain(({ BrowserWindow }) => {
        const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as NodeJS.EventEmitter;
        contents.emit("render-process-gone", {}, { reason: "oom", exitCode: 1 });
      });
      await expect.poll(() => app.page.evaluate(() => "before" in window).catch(() => true)).toBe(false);
      await app.page.getByRole("navigation").getByRole("link", { name: /HTTP/ }).waitFor();
    };
    await crashed();
    await app.page.getByRole("heading", { name: "RTSP", level: 1 }).waitFor();
    await crashed();
    await app.page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  });
});
