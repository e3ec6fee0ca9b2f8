import { readFileSync } from "node:fs";
import type { WebPreferences, WindowOpenHandlerResponse } from "electron";
import type { BrowserContext, Frame, Page, Request, Route } from "playwright-core";
import type { Permissions } from "./permissions.ts";
import { preloadFrame } from "./preload-frame.ts";
import type { Schemes } from "./scheme.ts";
import { CancellableEvent, CoveredEmitter, strict } from "./strict.ts";

export interface PageParts {
  readonly context: () => BrowserContext;
  readonly schemes: Schemes;
  readonly permissions: Permissions;
  /** A message that a page's preload script sent. */
  readonly onMessage: (channel: string, event: object, values: unknown[]) => void;
}

type OpenHandler = (details: { url: string }) => WindowOpenHandlerResponse;

const events = [
  "context-menu",
  "destroyed",
  "did-finish-load",
  "render-process-gone",
  "will-attach-webview",
  "will-frame-navigate",
  "will-navigate",
  "will-redirect",
];

class NavigationEvent extends CancellableEvent {
  readonly url: string;
  readonly isMainFrame: boolean;
  constructor(url: string, isMainFrame: boolean) {
    super();
    this.url = url;
    this.isMainFrame = isMainFrame;
  }
}

/** A page of Chromium, as Electron's main process sees one. */
export class WebContents extends CoveredEmitter {
  private readonly parts: PageParts;
  private readonly preferences: WebPreferences;
  private page: Page | undefined;
  private destroyed = false;
  private closing = false;
  /** The address that the main process itself is loading, which asks nobody. */
  private loading: string | undefined;
  private onOpen: OpenHandler | undefined;
  private sending: Promise<unknown> = Promise.resolve();

  constructor(parts: PageParts, preferences: WebPreferences) {
    super("WebContents", events);
    this.parts = parts;
    this.preferences = preferences;
  }

  isDestroyed(): boolean {
    return this.destroyed;
  }
  getURL(): string {
    return this.page ? this.parts.schemes.fromPage(this.page.url()) : "";
  }
  getLastWebPreferences(): WebPreferences {
    return this.preferences;
  }
  setWindowOpenHandler(handler: OpenHandler): void {
    this.onOpen = handler;
  }
  reload(): void {
    this.loading = this.getURL();
    void this.page?.reload().catch(() => {});
  }
  send(channel: string, ...values: unknown[]): void {
    if (this.destroyed) throw new TypeError("Object has been destroyed");
    // What cannot be cloned throws here, as it does in Electron; frames arrive in order.
    const sent = structuredClone(values);
    this.sending = this.sending
      .then(() =>
        this.page?.evaluate(([name, items]) => Reflect.get(window, "__electronDoubleReceive")?.(name, items), [channel, sent] as const),
      )
      .catch(() => {});
  }

  async load(url: string, shown: { ready: () => void; closed: () => void }): Promise<void> {
    if (this.page) {
      // The app does so after a crash only: also a new fragment loads the page then.
      await this.page.goto("about:blank");
      this.loading = url.replace(/#.*/, "");
      await this.page.goto(this.parts.schemes.toPage(url));
      return;
    }
    // Never the page that Chromium opened with: it keeps the browser alive while there is no window.
    const page = await this.parts.context().newPage();
    const closed = new Promise<void>((resolve) => {
      page.once("close", () => {
        this.destroyed = true;
        this.emit("destroyed");
        shown.closed();
        resolve();
      });
    });
    // Playwright breaks when a page is closed while it is being prepared, so closing waits for that.
    await this.prepare(page, shown.ready);
    this.page = page;
    try {
      if (this.closing) await page.close();
      const shownAs = this.parts.schemes.toPage(url);
      await this.parts.permissions.apply(this.parts.context(), new URL(shownAs).origin, url);
      this.loading = url;
      await page.goto(shownAs);
    } catch (error) {
      if (this.closing) await closed;
      throw error;
    }
  }

  private async prepare(page: Page, onReady: () => void): Promise<void> {
    page.on("popup", (popup) => void popup.close());
    page.on("domcontentloaded", onReady);
    page.on("load", () => this.emit("did-finish-load"));
    page.on("crash", () => this.emit("render-process-gone", {}, { reason: "crashed", exitCode: 1 }));
    await page.exposeBinding("__electronDouble", ({ frame }, kind: string, name: string, values: unknown[]) =>
      this.receive(frame, kind, name, values),
    );
    await page.addInitScript(preloadFrame(readFileSync(String(this.preferences.preload), "utf8")));
    await page.route("**/*", (route) =>
      this.answer(page, route).catch((error: unknown) => {
        // A request of a page that is closed by now.
        if (!page.isClosed() && !this.closing) throw error;
      }),
    );
  }

  private async answer(page: Page, route: Route): Promise<void> {
    if (route.request().isNavigationRequest() && !this.mayNavigate(page, route.request())) await route.abort("aborted");
    else if (!(await this.parts.schemes.answer(route))) await route.continue();
  }

  resize(size: { width: number; height: number }): void {
    void this.page?.setViewportSize({ width: size.width, height: size.height }).catch(() => {});
  }
  close(): void {
    this.closing = true;
    void this.page?.close();
  }

  private mayNavigate(page: Page, request: Request): boolean {
    const url = this.parts.schemes.fromPage(request.url());
    const isMainFrame = request.frame() === page.mainFrame();
    if (isMainFrame && this.loading === url) {
      this.loading = undefined;
      return true;
    }
    const event = new NavigationEvent(url, isMainFrame);
    this.emit("will-frame-navigate", event);
    if (isMainFrame) this.emit("will-navigate", event);
    return !event.defaultPrevented;
  }

  private receive(frame: Frame, kind: string, name: string, values: unknown[]): void {
    if (kind === "open") {
      const answer = this.onOpen?.({ url: this.parts.schemes.fromPage(name) });
      if (answer?.action !== "deny") throw new Error("The electron double covers windows of a page that are denied only");
      return;
    }
    const toFrame = (of: Frame): object => ({
      url: this.parts.schemes.fromPage(of.url()),
      parent: of.parentFrame() && toFrame(of.parentFrame() as Frame),
    });
    this.parts.onMessage(name, strict("IpcMainEvent", { sender: this.self, senderFrame: strict("WebFrameMain", toFrame(frame)) }), values);
  }

  /** The strict view of this object, which is the one that the app holds. */
  self: WebContents = this;
}

export function createWebContents(parts: PageParts, preferences: WebPreferences): WebContents {
  const contents = new WebContents(parts, preferences);
  contents.self = strict("WebContents", contents);
  return contents.self;
}
