import type { MenuItemConstructorOptions } from "electron";
import { coverOptions, strict } from "./strict.ts";

const roles: ReadonlySet<string> = new Set(
  (
    "about appMenu close copy cut editMenu fileMenu forceReload help hide hideOthers minimize paste quit reload resetZoom selectAll services " +
    "toggleDevTools togglefullscreen undo unhide viewMenu windowMenu zoom zoomIn zoomOut"
  ).split(" "),
);
const types = ["normal", "separator", "submenu", "checkbox"];
const keys = ["label", "role", "type", "enabled", "checked", "accelerator", "registerAccelerator", "submenu", "click"];
const accelerator = /^((Command|Control|CommandOrControl|Alt|Shift)\+)*([A-Z0-9]|F\d+|Enter|Backspace|Space|Plus|\/)$/;

export interface DoubleMenuItem {
  readonly label: string;
  readonly role: string | undefined;
  readonly type: string;
  readonly enabled: boolean;
  readonly accelerator: string | undefined;
  readonly submenu: DoubleMenu | undefined;
  click(): void;
}
export interface DoubleMenu {
  readonly items: readonly DoubleMenuItem[];
  popup(): void;
}

function buildItem(options: MenuItemConstructorOptions): DoubleMenuItem {
  coverOptions("MenuItem", options, keys);
  const { label, role, type, submenu } = options;
  if (role !== undefined && !roles.has(role)) throw new Error(`The electron double does not cover the role ${role}`);
  if (type !== undefined && !types.includes(type)) throw new Error(`The electron double does not cover items of type ${type}`);
  if (label === undefined && role === undefined && type !== "separator") throw new Error("A menu item needs a label, a role or a type");
  if (options.accelerator !== undefined && !accelerator.test(options.accelerator)) {
    throw new Error(`The electron double does not cover the accelerator ${options.accelerator}`);
  }
  return strict("MenuItem", {
    label: label ?? role ?? "",
    role,
    type: type ?? (submenu ? "submenu" : "normal"),
    enabled: options.enabled ?? true,
    accelerator: options.accelerator,
    submenu: Array.isArray(submenu) ? buildMenu(submenu) : undefined,
    click: () => (options.click as (() => void) | undefined)?.(),
  });
}

const buildMenu = (template: readonly MenuItemConstructorOptions[]): DoubleMenu =>
  strict("Menu", { items: template.map((options) => buildItem(options)), popup() {} });

let applicationMenu: DoubleMenu | null = null;

export const Menu = strict("Menu", {
  buildFromTemplate: buildMenu,
  getApplicationMenu: () => applicationMenu,
  setApplicationMenu(menu: DoubleMenu | null) {
    applicationMenu = menu;
  },
});
