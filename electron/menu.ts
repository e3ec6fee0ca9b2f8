import type { MenuItemConstructorOptions } from "electron";
import type { ServiceActions } from "./service-actions.ts";

export interface MenuOptions {
  readonly platform: NodeJS.Platform;
  readonly services: Pick<ServiceActions, "startAll" | "stopAll">;
  readonly show: () => void;
  /** For work on Backlot itself. */
  readonly developerTools: boolean;
}

/** The application menu. Its keys leave those of the dashboard alone: Ctrl/⌘ K, Ctrl/⌘ J, `/` and Space. */
export function applicationMenu({ platform, services, show, developerTools }: MenuOptions): MenuItemConstructorOptions[] {
  const mac = platform === "darwin";
  return [
    ...(mac ? [macAppMenu] : []),
    {
      label: "File",
      submenu: [
        { label: "Show Backlot", accelerator: "CommandOrControl+Shift+B", click: show },
        { role: "close" },
        ...(mac ? [] : quitItems),
      ],
    },
    { role: "editMenu" },
    {
      label: "Services",
      submenu: [
        { label: "Start All", accelerator: "CommandOrControl+Shift+Enter", click: services.startAll },
        { label: "Stop All", accelerator: "CommandOrControl+Shift+Backspace", click: services.stopAll },
      ],
    },
    {
      label: "View",
      submenu: [
        { role: "reload" },
        ...(developerTools ? [{ role: "toggleDevTools" as const }] : []),
        { type: "separator" },
        { role: "resetZoom" },
        { role: "zoomIn" },
        { role: "zoomOut" },
        { type: "separator" },
        { role: "togglefullscreen" },
      ],
    },
    { role: "windowMenu" },
    ...(mac ? [] : [helpMenu]),
  ];
}

const macAppMenu: MenuItemConstructorOptions = {
  role: "appMenu",
  submenu: [
    { role: "about" },
    { type: "separator" },
    { role: "services" },
    { type: "separator" },
    { role: "hide" },
    { role: "hideOthers" },
    { role: "unhide" },
    { type: "separator" },
    { role: "quit" },
  ],
};
const quitItems: MenuItemConstructorOptions[] = [{ type: "separator" }, { role: "quit" }];
const helpMenu: MenuItemConstructorOptions = { role: "help", submenu: [{ role: "about" }] };
