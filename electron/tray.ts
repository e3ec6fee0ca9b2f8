import { Menu, type MenuItemConstructorOptions, Tray } from "electron";
import { isSilent, type ServiceStatus, type ServiceView } from "../contract/service.ts";
import type { Supervisor } from "../servers/supervisor/supervisor.ts";
import type { ServiceActions } from "./service-actions.ts";

export interface TrayOptions {
  readonly icon: string;
  readonly supervisor: Pick<Supervisor, "views" | "onStatus">;
  readonly services: ServiceActions;
  readonly show: () => void;
  readonly quit: () => void;
  readonly copy: (text: string) => void;
}

/** The icon beside the clock, with the services' states and switches. The caller must keep a reference: without one the icon is garbage-collected. */
export function createTray(options: TrayOptions): Tray {
  const tray = new Tray(options.icon);
  // On a Mac a click opens the menu.
  if (process.platform !== "darwin") tray.on("click", options.show);

  let planned = false;
  const refresh = () => {
    planned = false;
    const views = options.supervisor.views().filter((view) => view.built);
    const running = views.filter((view) => view.status.state === "running").length;
    tray.setToolTip(`Backlot: ${running} of ${views.length} running`);
    tray.setContextMenu(Menu.buildFromTemplate(trayMenu(views, options)));
  };
  options.supervisor.onStatus(() => {
    // Starting all services changes many states at once, and each change sends the whole menu to the desktop.
    if (!planned) setImmediate(refresh);
    planned = true;
  });
  refresh();
  return tray;
}

function trayMenu(views: readonly ServiceView[], options: TrayOptions): MenuItemConstructorOptions[] {
  const { services } = options;
  const states = new Set(views.map((view) => view.status.state));
  return [
    { label: "Show Backlot", click: options.show },
    { type: "separator" },
    ...views.map((view) => serviceItem(view, options)),
    { type: "separator" },
    { label: "Start all", enabled: states.has("stopped") || states.has("failed"), click: services.startAll },
    { label: "Stop all", enabled: states.has("running") || states.has("starting"), click: services.stopAll },
    { type: "separator" },
    { label: "Quit Backlot", click: options.quit },
  ];
}

function serviceItem({ id, title, status }: ServiceView, { services, copy }: TrayOptions): MenuItemConstructorOptions {
  const idle = status.state === "stopped" || status.state === "failed";
  const endpoints = status.state === "running" ? status.endpoints : [];
  return {
    label: `${title}: ${stateWord(status)}`,
    submenu: [
      { label: "Start", enabled: idle, click: () => services.start(id) },
      { label: "Stop", enabled: status.state === "running" || status.state === "starting", click: () => services.stop(id) },
      ...endpoints.map(({ url }) => ({ label: `Copy ${url}`, click: () => copy(url) })),
    ],
  };
}

function stateWord(status: ServiceStatus): string {
  switch (status.state) {
    case "stopped":
    case "starting":
    case "stopping":
      return status.state;
    case "running":
      return isSilent(status) ? "not answering" : "running";
    case "failed":
      return status.retryAt === undefined ? "failed" : "failed, starts again soon";
    default:
      return status satisfies never;
  }
}
