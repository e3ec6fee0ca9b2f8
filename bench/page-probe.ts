/** What runs inside the page: each function is sent there as text, so it uses nothing from outside itself. */
import type { TrafficRow } from "../contract/traffic/row.ts";
import type { DownFrame, UpFrame } from "../contract/wire.ts";
import type { ClickTimes, DeliveredCounts } from "./attached-dashboard.ts";

export interface Probe {
  /** The page listens to the HTTP service's rows. */
  subscribed: boolean;
  counts(): DeliveredCounts;
  /** Since the last call. */
  takeFrames(): { readonly framesMs: readonly number[]; readonly longTasksMs: readonly number[] };
}

/** Before the page's own scripts: counts what its WebSocket brings, frames and long tasks. */
export function installPageProbe(): void {
  const rows = new Set<number>();
  const agesMs: number[] = [];
  let [updates, leftOut, batches] = [0, 0, 0];
  let framesMs: number[] = [];
  let longTasksMs: number[] = [];

  const probe: Probe = {
    subscribed: false,
    counts: () => ({ rows: rows.size, updates, leftOut, batches, agesMs }),
    takeFrames() {
      const taken = { framesMs, longTasksMs };
      framesMs = [];
      longTasksMs = [];
      return taken;
    },
  };

  function onFrame(frame: DownFrame): void {
    if (frame.type !== "batch" || frame.topic !== "traffic/http") return;
    const items = frame.items as readonly TrafficRow[];
    let oldest = Number.POSITIVE_INFINITY;
    for (const row of items) {
      rows.add(row.id);
      if (row.at < oldest) oldest = row.at;
    }
    updates += items.length;
    leftOut += frame.dropped;
    batches += 1;
    agesMs.push(Date.now() - oldest);
  }

  class CountedWebSocket extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      this.addEventListener("message", (event) => onFrame(JSON.parse(event.data as string) as DownFrame));
    }

    override send(data: string): void {
      super.send(data);
      const frame = JSON.parse(data) as UpFrame;
      if (frame.type === "subscribe" && frame.topic === "traffic/http") probe.subscribed = true;
    }
  }

  let lastFrameAt = performance.now();
  const onAnimationFrame = (now: number) => {
    framesMs.push(now - lastFrameAt);
    lastFrameAt = now;
    requestAnimationFrame(onAnimationFrame);
  };
  requestAnimationFrame(onAnimationFrame);
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) longTasksMs.push(task.duration);
  }).observe({ type: "longtask" });
  Object.assign(globalThis, { WebSocket: CountedWebSocket, backlotProbe: probe });
}

/** From the next click, as the browser stamped it, until the state beside the title reads "Stopped" and is painted. */
export function timeToStopped(): Promise<ClickTimes> {
  return new Promise((resolve, reject) => {
    // Pages that were shown before stay mounted.
    const title = [...document.querySelectorAll("h1")].find((heading) => heading.checkVisibility());
    const head = title?.parentElement;
    if (!title || !head) {
      reject(new Error("The page has no title."));
      return;
    }
    const patience = setTimeout(() => reject(new Error('The page did not show "Stopped" within 30 s.')), 30_000);
    let clickedAt = Number.NaN;
    let handledMs = Number.NaN;
    const onClick = (event: Event) => {
      clickedAt = event.timeStamp;
      handledMs = performance.now() - clickedAt;
    };
    addEventListener("click", onClick, { capture: true, once: true });
    const observer = new MutationObserver(() => {
      if (Number.isNaN(clickedAt) || title.nextElementSibling?.textContent !== "Stopped") return;
      observer.disconnect();
      clearTimeout(patience);
      const shownMs = performance.now() - clickedAt;
      // A timer set within the frame runs after that frame is painted.
      requestAnimationFrame(() => setTimeout(() => resolve({ handledMs, shownMs, paintedMs: performance.now() - clickedAt }), 0));
    });
    observer.observe(head, { childList: true, characterData: true, subtree: true });
  });
}
