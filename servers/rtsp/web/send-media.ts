import type { MediaItem } from "../../../contract/services/rtsp-media.ts";
import type { OutgoingStream } from "../../core/streams/peer-provider.ts";
import type { Frame, Packetizer, Track } from "../media/track.ts";
import { createPacketizer } from "../rtp/create-packetizer.ts";
import type { PathSource } from "../streams/paths.ts";
import type { Stream } from "../streams/stream.ts";
import type { FrameReader } from "../streams/stream-readers.ts";
import type { PlayerCount } from "./player-count.ts";
import { describeWebTrack, trackAt, type WebTrackPlace, webTracksOf } from "./web-tracks.ts";

export interface SendMediaOptions {
  readonly stream: Stream;
  readonly webSound: PathSource["webSound"];
  readonly packetBytes: number;
  readonly players: PlayerCount;
}

const clockMs = 1_000;
const firstPayloadType = 96;

/** Sends the tracks for browsers as packets, until the reader leaves. Resolves with the reason where the stream ends. */
export function sendMedia({ stream, webSound, packetBytes, players }: SendMediaOptions, to: OutgoingStream<MediaItem>): Promise<void> {
  const { places } = webTracksOf(stream, webSound);
  const packetizers = places.map((place, track) =>
    createPacketizer(trackAt(place), { track, payloadType: firstPayloadType + track, packetBytes }),
  );
  /** Of pictures: what the reader had no credit for is missing until the next key frame. */
  let waitsForKey = false;
  let isKept = true;

  const sendTracks = () => to.trySend({ type: "tracks", tracks: places.map((place) => describeWebTrack(trackAt(place))) });
  function sendClock(): void {
    const nowMs = performance.now();
    const timestamps = places.map(({ stream: { clock }, index }, track) =>
      (packetizers[track] as Packetizer).timestamp(Math.round(clock.ptsAt(index, nowMs))),
    );
    to.trySend({ type: "clock", atMs: performance.timeOrigin + nowMs, timestamps });
  }
  function sendFrame(track: number, of: Stream, { isKey, ...frame }: Frame): void {
    const isVideo = (places[track] as WebTrackPlace) && trackAt(places[track] as WebTrackPlace).kind === "video";
    // Sound of the past would be late for ever.
    if (!isVideo && isKept) return;
    if (isVideo && waitsForKey && !isKey) return;
    const { bytes } = (packetizers[track] as Packetizer).packetize({ ...frame, isKey });
    const isSent = to.trySend({ type: "frame", track, isKey, isKept }, bytes);
    if (isSent) of.bytesSent += bytes.length;
    if (isVideo) waitsForKey = !isSent;
  }
  const readerOf = (of: Stream, end: (reason: string) => void): FrameReader => {
    const trackOf = (index: number) => places.findIndex((place) => place.stream === of && place.index === index);
    return {
      onFrame(frame) {
        const track = trackOf(frame.track);
        if (track >= 0) sendFrame(track, of, frame);
      },
      onTrack(index, changed: Track) {
        const track = trackOf(index);
        if (track < 0) return;
        packetizers[track]?.setTrack(changed);
        sendTracks();
      },
      onEnd: end,
    };
  };

  sendTracks();
  return new Promise((resolve) => {
    const releases: (() => void)[] = [];
    const leave = () => {
      for (const release of releases.splice(0)) release();
      resolve();
    };
    const end = (reason: string) => {
      to.trySend({ type: "end", reason });
      leave();
    };
    for (const of of new Set(places.map((place) => place.stream))) {
      const remove = of.addFrameReader(readerOf(of, end));
      releases.push(players.of(of), remove);
    }
    isKept = false;
    // Not before: the clock of a looped file runs while it has readers.
    sendClock();
    const timer = setInterval(sendClock, clockMs);
    releases.push(() => clearInterval(timer));
    to.signal.addEventListener("abort", leave);
    if (to.signal.aborted || places.length === 0) leave();
  });
}
