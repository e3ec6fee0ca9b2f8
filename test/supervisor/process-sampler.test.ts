import { expect, it } from "vitest";
import { residentBytes } from "../../servers/supervisor/process-sampler.ts";

it("memory is what the system reports, for any page size; an ended process has none", async () => {
  const bytes = await residentBytes([process.pid, 2 ** 22 + 1]);
  expect([...bytes.keys()]).toEqual([process.pid]);
  const own = process.memoryUsage.rss();
  expect(Math.abs((bytes.get(process.pid) ?? 0) - own) / own).toBeLessThan(0.2);
});
