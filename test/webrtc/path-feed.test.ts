import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { StreamItem } from "../../contract/provided.ts";
import type { MediaItem } from "../../contract/services/rtsp-media.ts";
import { noPeers, type PeerServices } from "../../servers/core/streams/peer-client.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { type FeedFrame, type PathFeed, PathFeeds } from "../../servers/webrtc/media/sessions/path-feed.ts";
import { until } from "../support/until.ts";

/** A packet of one byte, behind its four bytes of an interleaved connection. */
const packet = Buffer.concat([Buffer.from([0x24, 0, 0, 13, 0x80, 0xe0]), Buffer.alloc(10), Buffer.from([0x41])]);

/** Feeds whose paths have a key frame and so many frames of so many packets. */
function feedsOf(frames: number, packets: number, allKeptBytes: number): PathFeeds {
  async function* items(): AsyncGenerator<StreamItem<MediaItem>> {
    yield { header: { type: "tracks", tracks: [{ kind: "video", codec: "h264", clockRate: 90_000, profile: "42e01f" }] as never } };
    const payload = Buffer.concat(Array.from({ length: packets }, () => packet));
    for (let index = 0; index <= frames; index++)
      yield { header: { type: "frame", track: 0, isKey: index === 0, isKept: false }, payload: index === 0 ? packet : payload };
  }
  const services: PeerServices = {
    call: noPeers.call,
    open: () => ({ cancel() {}, [Symbol.asyncIterator]: items }) as never,
  };
  return new PathFeeds({ services, packetBytes: 1_200, keptBytes: 1 << 20, allKeptBytes, turns: new WorkTurns() });
}

/** What is kept of a path after the last one. */
async function keptAfter(frames: number, packets: number): Promise<readonly FeedFrame[]> {
  const ended = Promise.withResolvers<void>();
  let kept: readonly FeedFrame[] = [];
  const onFrame = () => {
    kept = feed.kept;
  };
  const feed = feedsOf(frames, packets, 1 << 30).join("a", { onFrame, onClock() {}, onEnd: () => ended.resolve() });
  await ended.promise;
  expect(feed.kept).toEqual([]);
  return kept;
}

it("[WEBRTC-469] and are bounded for all paths: those that have most lose them", async () => {
  const feeds = feedsOf(400, 1, 1 << 20);
  const joined: PathFeed[] = [];
  const bytes = () => joined.reduce((sum, { kept }) => sum + kept.reduce((all, { heldBytes }) => all + heldBytes, 0), 0);
  let most = 0;
  const watch = async (path: string) => {
    const ended = Promise.withResolvers<void>();
    const onFrame = () => {
      most = Math.max(most, bytes());
    };
    joined.push(feeds.join(path, { onFrame, onClock() {}, onEnd: () => ended.resolve() }));
    await ended.promise;
  };
  await Promise.all(["a", "b", "c", "d"].map(watch));
  expect(most).toBeGreaterThan(1 << 19);
  expect(most).toBeLessThanOrEqual(1 << 20);
});

it("[WEBRTC-469] kept frames count with the memory of their objects", async () => {
  expect(await keptAfter(500, 1)).toHaveLength(501);
  expect(await keptAfter(5_000, 1)).toEqual([]);
  expect(await keptAfter(20, 1_000)).toEqual([]);
});

it("[WEBRTC-560] of many players that come and go, one message at a time says how many there are", async () => {
  const told: unknown[] = [];
  const taken: (() => void)[] = [];
  const services = {
    call: (_provider: unknown, name: string, { count }: { count: number }) => {
      told.push([name, count]);
      return new Promise<void>((resolve) => taken.push(resolve));
    },
    open: () => ({ cancel() {}, [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
  } as unknown as PeerServices;
  const feeds = new PathFeeds({ services, packetBytes: 1_200, keptBytes: 1, allKeptBytes: 1, turns: new WorkTurns() });
  const viewers = Array.from({ length: 100 }, () => ({ onFrame() {}, onClock() {}, onEnd() {} }));
  const [feed] = viewers.map((viewer) => feeds.join("a", viewer)) as [PathFeed];
  expect(told).toEqual([["players", 2]]);
  taken.shift()?.();
  await until(() => told.length === 2);
  for (const viewer of viewers.slice(0, 99)) feeds.leave(feed, viewer);
  taken.shift()?.();
  await until(() => told.length === 3);
  expect(told.slice(1)).toEqual([
    ["players", 100],
    ["players", 1],
  ]);
  for (const viewer of viewers.slice(99)) feeds.leave(feed, viewer);
  taken.shift()?.();
  await nextTurn();
  expect(told).toHaveLength(3);
});
