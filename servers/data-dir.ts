import os from "node:os";
import path from "node:path";

/**
 * Where this system keeps a program's data; BACKLOT_DATA_DIR is stronger. The package env-paths has another folder on Windows
 * (LOCALAPPDATA, with a subfolder) and takes no environment: installations would lose their data.
 */
export function defaultDataDir(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (environment.BACKLOT_DATA_DIR) return path.resolve(environment.BACKLOT_DATA_DIR);
  switch (platform) {
    case "darwin":
      return path.join(os.homedir(), "Library", "Application Support", "Backlot");
    case "win32":
      return path.join(environment.APPDATA ?? path.join(os.homedir(), "AppData", "Roaming"), "Backlot");
    default:
      return path.join(environment.XDG_DATA_HOME ?? path.join(os.homedir(), ".local", "share"), "backlot");
  }
}
