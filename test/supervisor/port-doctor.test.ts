import { describe, expect, it } from "vitest";
import { isPortFree, nextFreePort, portHolder } from "../../servers/supervisor/port-doctor.ts";
import { checkLeaks } from "../support/check-leaks.ts";
import { holdPort } from "../support/port-holder.ts";

describe("port doctor", () => {
  checkLeaks();

  it.skipIf(process.platform === "win32")("[BL-62] names the process that listens, by the program's name", async () => {
    const { pid, port } = await holdPort();
    expect(await portHolder(port)).toEqual({ name: "node", pid });
    expect(await isPortFree(port, false)).toBe(false);
  });

  it("[BL-62] names nobody where nobody listens or the system does not tell", async () => {
    const { port } = await holdPort();
    expect(await portHolder(port, "aix")).toSatisfy((holder) => holder === undefined || typeof holder === "object");
    expect(await portHolder(1)).toBeUndefined();
  });

  it("[BL-63] finds the next free port, past taken and reserved ones", async () => {
    const { port } = await holdPort();
    const next = (await nextFreePort(port, false)) as number;
    expect(next).toBeGreaterThan(port);
    expect(await isPortFree(next, false)).toBe(true);
    const reserved = (await nextFreePort(port, false, new Set([next]))) as number;
    expect(reserved).toBeGreaterThan(next);
    const both = await holdPort(next);
    expect(both.port).toBe(next);
    expect(await nextFreePort(port, false)).toBeGreaterThan(next);
  });

  it("[BL-63] finds none beyond the last port", async () => {
    expect(await nextFreePort(65_535, false)).toBeUndefined();
  });

  it("a port that only ::1 or only another address holds is not free", async () => {
    const wide = await holdPort(0, "0.0.0.0");
    expect([await isPortFree(wide.port, false), await isPortFree(wide.port, true)]).toEqual([false, false]);
  });
});
