import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { parseSdp } from "../../servers/core/rtp/sdp.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { createFaultControl } from "../../servers/rtsp/faults/fault-control.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { faultRoutes } from "../../servers/rtsp/management/fault-routes.ts";
import { trackOfMedia } from "../../servers/rtsp/protocol/media-description.ts";
import { AmfError, readAmf, writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { Announcement } from "../../servers/rtsp/sessions/announcement.ts";
import type { RtspSession } from "../../servers/rtsp/sessions/rtsp-session.ts";
import { onEnd } from "../support/start-service.ts";

it("[RTSP-211] of a description some parameters and parameter sets are read, and it counts with its objects", () => {
  const sets = Array.from({ length: 1_000 }, (_, index) => Buffer.of(0x67, index >> 8, index & 0xff).toString("base64")).join(",");
  const parameters = Array.from({ length: 5_000 }, (_, index) => `p${index}=1`).join(";");
  const text = `v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 sprop-parameter-sets=${sets};${parameters}\r\n`;
  const [media] = parseSdp(text).media;
  const described = trackOfMedia(media as NonNullable<typeof media>, 0);
  expect(Object.keys(described.parameters)).toHaveLength(64);
  expect(described.track.kind === "video" && described.track.sps.length).toBe(32);
  let counted = 0;
  class CountedBudget extends SharedBudget {
    override changed(...[, amount]: Parameters<SharedBudget["changed"]>): void {
      counted += amount;
    }
  }
  const target = { path: "a" } as never;
  new Announcement({ target, user: undefined, tracks: [described] }, 100, new CountedBudget(1), "10.0.0.1", () => {});
  expect(counted).toBeGreaterThan(15_000);
});

it("[RTSP-210] metadata of many values is refused", () => {
  const metadata = (count: number) => {
    const fields = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, null]));
    return writeAmf(["onMetaData", fields]);
  };
  expect(readAmf(metadata(100))).toHaveLength(2);
  expect(() => readAmf(metadata(1_000))).toThrow(AmfError);
});

it("[RTSP-212] faults that begin or end at once are shown at once", async () => {
  const faults = new Faults();
  let shown = 0;
  faults.onChange(() => shown++);
  for (let index = 0; index < 1_000; index++) faults.start(`path-${index}`, { fault: { kind: "stall" }, forMs: 60_000 });
  await nextTurn();
  expect(shown).toBe(1);
  expect(faults.list(10)).toHaveLength(10);
  faults.stopAll();
  await nextTurn();
  expect(shown).toBe(2);
  expect(faults.isQuiet).toBe(true);
});

it("[RTSP-225] a path with thousands of sessions is closed in turns, and of thousands of targets the first 1,000 are listed", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  onEnd(() => turns.close());
  const faults = new Faults();
  onEnd(() => faults.stopAll());
  let ended = 0;
  const sessions = Array.from({ length: 3_000 }, (_, index) => ({
    path: "live",
    publicId: `${index}`,
    end() {
      nowMs += 0.125;
      ended++;
    },
  })) as unknown as readonly RtspSession[];
  const control = createFaultControl({ faults, sessions: { list: () => [...sessions] }, turns, endReaders() {} });
  control.startOnPath("live", { fault: { kind: "close" }, forMs: 60_000 });
  expect(ended).toBeLessThan(100);
  for (let before = ended; ended < 3_000; before = ended) {
    await nextTurn();
    expect(ended - before).toBeLessThan(100);
  }
  for (const session of sessions) faults.start(session, { fault: { kind: "stall" }, forMs: 60_000 });
  const [list] = faultRoutes({ faults, control, sessions: { list: () => [...sessions] } });
  const answer = (await list?.answer([], new URLSearchParams())) as { body: { paths: object[]; sessions: { session: string }[] } };
  expect([answer.body.paths.length, answer.body.sessions.length, answer.body.sessions.at(-1)?.session]).toEqual([1, 999, "998"]);
});
