import { readFileSync } from "node:fs";
import type { DoubleMenu } from "./menu.ts";
import { CoveredEmitter, strict } from "./strict.ts";

export class Tray extends CoveredEmitter {
  constructor(icon: string) {
    super("Tray", ["click"]);
    if (!isPng(icon)) throw new Error(`No tray icon at ${icon}`);
    // biome-ignore lint/correctness/noConstructorReturn: an instance is as strict as the module
    return strict("Tray", this);
  }
  setToolTip(_text: string): void {}
  setContextMenu(_menu: DoubleMenu): void {}
  destroy(): void {}
}

function isPng(file: string): boolean {
  try {
    return readFileSync(file).subarray(1, 4).toString() === "PNG";
  } catch {
    return false;
  }
}
