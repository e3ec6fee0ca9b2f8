import { execFileSync } from "node:child_process";
import { onEnd } from "./harness.ts";

/** Until the end of the test; false where this user may not. */
export function mountSmallDisk(dir: string, size: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", dir], { stdio: "ignore" });
  } catch {
    return false;
  }
  onEnd(() => execFileSync("umount", ["-l", dir]));
  return true;
}
