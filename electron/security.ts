import type { Session, WebContents, WebPreferences } from "electron";
import { dashboardOrigin, isDashboard } from "./dashboard-address.ts";

/** Preferences of the dashboard's page: an ordinary web page with the three functions of the preload script. */
export const dashboardWebPreferences = (preload: string, devTools: boolean) =>
  ({
    preload,
    contextIsolation: true,
    sandbox: true,
    nodeIntegration: false,
    nodeIntegrationInSubFrames: false,
    nodeIntegrationInWorker: false,
    webSecurity: true,
    webviewTag: false,
    navigateOnDragDrop: false,
    devTools,
    // It would download dictionaries.
    spellcheck: false,
  }) satisfies WebPreferences;

/** Writing to the clipboard is the only permission that the dashboard needs. */
const allowedPermissions: ReadonlySet<string> = new Set(["clipboard-sanitized-write"]);

export function restrictPermissions(session: Session): void {
  const allows = (permission: string, url: string) => allowedPermissions.has(permission) && isDashboard(url);
  session.setPermissionRequestHandler((_contents, permission, callback, details) => callback(allows(permission, details.requestingUrl)));
  session.setPermissionCheckHandler((_contents, permission, origin) => allows(permission, origin));
  session.setDevicePermissionHandler(() => false);
}

/** Files that the dashboard itself makes may be saved; nothing else is downloaded. */
export function restrictDownloads(session: Session): void {
  session.on("will-download", (event, item) => {
    if (!item.getURL().startsWith(`blob:${dashboardOrigin}/`)) event.preventDefault();
  });
}

/** Prevents navigation, new windows and embedded pages. */
export function restrictNavigation(contents: WebContents, openExternal: (url: string) => void): void {
  const refuse = (event: { readonly url: string; preventDefault(): void }) => {
    if (!isDashboard(event.url)) event.preventDefault();
  };
  contents.on("will-navigate", refuse);
  contents.on("will-redirect", refuse);
  contents.on("will-frame-navigate", (event) => {
    if (!event.isMainFrame) event.preventDefault();
  });
  contents.on("will-attach-webview", (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (mayOpenExternally(url)) openExternal(url);
    return { action: "deny" };
  });
}

const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** The services' own addresses; the dashboard links to nothing else. */
export function mayOpenExternally(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.protocol === "http:" || parsed.protocol === "https:") && loopbackHosts.has(parsed.hostname);
}
