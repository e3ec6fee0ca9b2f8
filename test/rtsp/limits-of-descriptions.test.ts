import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { parseSdp } from "../../servers/core/rtp/sdp.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { createFaultControl } from "../../servers/rtsp/faults/fault-control.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { faultRoutes } from "../../servers/rtsp/management/fault-routes.ts";
import { trackOfMedia } from "../../servers/rtsp/protocol/media-description.ts";
import { type HeaderFields, RtspRefusal } from "../../servers/rtsp/protocol/message.ts";
import { AmfError, readAmf, writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import type { Access } from "../../servers/rtsp/sessions/access.ts";
import { Announcement } from "../../servers/rtsp/sessions/announcement.ts";
import { createRequestHandler } from "../../servers/rtsp/sessions/request-handlers.ts";
import type { RtspSession } from "../../servers/rtsp/sessions/rtsp-session.ts";
import { SessionTable } from "../../servers/rtsp/sessions/session-table.ts";
import { Paths } from "../../servers/rtsp/streams/paths.ts";
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

it("[RTSP-230] nothing is opened for a connection that was closed while its request waited", async () => {
  const counted: number[] = [];
  class CountedBudget extends SharedBudget {
    override changed(...[, amount]: Parameters<SharedBudget["changed"]>): void {
      counted.push(amount);
    }
  }
  const turns = new WorkTurns();
  onEnd(() => turns.close());
  const sessions = new SessionTable({ turns, sessions: 10, sessionsPerAddress: 10, onEnd() {} });
  onEnd(() => sessions.close("the test is over"));
  const paths = new Paths({ mostPaths: 10, replacePublishers: true });
  const limits = { packetBytes: 1_400, keptBytes: 1 << 20, media: new CountedBudget(1 << 30), tracks: 8 } as never;
  const login = Promise.withResolvers<undefined>();
  const access = { check: () => login.promise } as unknown as Access;
  const handle = createRequestHandler({ paths, sessions, access, faults: new Faults(), limits });
  const connection = { address: "10.0.0.1", isOpen: true, announced: undefined, channels: new Map() };
  const body = "v=0\r\nm=audio 0 RTP/AVP 0\r\na=control:trackID=0\r\n";
  const request = (method: string, uri: string, fields: HeaderFields) =>
    handle(
      { kind: "request", method, uri, version: "RTSP/1.0", headers: fields, body: Buffer.from(body), head: Buffer.alloc(0) },
      connection as never,
    );
  const asked = [
    request("ANNOUNCE", "rtsp://127.0.0.1/mine", []),
    request("SETUP", "rtsp://127.0.0.1/mine/trackID=0", [["Transport", "RTP/AVP/TCP;interleaved=0-1"]]),
  ];
  connection.isOpen = false;
  login.resolve(undefined);
  for (const answer of asked) await expect(answer).rejects.toBeInstanceOf(RtspRefusal);
  expect([counted, connection.announced, sessions.size]).toEqual([[], undefined, 0]);
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
