import { expect, it } from "vitest";
import type { StreamItem } from "../../contract/provided.ts";
import type { MediaItem } from "../../contract/services/rtsp-media.ts";
import { WorkTurns } from "../../servers/core/service/work-turns.ts";
import { noPeers, type PeerServices } from "../../servers/core/streams/peer-client.ts";
import { type FeedFrame, PathFeeds } from "../../servers/webrtc/media/sessions/path-feed.ts";

/** A packet of one byte, behind its four bytes of an interleaved connection. */
const packet = Buffer.concat([Buffer.from([0x24, 0, 0, 13, 0x80, 0xe0]), Buffer.alloc(10), Buffer.from([0x41])]);

/** What is kept of a path after a key frame and so many frames of so many packets. */
async function keptAfter(frames: number, packets: number): Promise<readonly FeedFrame[]> {
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
  const feeds = new PathFeeds({ services, packetBytes: 1_200, keptBytes: 1 << 20, turns: new WorkTurns() });
  const ended = Promise.withResolvers<void>();
  const viewer = { onFrame() {}, onClock() {}, onEnd: () => ended.resolve() };
  const feed = feeds.join("a", viewer);
  await ended.promise;
  return feed.kept;
}

it("[WEBRTC-469] kept frames count with the memory of their objects", async () => {
  expect(await keptAfter(500, 1)).toHaveLength(501);
  expect(await keptAfter(5_000, 1)).toEqual([]);
  expect(await keptAfter(20, 1_000)).toEqual([]);
});
