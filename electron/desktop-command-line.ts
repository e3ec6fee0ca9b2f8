import { type CommandLine, parseCommandLine } from "../servers/command-line.ts";
import type { Service } from "../servers/core/service/service.ts";
import { ServiceError } from "../servers/core/service/service-error.ts";

/** Chromium's own switches that people have reason to pass; everything else is ours or a slip of the pen. */
const chromiumSwitch =
  /^--(no-sandbox|disable-gpu|disable-dev-shm-usage|ozone-platform|ozone-platform-hint|enable-features|disable-features|force-device-scale-factor|lang|enable-logging|password-store|inspect|remote-debugging-port)(=|$)/;

/** Parses the desktop program's arguments. Throws USAGE, also for what only the launcher can do. */
export function parseDesktopCommandLine(argv: readonly string[], isPackaged: boolean, services: readonly Service[]): CommandLine {
  const own = argv.slice(1).filter((argument) => !chromiumSwitch.test(argument));
  // A runtime that is not packaged is told the program's folder first.
  const commandLine = parseCommandLine(isPackaged ? own : own.slice(1), services);
  if (commandLine.shell === "browser" || commandLine.shell === "headless" || commandLine.json || commandLine.dashboardPort !== undefined) {
    throw new ServiceError(
      "USAGE",
      "The desktop window serves no dashboard at a URL",
      "Use npm start -- --browser or --headless for that.",
    );
  }
  return commandLine;
}
