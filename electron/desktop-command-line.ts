import { type CommandLine, parseCommandLine } from "../servers/command-line.ts";
import type { Service } from "../servers/core/service/service.ts";
import { ServiceError } from "../servers/core/service/service-error.ts";

/** Chromium switches that users have a reason to pass; everything else is Backlot's or a typing error. */
const chromiumSwitch =
  /^--(disable-gpu|disable-dev-shm-usage|ozone-platform|ozone-platform-hint|force-device-scale-factor|lang|enable-logging|password-store)(=|$)/;
/** They open the program to others or lower its walls: for development only. */
const developmentSwitch = /^--(no-sandbox|inspect|remote-debugging-port|enable-features|disable-features)(=|$)/;

/** Parses the desktop program's arguments. Throws USAGE, also for options that only the launcher has. */
export function parseDesktopCommandLine(argv: readonly string[], isPackaged: boolean, services: readonly Service[]): CommandLine {
  const own = argv.slice(1).filter((argument) => !chromiumSwitch.test(argument) && (isPackaged || !developmentSwitch.test(argument)));
  // If the runtime is not packaged, the first argument is the program's folder.
  const commandLine = parseCommandLine(isPackaged ? own : own.slice(1), services);
  if (
    commandLine.shell === "browser" ||
    commandLine.shell === "headless" ||
    commandLine.json ||
    commandLine.record !== undefined ||
    commandLine.dashboardPort !== undefined ||
    commandLine.dashboardConnections !== undefined ||
    commandLine.dashboardUnread !== undefined
  ) {
    throw new ServiceError(
      "USAGE",
      "The desktop window serves no dashboard at a URL, and writes traffic where its user exports it",
      "Use npm start -- --browser or --headless for that.",
    );
  }
  return commandLine;
}
