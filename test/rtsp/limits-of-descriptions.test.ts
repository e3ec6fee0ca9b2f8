import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { parseSdp } from "../../servers/core/rtp/sdp.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { trackOfMedia } from "../../servers/rtsp/protocol/media-description.ts";
import { AmfError, readAmf, writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { Announcement } from "../../servers/rtsp/sessions/announcement.ts";

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
