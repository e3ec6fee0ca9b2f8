/** What the app asks of the desktop around it; answers as a desktop does on which nobody does anything. */
import { CoveredEmitter, strict } from "./strict.ts";

const area = { x: 0, y: 0, width: 1920, height: 1080 };
export const display = { id: 1, scaleFactor: 1, bounds: area, workArea: area };

export const screen = strict("screen", { getAllDisplays: () => [display], getPrimaryDisplay: () => display });
export const nativeTheme = strict("nativeTheme", { shouldUseDarkColors: false });
export const powerMonitor = strict("powerMonitor", new CoveredEmitter("powerMonitor", ["shutdown"]));

export const shell = strict("shell", { openExternal: async (_url: string) => {} });
export const clipboard = strict("clipboard", { writeText: (_text: string) => {} });
export const dialog = strict("dialog", {
  showMessageBox: async (_options: object) => ({ response: 0, checkboxChecked: false }),
  showSaveDialog: async (_window: object, _options: object) => ({ canceled: true, filePath: "" }),
  showErrorBox: (title: string, content: string) => void process.stderr.write(`[dialog] ${title}: ${content}\n`),
});
