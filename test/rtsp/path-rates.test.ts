import { expect, it, onTestFinished, vi } from "vitest";
import type { RtspViews } from "../../contract/services/rtsp.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { createPageViews, type PageViewsOptions } from "../../servers/rtsp/observe/page-views.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";

const h264 = {
  kind: "video",
  codec: "h264",
  clockRate: 90_000,
  sps: [Buffer.from([0x67, 100, 0, 30])],
  pps: [Buffer.from([0x68])],
} as const;

it("[RTSP-248] the rates of a path are of whole seconds: in the one in which its source begins or pauses it has none", () => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const clock = { ptsAt: () => 0 };
  const stream = new Stream({ tracks: [h264], clock, packetBytes: 1_400, keptBytes: 1 << 20, media: new SharedBudget(1 << 30) });
  const source = { kind: "clip", title: "clip", stream };
  const rates: number[] = [];
  const views = createPageViews({
    paths: { list: () => [{ name: "clip", source, since: 0 }] },
    sessions: { list: () => [] },
    recorder: { sessions: () => [] },
    faults: { onChange() {}, list: () => [] },
    previews: { readersOf: () => 0 },
    view(name: keyof RtspViews, value: unknown) {
      if (name === "paths") rates.push(...(value as RtspViews["paths"]).paths.map(({ frameRate }) => frameRate));
    },
  } as unknown as PageViewsOptions);
  let pts = 0;
  /** 25 frames a second, or none. */
  const run = (ms: number, isSending: boolean) => {
    for (let passed = 0; passed < ms; passed += 40) {
      if (isSending) stream.publish({ track: 0, units: [Buffer.from([0x65, 1])], pts, dts: pts++, isKey: true });
      vi.advanceTimersByTime(40);
    }
  };
  views.show();
  run(640, false);
  run(360, true);
  views.show();
  run(1_000, true);
  views.show();
  run(600, true);
  stream.forget();
  run(400, false);
  views.show();
  run(1_000, false);
  views.show();
  run(1_000, true);
  views.show();
  run(1_000, true);
  views.show();
  // The last run began with a second.
  expect(rates).toEqual([0, 0, 25, 0, 0, 25, 25]);
});
