import { beforeEach, expect } from "vitest";

/** What keeps a process alive; requests to the file system come and go by themselves. */
const watched = /^(Timeout|Immediate|TCPSocketWrap|TCPServerWrap|UDPWrap|PipeWrap|ProcessWrap|Worker|MessagePort|FSEventWrap|StatWatcher)$/;

function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) if (watched.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** To be called at the top of a test file: after each test no socket, timer or child process of it is left. */
export function checkLeaks(graceMs = 3_000): void {
  beforeEach(({ onTestFinished }) => {
    const before = activeResources();
    const left = () =>
      [...activeResources()].flatMap(([name, count]) => {
        const more = count - (before.get(name) ?? 0);
        return more > 0 ? [`${more} × ${name}`] : [];
      });
    // Registered first, it runs last: after what the test itself releases.
    onTestFinished(async () => {
      const end = performance.now() + graceMs;
      // A socket that was just destroyed needs a turn or two to be gone.
      while (left().length > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
      expect(left(), "left open by the test").toEqual([]);
    });
  });
}
