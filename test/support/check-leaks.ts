/** Runs before every test file: after each of its tests no socket, timer or child process of this process is left. */
import { beforeEach, expect } from "vitest";

/** What keeps a process alive; requests to the file system come and go by themselves. */
const watched = /^(Timeout|Immediate|TCPSocketWrap|TCPServerWrap|UDPWrap|PipeWrap|ProcessWrap|Worker|MessagePort|FSEventWrap|StatWatcher)$/;
const graceMs = 15_000;

/** The tests of a file there share a browser, which the first one starts. */
const sharesBrowser = /[\\/]test[\\/]browser[\\/]/;

function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) if (watched.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

beforeEach(({ task, onTestFinished }) => {
  if (sharesBrowser.test(task.file.filepath)) return;
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
