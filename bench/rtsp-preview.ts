import { SharedBudget } from "../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../servers/core/turns/work-turns.ts";
import { pullUpstream } from "../servers/rtsp/client/pull-upstream.ts";
import { paintedFrames } from "../test/browser/bar-code.ts";
import { startBacklot } from "./backlot-program.ts";
import type { BenchOptions } from "./bench-options.ts";
import { percentile, progress, watchOtherLoad } from "./harness.ts";
import { figure, markdownTable, verdict } from "./markdown-table.ts";
import { openDashboardPage } from "./page-dashboard.ts";

const mostMedianMs = 60;
/** Of a pass of the clip: frames, and from its last key frame to its end. */
const passFrames = 240;
const lastGroupFrames = 15;
const paths = ["stream", "test"] as const;

/** From the service to the painted picture of the dashboard: the numbers of frames are read back from the canvas. */
export async function measurePreview({ seconds, quick }: BenchOptions): Promise<string> {
  const frames = (seconds ?? (quick ? 4 : 30)) * 25;
  const otherLoad = watchOtherLoad();
  const backlot = await startBacklot({ services: ["rtsp"], flags: ["--rtsp-http-port", "0", "--rtsp-rtp-port", "0"] });
  const rows: string[][] = [];
  try {
    const page = await openDashboardPage(backlot.dashboardUrl, "rtsp/live", "RTSP");
    try {
      for (const path of paths) {
        const sent = await watchSent(new URL(`/${path}`, backlot.url).href);
        try {
          const [shown] = page.contexts().flatMap((context) => context.pages());
          if (!shown) throw new Error("The page of the dashboard is gone.");
          await sent.known;
          const painted = await paintedFrames(shown, `Picture of /${path}`, frames);
          // The first one may have been there for a while.
          const delays = painted.slice(1).flatMap(({ number, at }) => {
            const sentAt = sent.nearest(number, at);
            return sentAt === undefined ? [] : [at - sentAt];
          });
          const p50 = percentile(delays, 0.5);
          const values = [p50, percentile(delays, 0.95), Math.max(...delays)];
          rows.push([`/${path}`, String(delays.length), ...values.map(figure), verdict(p50 <= mostMedianMs)]);
          progress(`The picture of /${path} is measured.`);
        } finally {
          await sent.close();
        }
      }
    } finally {
      await page.close();
    }
  } finally {
    await backlot.stop();
  }
  return [
    "**Picture of the dashboard: from the service to the canvas, ms**",
    markdownTable(["path", "pictures", "median", "95 %", "longest", `median at most ${mostMedianMs}`], rows),
    `The number in each picture is read from the canvas with each frame of the screen, and compared with when a player over TCP had the picture. ${otherLoad()}`,
  ].join("\n\n");
}

interface SentFrames {
  /** Resolves when the numbers are known: at the end of a pass. */
  readonly known: Promise<void>;
  /** When a player had a frame of this number, in milliseconds since the epoch; each pass has one, and this is the one nearest to `at`. */
  nearest(number: number, at: number): number | undefined;
  close(): Promise<void>;
}

/** A player of the path beside the page. The last group of a pass is shorter than the others, which tells the number of each frame. */
async function watchSent(url: string): Promise<SentFrames> {
  const known = Promise.withResolvers<void>();
  const times = Array.from({ length: passFrames }, (): number[] => []);
  let number: number | undefined;
  let sinceKey = 0;
  const upstream = await pullUpstream({
    turns: new WorkTurns(),
    media: new SharedBudget(1 << 30),
    url,
    packetBytes: 1_400,
    keptBytes: 16 << 20,
    tls: async () => ({}),
    onDropped: (reason) => known.reject(new Error(reason)),
  });
  upstream.stream.addFrameReader({
    onFrame({ track, isKey }) {
      if (track !== upstream.stream.keyTrack) return;
      if (isKey && sinceKey === lastGroupFrames && number === undefined) {
        number = -1;
        known.resolve();
      }
      sinceKey = isKey ? 1 : sinceKey + 1;
      if (number === undefined) return;
      number = (number + 1) % passFrames;
      times[number]?.push(performance.timeOrigin + performance.now());
    },
    onEnd: (reason) => known.reject(new Error(reason)),
  });
  known.promise.catch(() => {});
  const nearest = (wanted: number, at: number) => times[wanted]?.toSorted((one, other) => Math.abs(one - at) - Math.abs(other - at))[0];
  return { known: known.promise, nearest, close: () => upstream.close() };
}
