import { type FSWatcher, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import path from "node:path";

export interface InstanceLock {
  release(): void;
}

/** The lock of a data folder, or undefined where a living process holds it, which is then told. */
export function lockInstance(folder: string, onSecond: () => void): InstanceLock | undefined {
  const lock = path.join(folder, "double.lock");
  const call = path.join(folder, "double.second");
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
  } catch {
    if (isAlive(Number(readFileSync(lock, "utf8")))) {
      writeFileSync(call, "");
      return undefined;
    }
    writeFileSync(lock, String(process.pid));
  }
  const watcher: FSWatcher = watch(folder, (_change, name) => {
    if (name !== path.basename(call)) return;
    try {
      rmSync(call);
    } catch {
      // One call may be told of twice.
      return;
    }
    onSecond();
  });
  return {
    release() {
      watcher.close();
      rmSync(lock, { force: true });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
