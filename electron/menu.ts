import type { MenuItemConstructorOptions } from "electron";
import type { CommandKey, MenuCommand } from "../contract/menu-commands.ts";
import type { ServiceActions } from "./service-actions.ts";

export interface MenuOptions {
  readonly platform: NodeJS.Platform;
  readonly services: Pick<ServiceActions, "startAll" | "stopAll">;
  readonly show: () => void;
  /** Commands of the page that is shown. */
  readonly commands: readonly MenuCommand[];
  readonly run: (id: string) => void;
  /** For development of Backlot. */
  readonly developerTools: boolean;
}

/** The application menu. Its shortcuts do not use those of the dashboard: Ctrl/⌘ K, Ctrl/⌘ J, `/` and Space. */
export function applicationMenu({ platform, services, show, commands, run, developerTools }: MenuOptions): MenuItemConstructorOptions[] {
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
    ...(commands.length > 0 ? [{ label: "Page", submenu: commands.map((command) => pageItem(command, mac, run)) }] : []),
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

/** The page handles its keys: the menu only shows them. On a Mac the menu would intercept plain keys while the user types. */
function pageItem({ id, title, key, enabled }: MenuCommand, mac: boolean, run: (id: string) => void): MenuItemConstructorOptions {
  const accelerator = key && accelerators[key];
  return {
    // A single & marks the access key that follows it.
    label: title.replaceAll("&", "&&"),
    enabled,
    ...(accelerator && (!mac || accelerator.includes("+")) && { accelerator, registerAccelerator: false }),
    click: () => run(id),
  };
}
const accelerators: Readonly<Record<CommandKey, string>> = {
  logs: "CommandOrControl+J",
  filter: "/",
  pause: "Space",
  send: "CommandOrControl+Enter",
};

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
